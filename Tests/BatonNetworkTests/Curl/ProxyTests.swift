#if os(Linux)
    import Baton
    import BatonNetworkTesting
    import Foundation
    import Testing

    @testable import BatonNetwork

    @Suite(.timeLimit(.minutes(10))) struct ProxyTests {
        private func transport(_ proxy: String) -> CurlTransport {
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .address(proxy)
            configuration.certificateAuthorities = PythonServer.certificate("authority")
            return CurlTransport(configuration)
        }

        @Test("Requests go through a proxy, and those for https through a tunnel")
        func throughAProxy() async throws {
            let proxy = await TestServer("proxy")
            let secure = await TestServer("tls", PythonServer.certificate("good").path)
            defer {
                proxy.stop()
                secure.stop()
            }
            let transport = transport("127.0.0.1:\(proxy.port)")
            let plain = try await outcome(HTTPData(server.url("/headers")).transport(transport)).get()
            #expect(String(decoding: plain.data, as: UTF8.self).contains("1.1 tests"))
            let page = HTTPData(secure.url("/bytes/10")).transport(transport)
            #expect(try await outcome(page).get().data == TestServer.bytes(10))
        }

        @Test("A proxy that answers slowly, but does answer, does not use up the idle limit")
        func slowTunnels() async throws {
            let faults = try FaultServer()
            defer { faults.stop() }
            let head = "HTTP/1.1 403 Forbidden, as you see\r\n\r\n"
            faults.on("localhost:443", .sendSlowly(head, every: .milliseconds(100)))
            let page = HTTPData("https://localhost/").transport(transport("http://127.0.0.1:\(faults.port)"))
            let error = await failure(page.timeout(.seconds(2)))
            #expect(error?.reason == .proxyRefused(proxy: "http://127.0.0.1:\(faults.port)", status: 403))
        }

        @Test("A proxy that requires a password gets it, and errors name the proxy without it")
        func passwords() async throws {
            let proxy = await TestServer("proxy", "ada:secret")
            let secure = await TestServer("tls", PythonServer.certificate("good").path)
            defer {
                proxy.stop()
                secure.stop()
            }
            let good = transport("http://ada:secret@127.0.0.1:\(proxy.port)")
            #expect(try await outcome(HTTPData(server.url("/bytes/10")).transport(good)).get().status == 200)
            #expect(try await outcome(HTTPData(secure.url("/bytes/10")).transport(good)).get().status == 200)
            let bad = transport("http://ada:wrong@127.0.0.1:\(proxy.port)")
            let error = await failure(HTTPData(secure.url("/bytes/10")).transport(bad))
            #expect(error?.reason == .proxyRefused(proxy: "http://127.0.0.1:\(proxy.port)", status: 407))
            #expect(error?.isTransient == false)
            #expect(error?.description.contains("wrong") == false)
            let plain = await failure(HTTPData(server.url("/bytes/10")).transport(bad))
            #expect(plain?.reason == .proxyRefused(proxy: "http://127.0.0.1:\(proxy.port)", status: 407))
        }

        @Test(
            "The name of a proxy contains nothing that may be a password",
            arguments: [
                ("http://user:12/secret@127.0.0.1:8080", "http://user:12"),
                ("ada:secret@[::1]:3128", "http://[::1]:3128"),
                ("socks5h://ada:secret@localhost/secret?secret#secret", "socks5h://localhost"),
                ("http://ada:se cret@", "‘…’, whose address cannot be read"), ("", ""),
            ])
        func names(_ text: String, _ name: String) {
            #expect(CurlProxy.address(for: URL(string: "http://example.org"), .address(text)) == name)
        }

        @Test("A proxy that refuses a tunnel is named, with its status", arguments: [403, 502, 503])
        func refusals(_ status: Int) async throws {
            let proxy = await TestServer("proxy", "\(status)")
            defer { proxy.stop() }
            let transport = transport("http://127.0.0.1:\(proxy.port)")
            let error = await failure(HTTPData("https://127.0.0.1:1/").transport(transport))
            #expect(error?.reason == .proxyRefused(proxy: "http://127.0.0.1:\(proxy.port)", status: status))
            #expect(error?.isTransient == (status != 403))
        }

        @Test(
            "The wait that a proxy asks for when it refuses a tunnel is honoured by retries",
            arguments: [407, 429, 503], ["7", "Fri, 01 Jan 2027 00:00:07 GMT"])
        func waits(_ status: Int, _ wait: String) async throws {
            let faults = try FaultServer()
            defer { faults.stop() }
            let fields = ["Retry-After: \(wait)", "Date: Fri, 01 Jan 2027 00:00:00 GMT", "Proxy-Authenticate: Basic"]
            faults.on("*", .answer(status, fields, body: "no"))
            let transport = transport("http://127.0.0.1:\(faults.port)")
            let name = "http://127.0.0.1:\(faults.port)"
            for method in ["GET", "POST"] {
                let error = try #require(
                    await failure(HTTPData("https://localhost/").method(method).transport(transport)))
                #expect(error.reason == .proxyRefused(proxy: name, status: status))
                #expect(error.retryAfter == .seconds(7))
                #expect(error.description.contains("come back in 7"))
                let retries = HTTPRetry.idempotent
                #expect(retries.allows(.failed(error)) == (status != 407))
                #expect(!retries.waitingAtMost(.seconds(5)).allows(.failed(error)))
            }
            if status == 407 {
                let plain = await failure(HTTPData("http://localhost/").transport(transport))
                #expect(plain?.retryAfter == .seconds(7))
            }
            // A redirect leads to the tunnel that the proxy refuses.
            faults.on("/", .answer(302, ["Location: https://localhost/"]))
            faults.on("http://localhost/", .answer(302, ["Location: https://localhost/"]))
            let redirected = await failure(HTTPData("http://localhost/").transport(transport))
            #expect(redirected?.reason == .proxyRefused(proxy: name, status: status))
            #expect(redirected?.retryAfter == .seconds(7))
        }

        @Test("A wait that no proxy asked for does not come from an earlier refusal")
        func refusalsWithoutAWait() async throws {
            let faults = try FaultServer()
            defer { faults.stop() }
            faults.on("localhost:443", .answer(503))
            let transport = transport("http://127.0.0.1:\(faults.port)")
            let error = await failure(HTTPData("https://localhost/").transport(transport))
            #expect(error?.retryAfter == nil && error?.isTransient == true)
            #expect(error?.description.contains("come back") == false)
        }

        @Test(
            "An error about an invalid proxy address does not contain its password",
            arguments: [
                "http://ada:sec#ret@127.0.0.1:1", "http://ada:sec#ret@127.0.0.1:808O",
                "http://ada:sec#ret@127.0.0.1:99999",
                "http://ada:sec #ret@127.0.0.1:1", "ftp://ada:sec#ret@127.0.0.1:1",
            ])
        func invalidAddresses(_ address: String) async throws {
            for address in [address, address.replacingOccurrences(of: "#", with: "-")] {
                for scheme in ["http", "https"] {
                    let page = HTTPData("\(scheme)://127.0.0.1:1/").transport(transport(address))
                    let error = try #require(await failure(page))
                    #expect(!"\(error) \(error.reason)".contains("ret"), "\(error)")
                    if address.contains("#") { #expect(error.isTransient == false, "\(address): \(error)") }
                }
            }
        }

        /// libcurl converts such a host only in a locale that has its characters.
        @Test("An error about the host of a proxy does not blame the address of the request")
        func hostsWithOtherCharacters() async throws {
            let page = HTTPData("http://127.0.0.1:1/").transport(transport("http://ada:secret@\u{fc}.invalid:1"))
            let error = try #require(await failure(page))
            guard case .invalidRequest(let text) = error.reason else {
                Issue.record("\(error)")
                return
            }
            #expect(text.contains("the host of the proxy in the configuration") && !"\(error)".contains("secret"))
        }

        @Test("The error of a refused response names the proxy")
        func refusedAnswers() async throws {
            let proxy = await TestServer("proxy")
            defer { proxy.stop() }
            let transport = transport("http://ada:secret@127.0.0.1:\(proxy.port)")
            let name = "http://127.0.0.1:\(proxy.port)"
            let pages = [
                HTTPData(server.url("/status/403")), HTTPData(server.url("/bytes/10")).sizeLimit(5),
                HTTPData(server.url("/bytes/10")).validation(.contentType("image/png")),
            ]
            for page in pages {
                let failure = await failure(page.transport(transport))
                let error = try #require(failure)
                #expect(error.proxy == name, "\(error)")
                #expect(error.description.contains("through the proxy \(name)"))
            }
            let page = try await outcome(HTTPData(server.url("/bytes/10")).transport(transport)).get()
            #expect(page.head.proxy == name)
            let plain = try await outcome(HTTPData(server.url("/bytes/10"))).get()
            #expect(plain.head.proxy == nil)
        }

        @Test("A POST is retried if a proxy has refused the tunnel, because it was not sent")
        func refusedTunnels() async throws {
            let proxy = await TestServer("proxy", "503")
            defer { proxy.stop() }
            let upload = HTTPUpload(Data("x".utf8), to: URL(string: "https://127.0.0.1:1/")!)
                .transport(transport("http://127.0.0.1:\(proxy.port)"))
            let operation = AsyncOperation(upload).retryHTTP(attempts: 3, .immediately)
            _ = await outcome(of: operation)
            #expect(operation.attempts.count == 3)
        }

        @Test("A proxy that ends the connection instead of making a tunnel is named")
        func tunnelsThatEnd() async throws {
            let dying = try RawServer("")
            defer { dying.stop() }
            let error = await failure(HTTPData("https://127.0.0.1:1/").transport(transport("127.0.0.1:\(dying.port)")))
            guard case .proxyNotReached(let proxy, _)? = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(proxy.contains("\(dying.port)"))
        }

        @Test(
            "A tunnel that ends or carries rubbish is an error that names the proxy, and the request was not sent",
            arguments: ["", "HTTP/1.1 200 OK\r\n\r\nrubbish", "SSH-2.0-OpenSSH\r\n", "\u{16}\u{3}\u{1}"])
        func brokenTunnels(_ rubbish: String) async throws {
            let heads = [
                [], ["Content-Length: 5"], ["Transfer-Encoding: chunked"], ["Connection: close"],
            ]
            for fields in heads {
                for end in [FaultStep.close, .closeAfterReading, .reset] {
                    let faults = try FaultServer()
                    defer { faults.stop() }
                    faults.on("*", .answerHead(200, fields), .send(rubbish), end)
                    for method in ["GET", "POST"] {
                        let page = HTTPData("https://host.invalid/").method(method).timeout(.seconds(30))
                        let error = try #require(
                            await failure(page.transport(transport("http://127.0.0.1:\(faults.port)"))))
                        switch error.reason {
                        case .connectionBroken: #expect(HTTPRetry.idempotent.allows(.failed(error)))
                        case .insecureConnection: #expect(!rubbish.isEmpty && !error.isTransient)
                        default: Issue.record("\(fields) \(rubbish): \(error)")
                        }
                        #expect(error.proxy == "http://127.0.0.1:\(faults.port)")
                        #expect(error.description.contains("through the proxy"))
                    }
                }
            }
        }

        @Test("A tunnel that stays silent ends at the idle limit, and the request was not sent")
        func silentTunnels() async throws {
            for steps in [[], [.send("HTTP/1.1 200 OK\r\n")], [.answerHead(200)]] as [[FaultStep]] {
                let faults = try FaultServer()
                defer { faults.stop() }
                faults.on("*") { _ in FaultScript(steps + [.waitForRelease("never")]) }
                let limit = Duration.milliseconds(200)
                let page = HTTPData("https://host.invalid/").method("POST").timeout(limit)
                let error = try #require(
                    await failure(page.transport(transport("http://127.0.0.1:\(faults.port)"))))
                #expect(error.reason == .timedOut(after: limit))
                #expect(error.proxy == "http://127.0.0.1:\(faults.port)")
                #expect(HTTPRetry.idempotent.allows(.failed(error)))
            }
        }

        @Test(
            "A proxy that answers the request for a tunnel with another protocol is named at once",
            arguments: ["SSH-2.0-OpenSSH\r\n", "220 mail.example.org ESMTP\r\n", "HTTP/1.1\r\n\r\n", "\r\n\r\n"])
        func tunnelsOfOtherProtocols(_ text: String) async throws {
            let faults = try FaultServer()
            defer { faults.stop() }
            faults.on("*", .send(text), .waitForRelease("never"))
            let page = HTTPData("https://host.invalid/").timeout(.seconds(30))
            let error = try #require(await failure(page.transport(transport("http://127.0.0.1:\(faults.port)"))))
            guard case .proxyNotReached("http://127.0.0.1:\(faults.port)", _) = error.reason else {
                Issue.record("\(error)")
                return
            }
        }

        @Test("Header fields for the proxy do not reach the server")
        func proxyFields() async throws {
            let proxy = await TestServer("proxy", "ada:secret")
            let secure = await TestServer("tls", PythonServer.certificate("good").path)
            defer {
                proxy.stop()
                secure.stop()
            }
            let credentials = "Basic " + Data("ada:secret".utf8).base64EncodedString()
            let page = HTTPData(secure.url("/headers")).header("Proxy-Authorization", credentials)
                .transport(transport("http://127.0.0.1:\(proxy.port)"))
            let fields = String(decoding: try await outcome(page).get().data, as: UTF8.self)
            #expect(!fields.lowercased().contains("proxy-authorization"))
        }

        @Test("A server behind a SOCKS proxy may ask for the password of a proxy")
        func statusBehindSOCKS() async throws {
            let proxy = await TestServer("socks")
            defer { proxy.stop() }
            let page = HTTPData(server.url("/status/407")).transport(transport("socks5://127.0.0.1:\(proxy.port)"))
            let error = await failure(page)
            guard case .refused(let refusal)? = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(refusal.status == 407)
        }

        @Test("A proxy without an address, or with a null character, is an invalid request", arguments: ["", "\0"])
        func addressesThatLibcurlIgnores(_ proxy: String) async throws {
            let error = await failure(HTTPData(server.url("/bytes/10")).transport(transport(proxy)))
            guard case .invalidRequest(let text)? = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(text.contains("the option proxy"))
        }

        @Test("A proxy that does not listen, or has no address, is named", arguments: ["http", "https"])
        func unreachableProxies(_ scheme: String) async throws {
            for (proxy, host) in [
                ("http://127.0.0.1:1", "127.0.0.1:1"), ("http://[::1]:1", "[::1]:1"),
                ("http://no-proxy.invalid:80", "no-proxy.invalid"),
            ] {
                let page = HTTPData(server.url("/bytes/10", scheme: scheme)).transport(transport(proxy))
                let error = await failure(page)
                guard case .proxyNotReached(let name, _)? = error?.reason else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(name == proxy && name.contains(host))
                #expect(error?.isTransient == true)
            }
        }

        @Test("A proxy that dies is a broken connection")
        func dyingProxies() async throws {
            let dying = try RawServer("")
            defer { dying.stop() }
            let transport = transport("http://127.0.0.1:\(dying.port)")
            let error = await failure(HTTPData("http://example.invalid/").transport(transport))
            #expect(error?.reason == .connectionBroken && error?.proxy == "http://127.0.0.1:\(dying.port)")
            #expect(error?.description.contains("through the proxy http://127.0.0.1:\(dying.port)") == true)
        }

        @Test(
            "Hosts, domains and networks in no_proxy are reached without a proxy",
            arguments: [
                ("example.org", "*", true), ("example.org", "a, example.org", true),
                ("EXAMPLE.org.", "example.ORG", true),
                ("www.example.org", "example.org", true), ("www.example.org", ".example.org", true),
                ("example.org", ".example.org", true), ("notexample.org", "example.org", false),
                ("example.org", "www.example.org", false), ("example.org", ".", false),
                ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.0/24", true),
                ("192.0.3.7", "192.0.2.0/24", false), ("192.0.2.7", "192.0.2.0/33", false),
                ("192.0.2.7", ".0.2.7", false),
                ("10.1.2.3", "10.0.0.0/8", true), ("[2001:db8::1]", "2001:db8::/32", true),
                ("2001:db9::1", "2001:db8::/32", false), ("192.0.2.7", "0.0.0.0/0", true), ("192.0.2.7", "::/0", false),
            ])
        func exceptions(_ host: String, _ list: String, _ expected: Bool) {
            #expect(CurlProxy.isException(host, list) == expected)
        }

        @Test("A server that does not listen is not mistaken for a proxy")
        func noProxy() async {
            let error = await failure(
                HTTPData("http://127.0.0.1:1/").transport(transport("http://127.0.0.1:\(server.port)")))
            #expect(error?.reason != .connectionRefused)
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .none
            let direct = HTTPData("http://127.0.0.1:1/").transport(CurlTransport(configuration))
            #expect(await failure(direct)?.reason == .connectionRefused)
        }

        @Test("The environment names a proxy, and the hosts that do not use it")
        func theEnvironment() async {
            await #expect(processExitsWith: .success) {
                setenv("http_proxy", "http://127.0.0.1:1", 1)
                let error = await failure(HTTPData(server.url("/bytes/10")))
                guard case .proxyNotReached("http://127.0.0.1:1", _)? = error?.reason else {
                    preconditionFailure("\(String(describing: error))")
                }
                setenv("no_proxy", "127.0.0.1", 1)
                let status = try await outcome(HTTPData(server.url("/bytes/10"))).get().status
                precondition(status == 200)
                // This request does not go through the proxy.
                let other = await failure(HTTPData("http://127.0.0.1:1/"))
                precondition(other?.reason == .connectionRefused && other?.proxy == nil, "\(String(describing: other))")
            }
        }
    }
#endif
