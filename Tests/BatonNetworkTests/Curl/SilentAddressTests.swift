#if os(Linux)
    import Baton
    import BatonNetwork
    import Foundation
    import Testing

    /// Hosts with addresses that do not answer at all, which take longer than those that refuse a connection.
    @Suite(.timeLimit(.minutes(10))) struct SilentAddressTests {
        private func transport(_ addresses: [String], port: String) -> CurlTransport {
            var configuration = CurlTransport.Configuration()
            configuration.resolved = ["silent.test:\(port):\(addresses.joined(separator: ","))"]
            return CurlTransport(configuration)
        }

        @Test("The tenth address is reached within the idle limit, although the first nine are silent")
        func nineSilentAddresses() async throws {
            let server = await TestServer()
            defer { server.stop() }
            let silent = SilentAddresses(port: UInt16(server.port)!, count: 9)
            let transport = transport(silent.texts + ["127.0.0.1"], port: server.port)
            let page = HTTPData(server.url("/bytes/10", host: "silent.test")).transport(transport)
            #expect(try await outcome(page.timeout(.seconds(12))).get().data.count == 10)
            withExtendedLifetime(silent) {}
        }

        @Test("A host whose addresses are all silent fails at the idle limit, and nothing has been sent")
        func onlySilentAddresses() async {
            let server = await TestServer()
            defer { server.stop() }
            let silent = SilentAddresses(port: UInt16(server.port)!, count: 2)
            let transport = transport(silent.texts, port: server.port)
            let page = HTTPData(server.url("/bytes/10", host: "silent.test")).transport(transport)
            let limit = Duration.seconds(1)
            let began = ContinuousClock.now
            let error = await failure(page.timeout(limit))
            #expect(error?.reason == .timedOut(after: limit))
            // libcurl counts whole milliseconds.
            #expect(ContinuousClock.now - began > limit - .milliseconds(50))
            // A POST may be retried only if no server can have received it.
            let post = HTTPUpload(Data("x".utf8), to: server.url("/upload", host: "silent.test"))
            let upload = AsyncOperation(post.transport(transport).timeout(.milliseconds(100)))
            upload.retryHTTP(attempts: 2, .constant(.zero))
            _ = await outcome(of: upload)
            #expect(upload.attempts.count == 2)
            withExtendedLifetime(silent) {}
        }
    }
#endif
