#if os(Linux)
    import Baton
    import BatonNetwork
    import Foundation
    import Testing

    @Suite(.timeLimit(.minutes(10))) struct SecureConnectionTests {
        private static func transport(
            _ change: (inout CurlTransport.Configuration) -> Void = { _ in }
        ) -> CurlTransport {
            var configuration = CurlTransport.Configuration()
            configuration.certificateAuthorities = PythonServer.certificate("authority")
            change(&configuration)
            return CurlTransport(configuration)
        }

        private func server(_ certificate: String) async -> TestServer {
            await TestServer("tls", PythonServer.certificate(certificate).path)
        }

        @Test("A certificate of a trusted authority is accepted, for names and addresses")
        func aGoodCertificate() async throws {
            let server = await server("good")
            defer { server.stop() }
            for host in ["localhost", "127.0.0.1"] {
                let page = HTTPData(server.url("/bytes/10", host: host)).transport(Self.transport())
                #expect(try await outcome(page).get().data == TestServer.bytes(10))
            }
            let upload = HTTPUpload(Data("hello".utf8), to: server.url("/upload")).transport(Self.transport())
            #expect(try await outcome(upload).get().status == 200)
        }

        @Test(
            "A bad certificate is an error that says why",
            arguments: [
                ("expired", "expired"), ("self-signed", "self-signed"),
                ("other-host", "no alternative certificate subject name"),
            ])
        func badCertificates(_ certificate: String, _ why: String) async {
            let server = await server(certificate)
            defer { server.stop() }
            let error = await failure(HTTPData(server.url("/bytes/10")).transport(Self.transport()))
            guard case .insecureConnection(let text)? = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(text.contains(why), "\(text)")
            #expect(error?.isTransient == false)
        }

        @Test("A certificate of an untrusted authority is an error")
        func anUnknownAuthority() async {
            let server = await server("good")
            defer { server.stop() }
            let error = await failure(HTTPData(server.url("/bytes/10")).transport(CurlTransport()))
            guard case .insecureConnection? = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
        }

        @Test("A missing file of authorities is an error")
        func aMissingAuthority() async {
            let server = await server("good")
            defer { server.stop() }
            let transport = Self.transport { $0.certificateAuthorities = URL(fileURLWithPath: "/nowhere.pem") }
            let error = await failure(HTTPData(server.url("/bytes/10")).transport(transport))
            let problem =
                "the option certificateAuthorities of the transport, ‘/nowhere.pem’, does not exist. Name a file in "
                + "PEM format"
            #expect(error?.reason == .invalidRequest(problem))
        }

        @Test("A file that might be read without end in place of a certificate is refused at once")
        func filesThatAreNone() async throws {
            let server = await server("good")
            defer { server.stop() }
            let folder = try TestFolder()
            try #require(mkfifo(folder.file("pipe").path, 0o600) == 0)
            let good = PythonServer.certificate("client")
            try Data().write(to: folder.file("empty"))
            try Data().write(to: folder.file("long"))
            try #require(truncate(folder.file("long").path, (64 << 20) + 1) == 0)
            // The system produces the content of the last one while it is read, so reading waits for it.
            let paths = [
                (folder.file("pipe"), "pipe"), (folder.url, "folder"), (URL(fileURLWithPath: "/dev/zero"), "device"),
                (folder.file("empty"), "empty"), (folder.file("long"), "64 MB"),
                (URL(fileURLWithPath: "/proc/kmsg"), "empty"),
            ]
            for (file, kind) in paths {
                let changes: [(String, (inout CurlTransport.Configuration) -> Void)] = [
                    ("certificateAuthorities", { $0.certificateAuthorities = file }),
                    ("clientCertificate.certificate", { $0.clientCertificate = .init(certificate: file) }),
                    ("clientCertificate.key", { $0.clientCertificate = .init(certificate: good, key: file) }),
                ]
                for (option, change) in changes {
                    let page = HTTPData(server.url("/bytes/10")).transport(Self.transport(change))
                    let error = await failure(page)
                    guard case .invalidRequest(let text)? = error?.reason else {
                        Issue.record("\(String(describing: error))")
                        continue
                    }
                    #expect(text.contains(option) && text.contains("‘\(file.path)’") && text.contains(kind), "\(text)")
                    #expect(error?.isTransient == false)
                }
            }
            let transport = Self.transport { $0.certificateAuthorities = URL(string: "https://example.org/ca.pem") }
            let error = await failure(HTTPData(server.url("/bytes/10")).transport(transport))
            guard case .invalidRequest(let text)? = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(text.contains("‘https://example.org/ca.pem’"))
        }

        @Test("A server that requires a certificate gets the one from the configuration")
        func clientCertificates() async throws {
            let server = await TestServer(
                "tls", PythonServer.certificate("good").path, PythonServer.certificate("authority").path)
            defer { server.stop() }
            let with = Self.transport {
                $0.clientCertificate = .init(certificate: PythonServer.certificate("client"))
            }
            #expect(try await outcome(HTTPData(server.url("/bytes/10")).transport(with)).get().status == 200)
            let error = try #require(await failure(HTTPData(server.url("/bytes/10")).transport(Self.transport())))
            guard case .insecureConnection = error.reason else {
                Issue.record("\(error)")
                return
            }
            #expect(!error.isTransient)
        }

        /// OpenSSL would ask for the password at the terminal.
        @Test("A key with a password that the configuration does not have is an error at once")
        func lockedKeys() async throws {
            let server = await TestServer(
                "tls", PythonServer.certificate("good").path, PythonServer.certificate("authority").path)
            defer { server.stop() }
            let page = HTTPData(server.url("/bytes/10"))
            let own = { (password: String?) in
                Self.transport {
                    $0.clientCertificate = .init(
                        certificate: PythonServer.certificate("client"), key: PythonServer.certificate("locked"),
                        password: password)
                }
            }
            #expect(try await outcome(page.transport(own("sesame"))).get().status == 200)
            for password in [nil, "", "wrong"] {
                let error = try #require(await failure(page.transport(own(password))))
                guard case .insecureConnection(let text) = error.reason else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(text.contains("locked.pem"), "\(text)")
            }
        }

        @Test("A head that arrives slowly is read")
        func slowHeads() async throws {
            let server = await TestServer("tls", PythonServer.certificate("good").path)
            defer { server.stop() }
            let reply = Data("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".utf8).base64EncodedString()
            let url = server.url("/raw", ["reply": reply, "slow": "100"])
            let page = HTTPData(url).timeout(.seconds(3)).transport(Self.transport())
            #expect(try await outcome(page).get().data == Data("hi".utf8))
        }

        @Test("Bytes that a server sends after a response are not the next response")
        func bytesAfterAResponse() async throws {
            let server = await server("good")
            defer { server.stop() }
            let (right, wrong) = ("Content-Length: 2\r\n\r\nhi", "Content-Length: 5\r\n\r\nwrong")
            let reply = Data("HTTP/1.1 200 OK\r\n\(right)HTTP/1.1 200 OK\r\n\(wrong)".utf8).base64EncodedString()
            let transport = Self.transport()
            let first = HTTPData(server.url("/raw", ["reply": reply, "hold": "1", "key": "after"])).transport(transport)
            #expect(try await outcome(first).get().data == Data("hi".utf8))
            let second = try await outcome(HTTPData(server.url("/bytes/10")).transport(transport)).get()
            #expect(second.data.count == 10)
        }

        @Test("A server that dies while keys are exchanged is a broken connection")
        func aDyingServer() async throws {
            let dying = try RawServer("")
            defer { dying.stop() }
            let url = "https://127.0.0.1:\(dying.port)/"
            #expect(await failure(HTTPData(url).transport(Self.transport()))?.reason == .connectionBroken)
        }

        @Test("A port that speaks plain HTTP fails as a secure connection")
        func plainPorts() async throws {
            let error = await failure(HTTPData(BatonNetworkTests.server.url("/bytes/10", scheme: "https")))
            guard case .insecureConnection? = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }
#endif
