#if os(Linux)
    import Baton
    import BatonNetwork
    import BatonNetworkTesting
    import BatonTesting
    import Foundation
    import FoundationNetworking
    import Testing

    /// Regression tests for faults that experiments have found, each with the similar cases.
    @Suite(.timeLimit(.minutes(10))) struct CurlFaultTests {
        private func withFaults(_ body: (FaultServer) async throws -> Void) async throws {
            let faults = try FaultServer()
            defer { faults.stop() }
            try await body(faults)
        }

        @Test("A transport that is released while responses are read leaves no thread and no descriptor behind")
        func droppedTransports() async {
            await #expect(processExitsWith: .success) {
                func use() async throws {
                    let transport = CurlTransport()
                    let request = URLRequest(url: server.url("/bytes/100000000"))
                    _ = try await transport.send(request, body: nil) { _ in }
                    let page = HTTPData(server.url("/bytes/1000000")).sizeLimit(10).transport(transport)
                    _ = await failure(page)
                }
                try await use()
                _ = try await server.log("settled")
                let before = Resources.now
                for _ in 0..<30 { try await use() }
                try await Resources.waitUntil {
                    $0.descriptors <= before.descriptors && $0.threads <= before.threads
                }
            }
        }

        @Test("A reader that always finds bytes can be cancelled", arguments: Transports.all)
        func slowReaders(_ transport: any HTTPTransport) async throws {
            let read = EventLog<Int>()
            let go = Gate()
            let task = Task {
                let request = URLRequest(url: server.url("/bytes/100000000"))
                let answer = try await transport.send(request, body: nil) { _ in }
                for try await piece in answer.body {
                    read.append(piece.count)
                    await go.wait()
                }
            }
            _ = await read.waitForCount(1)
            task.cancel()
            go.open()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(read.count == 1)
        }

        @Test("Trailers that never end are an error")
        func endlessTrailers() async throws {
            try await withFaults { (faults: FaultServer) async throws -> Void in
                let line = "X-Trailer: \(String(repeating: "x", count: 1000))\r\n"
                faults.on(
                    "/", .answerHead(200, ["Transfer-Encoding: chunked"]), .send("2\r\nhi\r\n0\r\n"),
                    .sendRepeatedly(line, count: 1_000_000))
                let error = await failure(HTTPData(faults.url("/")))
                guard case .invalidAnswer? = error?.reason else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
        }

        @Test("The error of content that cannot be unpacked is the same with a length and in chunks")
        func damagedContent() async throws {
            // A gzip stream with bytes after its end, bytes that are no brotli stream, and 200 MB of zeros.
            let text = "H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAEpVTks="
            let zeros =
                "z///fwAkAOKxQHLv//n//w+ABEAcFoDu/T////8BkACIwwLQvf/n//8/ABIAcVgAuvf//P//B0ACIA4LQPf+n////w"
                + "BIAMRhAeje//P//x8ACYA4LADd+3/+//8DIAEQhwWge//P//9/ACQA4rAAdO//+f//D4AEQBwWgO79P////wGQAIjD"
                + "AtC9/+f//z8AEgBxWAC69//5//8HQAIgDgtA9/4P"
            let contents = [
                ("gzip", Data(base64Encoded: text), "cannot unpack"),
                ("br", Data(repeating: 0xff, count: 50), "cannot unpack"),
                ("br", Data(base64Encoded: zeros), "far more than was sent"),
            ]
            try await withFaults { (faults: FaultServer) async throws -> Void in
                for (encoding, content, words) in contents {
                    let content = try #require(content)
                    let field = "Content-Encoding: \(encoding)"
                    let size = String(content.count, radix: 16)
                    faults.on(
                        "/length", .answerHead(200, [field, "Content-Length: \(content.count)"]), .send(content))
                    faults.on(
                        "/chunks", .answerHead(200, [field, "Transfer-Encoding: chunked"]), .send("\(size)\r\n"),
                        .send(content), .send("\r\n0\r\n\r\n"))
                    let error = await failure(HTTPData(faults.url("/length")))
                    guard case .invalidAnswer(let text)? = error?.reason else {
                        Issue.record("\(encoding): \(String(describing: error))")
                        continue
                    }
                    #expect(text.hasPrefix("its content") && text.contains(words))
                    #expect(await failure(HTTPData(faults.url("/chunks")))?.reason == error?.reason)
                }
            }
        }

        @Test("A request that was sent does not count as refused, although the server no longer listens")
        func restarts() async throws {
            for method in ["POST", "GET"] {
                let dying = await TestServer()
                defer { dying.stop() }
                let transport = CurlTransport()
                _ = try await outcome(HTTPData(dying.url("/bytes/10")).transport(transport)).get()
                let error = await failure(HTTPData(dying.url("/die")).method(method).transport(transport))
                #expect(error?.reason == .connectionBroken)
                if let error { #expect(HTTPRetry.idempotent.allows(.failed(error)) == (method == "GET")) }
            }
        }

        @Test("Connections are reused, however many are used at a time")
        func manyConnections() async throws {
            let key = freshKey()
            let transport = CurlTransport()
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 200)
            let url = server.url("/bytes/10", ["key": key])
            let pages = (0..<1000).map { _ in AsyncOperation(HTTPData(url).transport(transport)) }
            queue.add(pages)
            for page in pages { #expect(try await page.value.status == 200) }
            // The transport keeps a hundred idle connections. Before a fault was fixed, four of five requests opened a
            // connection of their own.
            let count = Set(try await server.log(key).map(\.connection)).count
            #expect(count < 500, "\(count)")
        }

        @Test(
            "A status that no response can have is named",
            arguments: ["099 X", "99 X", "000 X", "-12 X", "1000 X", "2000", "100000 X"])
        func invalidStatuses(_ status: String) async throws {
            let raw = try RawServer("HTTP/1.1 \(status)\r\nContent-Length: 2\r\n\r\nok")
            defer { raw.stop() }
            let error = await failure(HTTPData(raw.url))
            #expect(error?.reason == .invalidAnswer("its status is not a number from 100 to 999"))
            // The port does speak HTTP.
            #expect(error?.description.contains("wants https") == false)
        }

        @Test("The rest of a discarded response is read, so that its connection can be reused")
        func leftAnswers() async throws {
            try await withFaults { (faults: FaultServer) async throws -> Void in
                let end = FaultStep.send("0\r\n\r\n")
                let text = String(repeating: "x", count: 2000)
                faults.on(
                    "/redirect", .answerHead(302, ["Location: /end", "Transfer-Encoding: chunked"]),
                    .send("5\r\nhello\r\n"), .pause(.milliseconds(5)), end)
                faults.on(
                    "/refused", .answerHead(404, ["Transfer-Encoding: chunked"]), .send("7d0\r\n\(text)\r\n"),
                    .pause(.milliseconds(5)), end)
                faults.on("/end", .answer())
                let transport = CurlTransport()
                for _ in 1...3 {
                    let redirected = HTTPData(faults.url("/redirect")).transport(transport)
                    #expect(try await outcome(redirected).get().status == 200)
                    let error = await failure(HTTPData(faults.url("/refused")).transport(transport))
                    guard case .refused(let refusal)? = error?.reason else {
                        Issue.record("\(String(describing: error))")
                        continue
                    }
                    #expect(refusal.excerpt.count == 1024)
                }
                #expect(faults.connectionCount == 1)
            }
        }

        @Test("An error that does not invalidate the received bytes keeps the partial file")
        func partsOfDownloads() async throws {
            let folder = try TestFolder()
            let url = server.url(
                "/bytes/2000000",
                ["key": freshKey(), "ranges": "1", "short": "700000", "faults": "1", "etag": "tag"])
            let download = HTTPDownload(url, to: folder.file("file"))
            #expect(await failure(download)?.reason == .bodyTooShort(received: 700_000, promised: 2_000_000))
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .address("ftp://none")
            #expect(await failure(download.transport(CurlTransport(configuration)))?.isTransient == false)
            #expect(try await outcome(download).get().resumedFrom == 700_000)
            guard case .invalidRequest? = await failure(download.method("HEAD"))?.reason else {
                Issue.record("it was sent")
                return
            }
        }

        @Test("A redirect passes user and password to the same origin only")
        func usersOfRedirects() async throws {
            for host in ["127.0.0.1", "localhost"] {
                let target = server.url("/headers", host: host).absoluteString
                let url = server.url("/redirect", ["to": target]).absoluteString
                let page = HTTPData("http://ada:secret@" + url.dropFirst("http://".count))
                let fields = String(decoding: try await outcome(page).get().data, as: UTF8.self)
                #expect(fields.contains("Authorization") == (host == "127.0.0.1"), "\(fields)")
            }
        }

        @Test("A user agent cannot add header fields to a request")
        func userAgents() async throws {
            var configuration = CurlTransport.Configuration()
            configuration.userAgent = "a\r\nX-Inject: y"
            let error = await failure(HTTPData(server.url("/headers")).transport(CurlTransport(configuration)))
            guard case .invalidRequest? = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
        }

        @Test("A symbolic link to the cookie file stays a link")
        func linkedCookies() async throws {
            let folder = try TestFolder()
            try FileManager.default.createSymbolicLink(at: folder.file("link"), withDestinationURL: folder.file("jar"))
            try Data().write(to: folder.file("jar"))
            try await withFaults { (faults: FaultServer) async throws -> Void in
                faults.on("/", .answer(200, ["Set-Cookie: a=1; Max-Age=1000"]))
                var configuration = CurlTransport.Configuration()
                configuration.cookies = .file(folder.file("link"))
                _ = try await outcome(HTTPData(faults.url("/")).transport(CurlTransport(configuration))).get()
            }
            let link = folder.file("link").path
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == folder.file("jar").path)
            #expect(String(decoding: folder.content("jar") ?? Data(), as: UTF8.self).contains("a\t1"))
        }

        @Test("A body longer than promised is an error, also if the extra bytes come later")
        func lateBytes() async throws {
            let stream = HTTPBodyStream(length: 5) {
                AsyncStream { continuation in
                    continuation.yield(Data("hello".utf8))
                    continuation.yield(Data("world".utf8))
                    continuation.finish()
                }
            }
            guard case .invalidRequest? = await failure(HTTPUpload(stream, to: server.url("/upload")))?.reason else {
                Issue.record("it was sent")
                return
            }
        }

        @Test("A cookie file that is a link in a linked folder is the file that the system finds")
        func cookiesInLinkedFolders() async throws {
            let folder = try TestFolder()
            let files = FileManager.default
            try files.createDirectory(at: folder.file("releases/7"), withIntermediateDirectories: true)
            try files.createSymbolicLink(atPath: folder.file("current").path, withDestinationPath: "releases/7")
            try files.createSymbolicLink(atPath: folder.file("releases/7/jar").path, withDestinationPath: "../jar")
            try files.createSymbolicLink(atPath: folder.file("loop").path, withDestinationPath: "loop")
            try await withFaults { (faults: FaultServer) async throws -> Void in
                faults.on("/", .answer(200, ["Set-Cookie: a=1; Max-Age=1000"]))
                for name in ["current/jar", "loop"] {
                    var configuration = CurlTransport.Configuration()
                    configuration.cookies = .file(folder.file(name))
                    _ = try await outcome(HTTPData(faults.url("/")).transport(CurlTransport(configuration))).get()
                }
            }
            #expect(folder.names == ["current", "loop", "releases"])
            #expect(String(decoding: folder.content("releases/jar") ?? Data(), as: UTF8.self).contains("a\t1"))
            #expect(try files.destinationOfSymbolicLink(atPath: folder.file("loop").path) == "loop")
        }

        @Test("The proxy of the configuration takes precedence over the environment")
        func proxies() async {
            await #expect(processExitsWith: .success) {
                setenv("no_proxy", "127.0.0.1", 1)
                var configuration = CurlTransport.Configuration()
                configuration.proxy = .address("http://127.0.0.1:1")
                let page = HTTPData(server.url("/bytes/10")).transport(CurlTransport(configuration))
                let reason = await failure(page)?.reason
                guard case .proxyNotReached? = reason else { preconditionFailure("\(String(describing: reason))") }
            }
        }

        @Test("An http URL is not treated as a file, also in a form")
        func addressesAreNoFiles() async throws {
            let folder = try TestFolder()
            try Data("secret".utf8).write(to: folder.file("file"))
            let address = try #require(URL(string: "https://example.org" + folder.file("file").path))
            let key = freshKey()
            let url = server.url("/upload", ["key": key])
            for upload in [HTTPUpload(file: address, to: url), HTTPUpload(MultipartForm().file("f", address), to: url)]
            {
                guard case .invalidRequest? = await failure(upload)?.reason else {
                    Issue.record("it was sent")
                    return
                }
            }
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            do {
                _ = try await CurlTransport.shared.send(request, body: .file(address)) { _ in }
                Issue.record("it was sent")
            } catch {
                #expect(error is HTTPError)
            }
            #expect(try await server.log(key).isEmpty)
        }

        @Test("A request that a redirect turns into a GET has no header fields for a body")
        func noFramingWithoutABody() async throws {
            let key = freshKey()
            let target = server.url("/bytes/10", ["key": key]).absoluteString
            let upload = HTTPUpload(Data("x".utf8), to: server.url("/redirect", ["to": target, "code": "303"]))
                .header("Transfer-Encoding", "chunked").header("Expect", "100-continue")
            #expect(try await outcome(upload).get().data.count == 10)
            let entry = try #require(try await server.log(key).first)
            #expect(entry.headers["Transfer-Encoding"] == nil && entry.headers["Expect"] == nil)
        }

        @Test("No idle connection is kept if the configuration allows none")
        func idleConnections() async throws {
            var configuration = CurlTransport.Configuration()
            configuration.idleConnections = 0
            let transport = CurlTransport(configuration)
            let key = freshKey()
            for _ in 0..<3 {
                _ = try await outcome(HTTPData(server.url("/bytes/1", ["key": key])).transport(transport)).get()
            }
            #expect(Set(try await server.log(key).map(\.connection)).count == 3)
        }

        // MARK: Cookies and long heads

        @Test("Long cookies, cookie fields and long URLs make complete requests", arguments: [3000, 4100, 7000, 9000])
        func longCookies(_ count: Int) async throws {
            try await withFaults { (faults: FaultServer) async throws -> Void in
                let (transport, value) = (CurlTransport(), String(repeating: "v", count: 4000))
                faults.on("/set", .answer(200, ["Set-Cookie: a=\(value); Path=/", "Set-Cookie: b=\(value); Path=/"]))
                faults.on("*", .answer(body: "whole"))
                _ = try await outcome(HTTPData(faults.url("/set")).transport(transport)).get()
                let url = faults.url("/?" + String(repeating: "q", count: count))
                for own in [nil, "c=3"] {
                    let page = HTTPData(url).header("Cookie", own).transport(transport)
                    #expect(try await outcome(page).get().data == Data("whole".utf8))
                    let cookies = faults.requests.last?.values(of: "Cookie").first
                    if let own { #expect(cookies?.contains(own) == true, "A field of the request's own is not lost.") }
                }
            }
        }

        @Test("Cookies from a file are sent with the first request, also with a Cookie field or a long URL")
        func cookiesOfAFile() async throws {
            try await withFaults { (faults: FaultServer) async throws -> Void in
                let folder = try TestFolder()
                var configuration = CurlTransport.Configuration()
                configuration.cookies = .file(folder.file("cookies"))
                faults.on("/set", .answer(200, ["Set-Cookie: a=1; Path=/; Max-Age=1000"]))
                faults.on("*", .answer())
                _ = try await outcome(HTTPData(faults.url("/set")).transport(CurlTransport(configuration))).get()
                for (own, count) in [("b=2", 10), (nil, 7000), (nil, 10)] {
                    let page = HTTPData(faults.url("/?" + String(repeating: "q", count: count)))
                        .header("Cookie", own).transport(CurlTransport(configuration))
                    _ = try await outcome(page).get()
                    let cookies = faults.requests.last?.values(of: "Cookie")
                    #expect(cookies == [own.map { "a=1; " + $0 } ?? "a=1"])
                }
                let long = HTTPData(faults.url("/?" + String(repeating: "q", count: 9000)))
                    .transport(CurlTransport(configuration))
                _ = try await outcome(long).get()
                #expect(faults.requests.last?.values(of: "Cookie") == [])
            }
        }

        @Test("A small cookie is sent with a URL of 7,000 bytes")
        func smallCookies() async throws {
            try await withFaults { (faults: FaultServer) async throws -> Void in
                let transport = CurlTransport()
                faults.on("/set", .answer(200, ["Set-Cookie: a=1; Path=/"]))
                faults.on("*", .answer())
                _ = try await outcome(HTTPData(faults.url("/set")).transport(transport)).get()
                let url = faults.url("/?" + String(repeating: "q", count: 7000))
                _ = try await outcome(HTTPData(url).transport(transport)).get()
                #expect(faults.requests.last?.values(of: "Cookie") == ["a=1"])
            }
        }

        @Test("A head of more than 120 KB is refused before anything is sent, and one of 120 KB arrives")
        func longHeads() async throws {
            try await withFaults { (faults: FaultServer) async throws -> Void in
                faults.on("*", .answer())
                let page = { (count: Int) in
                    HTTPData(faults.url("/")).header("X-Long", String(repeating: "x", count: count)).transport(
                        CurlTransport())
                }
                #expect(try await outcome(page(122_000)).get().status == 200)
                for field in [123_000, 300_000, 9_000_000] {
                    guard case .invalidRequest(let text)? = await failure(page(field))?.reason else {
                        Issue.record("\(field)")
                        continue
                    }
                    #expect(text.contains("122880"), "\(text)")
                }
                let method = HTTPData(faults.url("/")).method(String(repeating: "M", count: 130_000)).transport(
                    CurlTransport())
                guard case .invalidRequest? = await failure(method)?.reason else {
                    Issue.record("a long method")
                    return
                }
                #expect(faults.requests.count == 1)
            }
        }

        /// libcurl adds these fields to the head.
        @Test("The user agent, the user, the password and those of the proxy count towards the longest head")
        func fieldsOfTheTransport() async throws {
            try await withFaults { (faults: FaultServer) async throws -> Void in
                faults.on("*", .answer())
                let (long, short) = (String(repeating: "x", count: 123_000), String(repeating: "x", count: 60_000))
                let address = faults.url("/").absoluteString.dropFirst("http://".count)
                func problem(_ url: String, _ change: (inout CurlTransport.Configuration) -> Void) async -> String? {
                    var configuration = CurlTransport.Configuration()
                    change(&configuration)
                    let page = HTTPData(url).transport(CurlTransport(configuration))
                    guard case .invalidRequest(let text)? = await failure(page)?.reason else { return nil }
                    return text
                }
                let agent = await problem("http://\(address)") { $0.userAgent = long }
                let user = await problem("http://u:\(short)@\(address)") { _ in }
                let proxy = await problem("http://host.invalid/") { $0.proxy = .address("http://u:\(long)@\(address)") }
                for text in [agent, user, proxy] {
                    #expect(text?.contains("122880") == true, "\(text ?? "it was sent")")
                    #expect(text?.contains("xx") == false)
                }
                #expect(faults.requests.isEmpty)
                // A request with its own field is sent without that of the transport.
                var configuration = CurlTransport.Configuration()
                configuration.userAgent = long
                let page = HTTPData("http://\(address)").transport(CurlTransport(configuration))
                #expect(try await outcome(page.header("User-Agent", "short")).get().status == 200)
            }
        }

        @Test(
            "A control character in the user or the password is named without showing them",
            arguments: ["us%00er:secret", "user:sec%7Fret", "%0Auser", "us%1fer:secret"])
        func controlCharactersInCredentials(_ user: String) async throws {
            try await withFaults { (faults: FaultServer) async throws -> Void in
                let address = faults.url("/").absoluteString.dropFirst("http://".count)
                faults.on("/", .answer(302, ["Location: http://\(user)@\(address)next"]))
                for url in ["http://\(user)@\(address)next", faults.url("/").absoluteString] {
                    let error = await failure(HTTPData(url))
                    guard case .invalidRequest(let text)? = error?.reason else {
                        Issue.record("\(String(describing: error))")
                        continue
                    }
                    #expect(text.contains("the user or the password") && text.contains("control character"))
                    #expect(error.map { "\($0)".contains("sec") || "\($0)".contains("us%") } == false)
                }
                #expect(faults.requests.map(\.target) == ["/"])
            }
        }

        // MARK: Bodies that seem empty

        @Test("A stream that promises no bytes but yields some is an error, and an empty stream is sent")
        func emptyStreams() async throws {
            try await withFaults { (faults: FaultServer) async throws -> Void in
                faults.on("*", .answer())
                let upload = { (pieces: [Data]) in
                    HTTPUpload(
                        HTTPBodyStream(length: 0) {
                            AsyncThrowingStream<Data, any Error> { stream in
                                for piece in pieces { stream.yield(piece) }
                                stream.finish()
                            }
                        }, to: faults.url("/"))
                }
                guard case .invalidRequest? = await failure(upload([Data("x".utf8)]))?.reason else {
                    Issue.record("it has succeeded")
                    return
                }
                #expect(try await outcome(upload([])).get().status == 200)
                #expect(faults.requests.map { $0.values(of: "Content-Length") } == [["0"]])
            }
        }

        @Test("A system file that reports no size but has content is an error, and an empty file is sent")
        func filesWithoutASize() async throws {
            try await withFaults { (faults: FaultServer) async throws -> Void in
                faults.on("*", .answer())
                let folder = try TestFolder()
                try Data().write(to: folder.file("empty"))
                let hidden = URL(fileURLWithPath: "/proc/self/status")
                let error = await failure(HTTPUpload(file: hidden, to: faults.url("/")))
                let problem = "‘\(hidden.path)’ reports a size of 0 although it has content. Send a copy of it"
                #expect(error?.reason == .invalidRequest(problem))
                #expect(
                    try await outcome(HTTPUpload(file: folder.file("empty"), to: faults.url("/"))).get().status == 200)
            }
        }
    }
#endif
