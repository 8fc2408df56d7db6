import BatonNetwork
import BatonNetworkTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(2))) struct TransportTests {
    @Test("A transport receives its answer, and its request is recorded", arguments: [FaultServer.Host.ipv4])
    func exchange(_ host: FaultServer.Host) async throws {
        let server = try FaultServer(on: host)
        defer { server.stop() }
        server.on("/page", .answer(200, ["X-A: b"], body: "hello"))
        var request = URLRequest(url: server.url("/page?q=1"))
        request.httpMethod = "POST"
        let bytes = PatternBytes.data(3_000_000)
        let answer = try await URLSessionTransport().send(request, body: .data(bytes)) { _ in }
        var body = Data()
        for try await piece in answer.body { body.append(piece) }
        #expect(answer.head.status == 200)
        #expect(answer.head.headers["X-A"] == "b")
        #expect(body == Data("hello".utf8))
        #expect(server.requests.map(\.target) == ["/page?q=1"])
        #expect(server.requests.first?.body == bytes)
    }
}
