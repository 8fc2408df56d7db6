import Baton
import BatonNetwork
import BatonTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct TransportTests {
    private let transport = URLSessionTransport()

    private func send(_ url: URL) async throws -> HTTPAnswer {
        try await transport.send(URLRequest(url: url), body: nil) { _ in }
    }

    @Test func theHeadIsThereBeforeTheBody() async throws {
        let key = freshKey()
        let answer = try await send(
            server.url("/bytes/100", ["key": key, "hold": "0", "type": "text/plain; charset=x"]))
        #expect(answer.head.status == 200)
        #expect(answer.head.contentLength == 100)
        #expect(answer.head.contentType == "text/plain")
        try await server.release(key)
    }

    /// Other requests go to and fro meanwhile, so that the network has all the time it needs.
    @Test func whatNobodyReadsIsNotKeptInMemory() async throws {
        let answer = try await send(server.url("/bytes/30000000"))
        for _ in 0..<30 { _ = try await server.log("nobody") }
        var longest = 0
        var whole = Data()
        for try await piece in answer.body {
            longest = max(longest, piece.count)
            whole.append(piece)
        }
        #expect(longest < 300_000)
        #expect(whole == TestServer.bytes(30_000_000))
    }

    @Test func aReaderMayWaitForAnotherRequest() async throws {
        let answer = try await send(server.url("/bytes/3000000"))
        var count = 0
        for try await piece in answer.body {
            _ = try await server.log("nobody")
            count += piece.count
        }
        #expect(count == 3_000_000)
    }

    @Test(arguments: ["GET", "HEAD"], ["301", "302", "303", "307", "308"])
    func redirectsAreFollowed(_ method: String, _ code: String) async throws {
        let key = freshKey()
        let target = server.url("/bytes/10", ["key": key])
        var request = URLRequest(url: server.url("/redirect", ["to": target.absoluteString, "code": code]))
        request.httpMethod = method
        let answer = try await transport.send(request, body: nil) { _ in }
        #expect(answer.head.status == 200)
        #expect(answer.head.url?.path == "/bytes/10")
        #expect(try await server.log(key).map { $0.method } == [method])
    }

    @Test func aRedirectToAnotherOriginDoesNotTakeSecretsAlong() async throws {
        let other = TestServer()
        defer { other.stop() }
        for (target, expected) in [(server, "secret" as String?), (other, nil)] {
            for method in ["GET", "PUT"] {
                let key = freshKey()
                let end = target.url("/headers", ["key": key]).absoluteString
                let redirect = HTTPData(server.url("/redirect", ["to": end])).method(method)
                    .header("Authorization", "secret").header("X-Other", "kept")
                _ = try await redirect.execute(in: OperationContext())
                let entry = try #require(try await target.log(key).first)
                #expect(entry.method == method)
                #expect(entry.headers["Authorization"] == expected)
                #expect(entry.headers["X-Other"] == "kept")
            }
        }
    }

    /// On Linux, URLSession takes an address without a host for a path of the same server.
    @Test(arguments: [("ftp://127.0.0.1/x", [302]), ("file:///etc/passwd", [302, 404]), ("nonsense:", [302, 404])])
    func aRedirectOutOfHTTPIsNotFollowed(_ address: String, _ statuses: [Int]) async throws {
        let error = await failure(HTTPData(server.url("/redirect", ["to": address])))
        guard case .refused(let refusal)? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(statuses.contains(refusal.status))
    }

    @Test func aCircleOfRedirectsEnds() async {
        let error = await failure(HTTPData(server.url("/loop")))
        #expect(error?.reason == .tooManyRedirects)
    }
}
