// After Atelier Clockwork, ‘Yet More Operations’
//
// The number of a statement begins the name of its test.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Baton
import BatonNetwork
import BatonTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A query as in Atelier Clockwork's article: a plain struct with URL, session and parser.
private struct CountQuery: ResultParsing {
    let url: URL
    var log = EventLog<String>()
    var transport: any HTTPTransport = .shared

    func parseResult(data: Data?, response: HTTPHead?, error: (any Error)?) throws -> Int {
        log("\(data?.count ?? -1) \(response?.status ?? -1) \(error == nil ? "fine" : "failed")")
        if let error { throw error }
        return data?.count ?? 0
    }
}

/// A query that uses all options.
private struct Order: ResultParsing {
    let url: URL
    var method: String { "PUT" }
    var headers: [String: String] { ["X-Order": "tea"] }
    var body: Data? { Data("two cups".utf8) }
    var timeout = Duration.seconds(60)

    func parseResult(data: Data?, response: HTTPHead?, error: (any Error)?) throws -> String {
        if let error { throw error }
        return String(decoding: data ?? Data(), as: UTF8.self)
    }
}

@Suite(.timeLimit(.minutes(10))) struct DataSession_DataSession {
    private let queue = AsyncOperationQueue()

    @Test func DataSession_1_anOperationIsMadeFromOneQuery() async throws {
        let operation = AsyncOperation(DataSession(CountQuery(url: server.url("/bytes/12"))))
        #expect(try await queue.run(operation) == 12)
    }

    @Test func DataSession_2_aPlainStructSaysAddressSessionAndHowToParse() async throws {
        let stub = StubTransport { request in HTTPAnswer(Data((request.url?.path ?? "").utf8)) }
        let query = CountQuery(url: server.url("/four"), transport: stub)
        #expect(try await queue.run(AsyncOperation(DataSession(query))) == 5)
    }

    @Test func DataSession_3_theResultIsNilBeforeAndThereAfterwards() async throws {
        let (good, bad) = (
            CountQuery(url: server.url("/bytes/3")), CountQuery(url: server.url("/bytes/9", ["short": "1"]))
        )
        let operations = [good, bad].map { AsyncOperation(DataSession($0)) }
        #expect(operations.allSatisfy { $0.result == nil })
        for operation in operations { _ = try? await queue.run(operation) }
        #expect(try operations[0].result?.get() == 3)
        #expect(operations[1].result?.httpError?.reason == .bodyTooShort(received: 1, promised: 9))
    }

    @Test(arguments: [
        ("/bytes/3", "3 200 fine"), ("/status/404", "0 404 fine"), ("/bytes/9?short=1", "-1 -1 failed"),
    ]) func DataSession_4_parsingHappensOnceWhateverHasHappened(_ path: String, _ expected: String) async throws {
        let parts = path.split(separator: "?")
        let url = server.url(String(parts[0]), parts.count > 1 ? ["short": "1"] : [:])
        let query = CountQuery(url: url)
        _ = try? await queue.run(AsyncOperation(DataSession(query)))
        #expect(query.log.events == [expected])
    }

    @Test func DataSession_4_alsoWhenNothingCouldBeSentOrItWasCancelled() async throws {
        let refused = CountQuery(url: URL(fileURLWithPath: "/etc/passwd"))
        _ = try? await queue.run(AsyncOperation(DataSession(refused)))
        #expect(refused.log.events == ["-1 -1 failed"])
        let key = freshKey()
        let silent = CountQuery(url: server.url("/silent", ["key": key]))
        let operation = AsyncOperation(DataSession(silent)).add(to: queue)
        try await server.waitForRequests(key)
        operation.cancel()
        _ = try? await operation.value
        #expect(operation.result?.isCancelled == true)
        #expect(silent.log.events == ["-1 -1 failed"])
        try await server.release(key)
    }

    @Test func DataSession_5_itIsExecutingWhileTheTaskIs() async throws {
        let key = freshKey()
        let operation = AsyncOperation(DataSession(CountQuery(url: server.url("/bytes/3", ["key": key, "hold": "0"]))))
        #expect(operation.state == .created)
        queue.add(operation)
        try await server.waitForRequests(key)
        #expect(operation.state == .executing)
        operation.cancel()
        _ = try? await operation.value
        #expect(operation.state == .finished)
        try await server.release(key)
    }

    @Test func DataSession_6_aFollowUpUsesTheResult() async throws {
        let count = AsyncOperation(DataSession(CountQuery(url: server.url("/bytes/3"))))
        let shown = count.then { "\($0) bytes" }
        #expect(try await queue.run(shown) == "3 bytes")
    }

    @Test func DataSession_7_theQueryHasTheOptionsOfARequest() async throws {
        let key = freshKey()
        let answer = try await queue.run(AsyncOperation(DataSession(Order(url: server.url("/upload", ["key": key])))))
        #expect(answer.contains("\"PUT\"") && answer.contains("\"count\": 8"))
        #expect(try await server.log(key).first?.headers["X-Order"] == "tea")
        let silent = AsyncOperation(
            DataSession(Order(url: server.url("/silent", ["key": key]), timeout: .milliseconds(100))))
        #expect(await outcome(of: silent).httpError?.reason == .timedOut(after: .milliseconds(100)))
        try await server.release(key)
    }

    @Test func DataSession_7_anotherStackMayBeBehindTheProtocol() async throws {
        let broken = StubTransport { _ in throw CancellationError() }
        let query = CountQuery(url: server.url("/bytes/3"), transport: broken)
        _ = try? await queue.run(AsyncOperation(DataSession(query)))
        #expect(query.log.events == ["-1 -1 failed"])
    }
}
