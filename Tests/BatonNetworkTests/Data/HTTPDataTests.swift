import Baton
import BatonNetworkTesting
import BatonTesting
import Foundation
import Testing

@testable import BatonNetwork

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct HTTPDataTests {
    @Test func theWholeBodyIsThere() async throws {
        let operation = AsyncOperation(HTTPData(server.url("/bytes/200000", ["type": "image/png"])))
        let response = try await outcome(of: operation).get()
        #expect(response.data == TestServer.bytes(200_000))
        #expect(response.status == 200)
        #expect(response.headers["content-type"] == "image/png")
        #expect(operation.progress.completedUnitCount == 200_000)
        #expect(operation.progress.totalUnitCount == 200_000)
    }

    /// A query with a header field whose value contains a line break.
    private struct BrokenQuery: ResultParsing {
        let url: URL
        var headers: [String: String] { ["Authorization": "Bearer abc\n"] }

        func parseResult(data: Data?, response: HTTPHead?, error: (any Error)?) throws -> Bool {
            if let error { throw error }
            return true
        }
    }

    @Test("A header field of a query that cannot be sent is an error, and is not omitted")
    func fieldOfAQuery() async throws {
        let operation = AsyncOperation(DataSession(BrokenQuery(url: server.url("/four"))))
        _ = await outcome(of: operation)
        guard case .invalidRequest? = (operation.error?.underlyingError as? HTTPError)?.reason else {
            Issue.record("\(operation): \(String(describing: operation.error))")
            return
        }
    }

    @Test func chunkedBodiesHaveNoTotal() async throws {
        let operation = AsyncOperation(HTTPData(server.url("/bytes/200000", ["chunked": "1"])))
        #expect(try await outcome(of: operation).get().data == TestServer.bytes(200_000))
        #expect(operation.progress.totalUnitCount == nil)
    }

    @Test(arguments: [["chunked": "1"], [:]]) func slowBodiesAreWaitedFor(_ query: [String: String]) async throws {
        let slow = ["piece": "1000", "pause": "5"].merging(query) { $1 }
        let operation = AsyncOperation(HTTPData(server.url("/bytes/20000", slow)))
        let counts = EventLog<Int>()
        let watching = Task {
            for await progress in operation.progressUpdates { counts(progress.completedUnitCount) }
        }
        #expect(try await outcome(of: operation).get().data == TestServer.bytes(20_000))
        await watching.value
        #expect(counts.events == counts.events.sorted())
    }

    @Test func packedBodiesAreUnpacked() async throws {
        let response = try await outcome(HTTPData(server.url("/bytes/200000", ["gzip": "1"]))).get()
        #expect(response.data == TestServer.bytes(200_000))
    }

    @Test func anEmptyBodyAndAHEAD() async throws {
        #expect(try await outcome(HTTPData(server.url("/bytes/0"))).get().data.isEmpty)
        let head = try await outcome(HTTPData(server.url("/bytes/1000")).method("HEAD")).get()
        #expect(head.data.isEmpty)
        #expect(head.headers["Content-Length"] == "1000")
        #expect(try await outcome(HTTPData(server.url("/status/204"))).get().status == 204)
    }

    @Test func headersAndBodyAreSent() async throws {
        let key = freshKey()
        var request = URLRequest(url: server.url("/upload", ["key": key]))
        request.httpMethod = "PUT"
        request.httpBody = Data("hello".utf8)
        let answer = try await outcome(HTTPData(request).header("X-Test", "yes")).get()
        let seen = try JSONDecoder().decode(UploadSeen.self, from: answer.data)
        #expect(seen.count == 5 && seen.method == "PUT")
        #expect(try await server.log(key).first?.headers["x-test"] == "yes")
    }

    @Test func theSameProcedureRunsAnyNumberOfTimes() async throws {
        let procedure = HTTPData(server.url("/bytes/10"))
        for _ in 0..<3 { #expect(try await procedure.execute(in: OperationContext()).data.count == 10) }
    }

    // MARK: Limits

    @Test(arguments: [["chunked": "1"], [:]]) func aBodyBeyondTheLimitIsNotCollected(_ query: [String: String]) async {
        let data = HTTPData(server.url("/bytes/50000000", query)).sizeLimit(1000)
        #expect(await failure(data)?.reason == .bodyTooLarge(limit: 1000))
    }

    @Test("A negative limit counts as 0, however it is set")
    func negativeLimit() {
        var data = HTTPData(server.url("/bytes/1"))
        var upload = HTTPUpload(Data(), to: server.url("/upload"))
        data.sizeLimit = -1
        upload.sizeLimit = -1
        #expect(data.sizeLimit == 0 && upload.sizeLimit == 0)
        #expect(data.sizeLimit(-1).sizeLimit == 0 && upload.sizeLimit(-1).sizeLimit == 0)
    }

    @Test func aBodyOfTheLimitIsNotTooLarge() async throws {
        #expect(try await outcome(HTTPData(server.url("/bytes/1000")).sizeLimit(1000)).get().data.count == 1000)
    }

    /// According to RFC 9110, 8.6, the Content-Length of these responses describes a body that is not sent.
    @Test(arguments: [204, 304]) func theLengthOfAnAnswerWithoutABodyIsNoLimit(_ status: Int) async throws {
        let stub = StubTransport { _ in HTTPAnswer(status: status, headers: ["Content-Length": "100000"]) }
        let page = HTTPData("http://example.org").sizeLimit(1000).validation(.none).transport(stub)
        #expect(try await outcome(page).get().data.isEmpty)
    }

    @Test(arguments: ["/silent", "/bytes/100"]) func nothingForTooLongIsATimeout(_ path: String) async throws {
        let key = freshKey()
        let error = await failure(
            HTTPData(server.url(path, ["key": key, "hold": "50"])).timeout(.milliseconds(150)))
        #expect(error?.reason == .timedOut(after: .milliseconds(150)))
        #expect(error?.isTransient == true)
        try await server.release(key)
    }

    /// Bytes keep arriving, but the response never ends.
    @Test func theDeadlineCountsTheWholeTransfer() async throws {
        let clock = TestClock()
        let key = freshKey()
        let url = server.url("/bytes/1000", ["key": key, "hold": "500"])
        let operation = AsyncOperation(HTTPData(url).deadline(.seconds(10), clock: clock))
        let queue = AsyncOperationQueue()
        queue.add(operation)
        try await server.waitForRequests(key)
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(10))
        _ = try? await operation.value
        #expect(operation.result?.httpError?.reason == .deadlineExceeded(after: .seconds(10)))
        try await server.release(key)
    }

    @Test func aDeadlineThatIsMetLeavesNothingBehind() async throws {
        let clock = TestClock()
        let data = HTTPData(server.url("/bytes/10")).deadline(.seconds(10), clock: clock)
        #expect(try await outcome(data).get().data.count == 10)
        #expect(clock.sleeperCount == 0)
    }

    // MARK: Validation

    @Test func aStatusThatIsNotExpectedIsAnError() async {
        let url = server.url("/status/404", ["body": "no such page"])
        let error = await failure(HTTPData(url))
        #expect(error?.reason == .refused(HTTPError.Refusal(status: 404, excerpt: "no such page")))
        #expect(error?.isTransient == false)
        #expect("\(error as Any)".contains("answered 404: no such page"))
    }

    @Test func theExcerptIsBounded() async {
        let error = await failure(HTTPData(server.url("/status/500", ["body": String(repeating: "x", count: 5000)])))
        guard case .refused(let refusal)? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(refusal.excerpt.count == 1024)
    }

    @Test func otherStatusesMayBeExpected() async throws {
        let data = HTTPData(server.url("/status/404", ["body": "x"]))
        #expect(try await outcome(data.validation(.status(200, 404))).get().status == 404)
        #expect(try await outcome(data.validation(.none)).get().status == 404)
        #expect(await failure(data.validation(.status(500...599)))?.reason != nil)
    }

    @Test(arguments: [
        ("application/json; charset=utf-8", true), ("application/problem", false), ("text/html", true), ("", false),
    ]) func theContentTypeMayBeExpected(_ type: String, _ isFine: Bool) async {
        let data = HTTPData(server.url("/status/200", ["type": type, "body": "x"]))
            .validation(.contentType("application/JSON", "text/*"))
        let error = await failure(data)
        #expect((error == nil) == isFine)
        if !isFine, case .unexpectedContentType? = error?.reason {} else { #expect(isFine) }
    }

    // MARK: Custom transports

    @Test func anotherStackMayBeBehindIt() async throws {
        let stub = StubTransport { request in
            HTTPAnswer(headers: ["X-Path": request.url?.path ?? ""], Data("stub".utf8))
        }
        let response = try await outcome(HTTPData("http://example.org/path").transport(stub)).get()
        #expect(response.data == Data("stub".utf8))
        #expect(response.headers["x-path"] == "/path")
    }

    // MARK: URLs and header fields

    @Test(arguments: [
        ("/a%20b|c", "/a%20b%7Cc"), ("/p?n=My%20File[1].pdf", "/p?n=My%20File%5B1%5D.pdf"),
        ("/é?q=%C3%A9 ü", "/%C3%A9?q=%C3%A9%20%C3%BC"), ("/x%2", "/x%252"), ("/a:b@c", "/a:b@c"),
    ]) func anAddressIsEscapedOnce(_ text: String, _ target: String) async throws {
        let faults = try FaultServer()
        defer { faults.stop() }
        faults.on(String(target.prefix { $0 != "?" }), .answer(200))
        _ = try await outcome(HTTPData("http://127.0.0.1:\(faults.port)\(text)")).get()
        #expect(faults.requests.map(\.target) == [target])
    }

    @Test(arguments: [
        ("http://bücher.invalid/%41b c", "bücher.invalid"), ("http://u%20ser:p|w@[::1]:8080/", "::1"),
        ("HTTP://Example.ORG", "Example.ORG"),
    ]) func hostsAreLeftToFoundation(_ text: String, _ host: String) throws {
        let url = try #require(URL(address: text))
        #expect(url.isHTTP && !url.absoluteString.contains("%25"))
        #expect(url.host == host || url.host == URL(string: "http://\(host)/")?.host)
    }

    @Test(arguments: [
        "ftp://user:secret@127.0.0.1/?token=secret", "http://user:sec#ret-secret@127.0.0.1/",
        "http://user:secret@h:99999999/#secret", "http://user:secret@[::1/x?a=secret", "user:secret@h",
    ]) func anAddressThatIsNoneKeepsItsSecrets(_ text: String) async throws {
        let error = try #require(await failure(HTTPData(text)))
        guard case .invalidURL(let shown) = error.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(!"\(error)".contains("secret") && !shown.isEmpty, "\(shown)")
    }

    /// Foundation would omit such a field, and a request would be sent without a restriction that the caller intended.
    @Test(arguments: [("X-Key", "a\nb"), ("X-Key", "a\r\nX-Other: b"), ("X-Key", "a\u{0}"), ("X Key", "a"), ("", "a")])
    func aFieldThatCannotBeSentIsAnError(_ name: String, _ value: String) async throws {
        let page = HTTPData(server.url("/headers")).header(name, value)
        guard case .invalidRequest(let problem)? = await failure(page)?.reason else {
            Issue.record("it was sent")
            return
        }
        #expect(name.isEmpty || problem.contains(name))
        #expect(try await outcome(page.header(name.lowercased(), nil)).get().status == 200)
    }
}

/// The response of `/upload`.
struct UploadSeen: Decodable {
    let framing: String
    let method: String
    let count: Int
    let sha256: String
}
