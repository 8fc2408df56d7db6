#if os(Linux)
    import Baton
    import BatonNetworkTesting
    import Foundation
    import Testing

    @testable import BatonNetwork

    /// SOCKS 5 proxies (RFC 1928): with and without a password, and those that refuse, die or say nothing.
    @Suite(.timeLimit(.minutes(10))) struct SOCKSProxyTests {
        private func transport(_ proxy: String) -> CurlTransport {
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .address(proxy)
            configuration.certificateAuthorities = PythonServer.certificate("authority")
            return CurlTransport(configuration)
        }

        /// Returns the errors of a GET and of a POST to an http and to an https host, through a proxy that sends bytes
        /// before it reads any.
        ///
        /// libcurl reads each answer of a SOCKS proxy exactly, so the proxy may send all of them at once.
        private func errors(
            _ bytes: [UInt8], then end: FaultStep, user: String = "", timeout: Duration = .seconds(60)
        ) async throws -> (name: String, [HTTPError]) {
            let proxy = try FaultServer(greeting: [.send(Data(bytes)), end])
            defer { proxy.stop() }
            let transport = transport("socks5h://\(user)127.0.0.1:\(proxy.port)")
            var errors: [HTTPError] = []
            for scheme in ["http", "https"] {
                for method in ["GET", "POST"] {
                    let page = HTTPData("\(scheme)://host.invalid/").method(method).transport(transport)
                    errors.append(try #require(await failure(page.timeout(timeout)), "\(bytes)"))
                }
            }
            return ("socks5h://127.0.0.1:\(proxy.port)", errors)
        }

        @Test("Requests go through a proxy, with and without a password", arguments: ["", "ada:se/cret"])
        func throughAProxy(_ password: String) async throws {
            let proxy = await TestServer("socks", password)
            let secure = await TestServer("tls", PythonServer.certificate("good").path)
            defer {
                proxy.stop()
                secure.stop()
            }
            let user = password.isEmpty ? "" : password.replacingOccurrences(of: "/", with: "%2F") + "@"
            for scheme in ["socks5", "socks5h"] {
                let transport = transport("\(scheme)://\(user)127.0.0.1:\(proxy.port)")
                for host in [server, secure] {
                    let page = HTTPData(host.url("/bytes/10")).transport(transport)
                    #expect(try await outcome(page).get().data == TestServer.bytes(10))
                    let upload = HTTPUpload(Data("hello".utf8), to: host.url("/upload")).transport(transport)
                    #expect(try await outcome(upload).get().status == 200)
                }
            }
        }

        @Test("A wrong or a missing password is a final error that does not contain it", arguments: ["ada:wrong@", ""])
        func passwords(_ user: String) async throws {
            let proxy = await TestServer("socks", "ada:secret")
            defer { proxy.stop() }
            let name = "socks5://127.0.0.1:\(proxy.port)"
            let page = HTTPData(server.url("/bytes/10")).transport(transport("socks5://\(user)127.0.0.1:\(proxy.port)"))
            let error = try #require(await failure(page))
            guard case .proxyDenied(name, _) = error.reason else {
                Issue.record("\(error)")
                return
            }
            #expect(!error.isTransient)
            #expect(error.description.contains("user:password") && !error.description.contains("wrong"), "\(error)")
        }

        @Test(
            "A proxy that will never make the connection is a final error that names it",
            arguments: [
                // No method is acceptable, the password is wrong, and a rule, the command or the address forbids it.
                [5, 0xff], [5, 2, 1, 1], [5, 0, 5, 2, 0, 1, 0, 0, 0, 0, 0, 0], [5, 0, 5, 7, 0, 1, 0, 0, 0, 0, 0, 0],
                [5, 0, 5, 8, 0, 1, 0, 0, 0, 0, 0, 0],
            ] as [[UInt8]])
        func finalRefusals(_ bytes: [UInt8]) async throws {
            for end in [FaultStep.close, .closeAfterReading, .waitForRelease("never")] {
                let (name, errors) = try await errors(bytes, then: end, user: "ada:secret@")
                for error in errors {
                    guard case .proxyDenied(name, _) = error.reason else {
                        // A reset may have destroyed the answer.
                        if case .proxyNotReached(name, _) = error.reason { continue }
                        Issue.record("\(error)")
                        continue
                    }
                    #expect(!error.isTransient && !HTTPRetry.anyMethod.allows(.failed(error)))
                    #expect(!error.description.contains("secret"))
                }
            }
        }

        @Test(
            "A proxy that cannot reach the host at the moment is a transient error, and a POST was not sent",
            arguments: [1, 3, 4, 5, 6, 0x99] as [UInt8])
        func transientRefusals(_ code: UInt8) async throws {
            let bytes = [5, 0, 5, code, 0, 1, 0, 0, 0, 0, 0, 0]
            let (name, errors) = try await errors(bytes, then: .waitForRelease("never"))
            for error in errors {
                guard case .proxyNotReached(name, _) = error.reason else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(error.isTransient && HTTPRetry.idempotent.allows(.failed(error)))
                #expect(!error.description.contains("the proxy \(name) was not reached"), "It was reached: \(error)")
            }
        }

        @Test(
            "A proxy that dies in the middle of its handshake is named, and the request was not sent",
            arguments: [
                [], [5], [5, 0], [5, 0, 5], [5, 0, 5, 0, 0], [5, 0, 5, 0, 0, 1, 0, 0], [5, 0, 5, 0, 0, 3, 200, 0],
                [5, 0, 5, 0, 0, 4, 0],
            ] as [[UInt8]])
        func dyingProxies(_ bytes: [UInt8]) async throws {
            for end in [FaultStep.close, .closeAfterReading, .reset] {
                let (name, errors) = try await errors(bytes, then: end)
                for error in errors {
                    guard case .proxyNotReached(name, _) = error.reason else {
                        Issue.record("\(error)")
                        continue
                    }
                    #expect(error.isTransient && HTTPRetry.idempotent.allows(.failed(error)))
                }
            }
        }

        @Test("A proxy that dies while it checks a password is named", arguments: [[5, 2], [5, 2, 1]] as [[UInt8]])
        func dyingDuringThePassword(_ bytes: [UInt8]) async throws {
            let (name, errors) = try await errors(bytes, then: .closeAfterReading, user: "ada:secret@")
            for error in errors {
                guard case .proxyNotReached(name, _) = error.reason else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(error.isTransient && !error.description.contains("secret"))
            }
        }

        @Test(
            "A proxy that speaks another protocol is named at once",
            arguments: ["HTTP/1.1 400 Bad\r\n\r\n", "SSH-2.0-OpenSSH\r\n"])
        func otherProtocols(_ text: String) async throws {
            for prefix in [[], [5, 0]] as [[UInt8]] {
                let (name, errors) = try await errors(prefix + Array(text.utf8), then: .waitForRelease("never"))
                for error in errors {
                    guard case .proxyNotReached(name, _) = error.reason else {
                        Issue.record("\(error)")
                        continue
                    }
                }
            }
        }

        @Test(
            "A proxy that says nothing more is an idle limit that names it, and the request was not sent",
            arguments: [[], [5], [5, 0], [5, 0, 5, 0, 0]] as [[UInt8]])
        func silentProxies(_ bytes: [UInt8]) async throws {
            let limit = Duration.milliseconds(200)
            let (name, errors) = try await errors(bytes, then: .waitForRelease("never"), timeout: limit)
            for error in errors {
                #expect(error.reason == .timedOut(after: limit) && error.proxy == name)
                #expect(HTTPRetry.idempotent.allows(.failed(error)))
            }
        }

        @Test("A connection that breaks behind the proxy is that of the server")
        func brokenBehindTheProxy() async throws {
            let bytes: [UInt8] = [5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0]
            let (name, errors) = try await errors(bytes, then: .closeAfterReading)
            for error in errors {
                #expect(error.proxy == name || error.reason.names(name), "\(error)")
                #expect(error.isTransient)
            }
            // Only the http requests can have been sent.
            let retried = errors.map { HTTPRetry.idempotent.allows(.failed($0)) }
            #expect(retried == [true, false, true, true])
        }

        @Test("A cancellation in the middle of the handshake ends the request", arguments: [[], [5, 0]] as [[UInt8]])
        func cancellations(_ bytes: [UInt8]) async throws {
            let proxy = try FaultServer(greeting: [.send(Data(bytes)), .waitForRelease("never")])
            defer { proxy.stop() }
            let page = HTTPData("http://host.invalid/").transport(transport("socks5h://127.0.0.1:\(proxy.port)"))
            let operation = AsyncOperation(page).add(to: AsyncOperationQueue())
            try await proxy.waitForConnections(1)
            operation.cancel()
            await #expect(throws: OperationError.self) { try await operation.value }
            #expect(operation.result?.isCancelled == true)
            #expect(try await proxy.waitForEnd(ofConnection: 0) != .closedByServer)
        }
    }

    extension HTTPError.Reason {
        fileprivate func names(_ proxy: String) -> Bool {
            if case .proxyNotReached(proxy, _) = self { true } else { false }
        }
    }
#endif
