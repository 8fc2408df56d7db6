import Baton
import BatonNetwork
import BatonTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct TransportTests {
    private func send(_ url: URL, _ transport: any HTTPTransport) async throws -> HTTPAnswer {
        try await transport.send(URLRequest(url: url), body: nil) { _ in }
    }

    @Test(arguments: Transports.all) func theHeadIsThereBeforeTheBody(_ transport: any HTTPTransport) async throws {
        let key = freshKey()
        let answer = try await send(
            server.url("/bytes/100", ["key": key, "hold": "0", "type": "text/plain; charset=x"]), transport)
        #expect(answer.head.status == 200)
        #expect(answer.head.contentLength == 100)
        #expect(answer.head.contentType == "text/plain")
        try await server.release(key)
    }

    /// Other requests run meanwhile, so that the network has enough time.
    @Test("A body that nobody reads is not kept in memory", arguments: Transports.all)
    func whatNobodyReadsIsNotKeptInMemory(_ transport: any HTTPTransport) async throws {
        let answer = try await send(server.url("/bytes/30000000"), transport)
        for _ in 0..<30 { _ = try await server.log("nobody") }
        var longest = 0
        var whole = Data()
        for try await piece in answer.body {
            longest = max(longest, piece.count)
            whole.append(piece)
        }
        #expect(longest < 400_000)
        #expect(whole == TestServer.bytes(30_000_000))
    }

    @Test(arguments: Transports.all) func aReaderMayWaitForAnotherRequest(_ transport: any HTTPTransport) async throws {
        let answer = try await send(server.url("/bytes/3000000"), transport)
        var count = 0
        for try await piece in answer.body {
            _ = try await server.log("nobody")
            count += piece.count
        }
        #expect(count == 3_000_000)
    }

    @Test("A transport follows no redirect, but returns it as the response", arguments: Transports.all)
    func aRedirectIsTheAnswer(_ transport: any HTTPTransport) async throws {
        let answer = try await send(server.url("/redirect", ["to": "/bytes/10"]), transport)
        #expect(answer.head.status == 302)
        #expect(answer.head.headers["Location"] == "/bytes/10")
    }
}
