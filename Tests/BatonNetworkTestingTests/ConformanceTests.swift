import BatonNetwork
import Foundation
import Testing

@testable import BatonNetworkTesting

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(2))) struct ConformanceTests {
    /// A transport that gives the same answer to every request, without a network.
    private struct Fixed: HTTPTransport {
        let answer: @Sendable () async throws -> HTTPAnswer

        func send(
            _ request: URLRequest, body: HTTPRequestBody?, sent: @escaping @Sendable (Int64) -> Void
        ) async throws -> HTTPAnswer { try await answer() }
    }

    private struct Odd: Error {}

    @Test("Each case has a name of its own and a requirement that is a sentence")
    func names() {
        let cases = HTTPTransportConformance.cases
        #expect(cases.count > 100)
        #expect(Set(cases.map(\.name)).count == cases.count)
        for requirement in cases.map(\.requirement) {
            #expect(requirement.hasSuffix(".") && requirement.first?.isLowercase == false)
        }
    }

    @Test("A transport that always answers 500 passes hardly any case")
    func wrongAnswers() async {
        let transport = Fixed { HTTPAnswer(head: HTTPHead(status: 500, url: nil), body: HTTPBody { nil }) }
        let failures = await HTTPTransportConformance.run(
            on: transport, only: ["length", "gzip", "closed-in-head", "cookies"])
        #expect(failures.map(\.failedCase.name).sorted() == ["closed-in-head", "cookies", "gzip", "length"])
        #expect(failures.first?.description.contains("the status should be 200, but was 500") == true)
    }

    @Test("A transport that answers without sending a request fails")
    func noRequests() async {
        let transport = Fixed { HTTPAnswer(head: HTTPHead(status: 200, url: nil), body: HTTPBody { nil }) }
        let names: Set = [
            "fields", "fields-many", "target-of-100-KB", "fields-in-utf-8", "field-empty-sent", "no-body-fields",
        ]
        let failures = await HTTPTransportConformance.run(on: transport, only: names)
        #expect(failures.map(\.failedCase.name).sorted() == names.sorted())
        #expect(failures.allSatisfy { $0.text.contains("the server received no request") })
    }

    @Test("An error that is not an HTTPError is a failure even where an error is expected")
    func wrongErrors() async {
        let transport = Fixed { throw Odd() }
        let failures = await HTTPTransportConformance.run(
            on: transport, only: ["refused", "closed-at-once", "no-http-ssh"])
        #expect(failures.count == 3)
        #expect(failures.allSatisfy { $0.text.contains("an error that is not an HTTPError: Odd()") })
    }

    @Test(
        "A transport that fails every request passes no case about closed connections",
        arguments: ["post-on-closing", "get-on-closing", "put-on-closing"])
    func noAnswers(name: String) async {
        let transport = Fixed {
            throw HTTPError(.connectionBroken, URLRequest(url: URL(string: "http://localhost/")!))
        }
        let failures = await HTTPTransportConformance.run(on: transport, only: [name])
        #expect(failures.map(\.text) == ["only 0 of 100 requests were answered"])
    }

    @Test("A case whose transport never returns and ignores a cancellation ends at its limit")
    func stuck() async {
        let stuck = HTTPTransportConformance.Case("stuck", "It ends.", limit: .milliseconds(50)) { trial in
            _ = await trial.get()
        }
        let (stream, continuation) = AsyncStream.makeStream(of: HTTPAnswer.self)
        let transport = Fixed {
            await Task { for await answer in stream { _ = answer } }.value
            throw Odd()
        }
        #expect(await stuck.run(on: transport) == "the case took longer than 0.05 seconds")
        continuation.finish()
    }

    @Test("Work that ends within its limit returns its value or its error")
    func withinTheLimit() async throws {
        #expect(try await within(.seconds(100), "it") { 5 } == 5)
        await #expect(throws: Odd.self) { try await within(.seconds(100), "it") { throw Odd() } }
    }

    #if os(Linux)
        @Test("Time during which Swift's pool runs no task does not count")
        func blockedPool() async {
            await #expect(processExitsWith: .success) {
                for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
                    Task.detached { usleep(2_000_000) }
                }
                let value = try await within(.seconds(1), "it") { 5 }
                precondition(value == 5)
            }
        }
    #endif

    @Test("A cancellation reaches work that runs within a limit")
    func cancelWithin() async {
        let (silence, _) = AsyncStream<Void>.makeStream()
        let task = Task {
            try await within(.seconds(100), "it") {
                for await _ in silence {}
                try Task.checkCancellation()
            }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
