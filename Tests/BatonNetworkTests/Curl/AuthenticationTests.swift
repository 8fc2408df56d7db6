#if os(Linux)
    import Baton
    import BatonNetwork
    import BatonNetworkTesting
    import BatonTesting
    import Foundation
    import Testing

    /// Servers and proxies that ask for credentials, most of them in a way that the transport does not support.
    @Suite(.timeLimit(.minutes(10))) struct AuthenticationTests {
        static let challenges = [
            "Basic realm=\"r\"", "Basic", "Digest realm=\"r\", qop=\"auth\", nonce=\"n\", opaque=\"o\"",
            "Digest realm=\"r\", nonce=\"n\", algorithm=SHA-256, stale=true", "Digest", "NTLM", "Negotiate",
            "Basic realm=\"r\", Digest realm=\"r\", nonce=\"n\"",
        ]

        private func withFaults(_ body: (FaultServer) async throws -> Void) async throws {
            let faults = try FaultServer()
            defer { faults.stop() }
            try await body(faults)
        }

        private func transport(through proxy: String) -> CurlTransport {
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .address(proxy)
            return CurlTransport(configuration)
        }

        /// The bodies of a response: whole, and one that never arrives.
        private static func answers(_ status: Int, _ field: String) -> [[FaultStep]] {
            [
                [.answer(status, [field], body: "no")],
                [.answerHead(status, [field, "Content-Length: 100"]), .waitForRelease("never")],
                [.answerHead(status, [field, "Transfer-Encoding: chunked"]), .waitForRelease("never")],
                [.answerHead(status, [field]), .waitForRelease("never")],
            ]
        }

        @Test("A 401 response is the answer at once, with and without credentials", arguments: challenges)
        func answersOfServers(_ challenge: String) async throws {
            try await withFaults { (faults: FaultServer) async throws -> Void in
                for steps in Self.answers(401, "WWW-Authenticate: \(challenge)") {
                    faults.on("*") { _ in FaultScript(steps) }
                    for user in ["", "ada:secret@"] {
                        let address = "http://\(user)127.0.0.1:\(faults.port)/"
                        let stream = HTTPBodyStream {
                            AsyncStream { stream in
                                stream.yield(Data("hello".utf8))
                                stream.finish()
                            }
                        }
                        let url = try #require(URL(string: address))
                        let before = faults.requests.count
                        // If the body does not arrive, each request waits a second for an excerpt of it.
                        async let page = failure(HTTPData(address).timeout(.seconds(30)))
                        async let data = failure(HTTPUpload(Data(count: 300_000), to: url).timeout(.seconds(30)))
                        async let pieces = failure(HTTPUpload(stream, to: url).timeout(.seconds(30)))
                        let errors = await [page, data, pieces]
                        for error in errors {
                            guard case .refused(let refusal)? = error?.reason else {
                                Issue.record("\(String(describing: error))")
                                continue
                            }
                            #expect(refusal.status == 401)
                        }
                        #expect(faults.requests.count - before == 3, "Each request is sent once.")
                    }
                }
            }
        }

        @Test("A 407 response of a proxy is an error at once, whether its body arrives or not", arguments: challenges)
        func answersOfProxies(_ challenge: String) async throws {
            for user in ["", "ada:secret@"] {
                try await withFaults { (faults: FaultServer) async throws -> Void in
                    let name = "http://127.0.0.1:\(faults.port)"
                    let transport = transport(through: "http://\(user)127.0.0.1:\(faults.port)")
                    for steps in Self.answers(407, "Proxy-Authenticate: \(challenge)") {
                        faults.on("*") { _ in FaultScript(steps) }
                        for scheme in ["http", "https"] {
                            for method in ["GET", "POST"] {
                                let page = HTTPData("\(scheme)://host.invalid/").method(method).timeout(.seconds(30))
                                let error = await failure(page.transport(transport))
                                #expect(error?.reason == .proxyRefused(proxy: name, status: 407), "\(scheme) \(method)")
                            }
                        }
                    }
                    #expect(faults.requests.count == 16, "Each request is sent once.")
                }
            }
        }
    }
#endif
