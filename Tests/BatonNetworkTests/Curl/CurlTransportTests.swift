#if os(Linux)
    import Baton
    import BatonNetwork
    import BatonNetworkTesting
    import BatonTesting
    import Foundation
    import FoundationNetworking
    import Testing

    @Suite(.timeLimit(.minutes(10))) struct CurlTransportTests {
        private let key = freshKey()

        private func transport(_ change: (inout CurlTransport.Configuration) -> Void) -> CurlTransport {
            var configuration = CurlTransport.Configuration()
            change(&configuration)
            return CurlTransport(configuration)
        }

        private func raw(_ reply: String, _ query: [String: String] = [:]) -> URL {
            let bytes = Data(reply.replacingOccurrences(of: "\n", with: "\r\n").utf8).base64EncodedString()
            return server.url("/raw", ["reply": bytes, "key": key].merging(query) { $1 })
        }

        // MARK: Heads

        @Test("Interim heads are available with the response, and are not part of it")
        func interimHeads() async throws {
            let hint = "HTTP/1.1 103 Early Hints\nLink: </a.css>\nLink: </b.css>\n\n"
            let page = HTTPData(
                raw("HTTP/1.1 100 Continue\n\n" + hint + hint + "HTTP/1.1 200 OK\nContent-Length: 2\n\nok"))
            let answer = try await outcome(page).get()
            #expect(answer.status == 200 && answer.data == Data("ok".utf8))
            #expect(answer.headers.names == ["content-length"])
            #expect(answer.head.interimHeads.map(\.status) == [100, 103, 103])
            #expect(answer.head.interimHeads.last?.headers.values(of: "link") == ["</a.css>", "</b.css>"])
        }

        @Test("Several fields of one name keep separate values")
        func severalValues() async throws {
            let head =
                "HTTP/1.1 200 OK\nSet-Cookie: a=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT\nSet-Cookie: b=2\nVary: x\n"
                + "vary:y\n"
            let answer = try await outcome(HTTPData(raw(head + "Content-Length: 0\n\n"))).get()
            #expect(answer.headers.values(of: "set-cookie").count == 2)
            #expect(answer.headers["VARY"] == "x, y")
            #expect(answer.headers.values(of: "none") == [])
        }

        @Test("A head that never ends is an error, and takes little memory")
        func endlessHeads() async throws {
            let field = "X-Field: " + String(repeating: "x", count: 1000) + "\n"
            let long = HTTPData(raw("HTTP/1.1 200 OK\n" + String(repeating: field, count: 30) + "\n"))
            #expect(try await outcome(long).get().headers.values(of: "X-Field").count == 30)
            for reply in [String(repeating: field, count: 2000), "X: " + String(repeating: "y", count: 500_000) + "\n"]
            {
                let server = try RawServer(
                    "HTTP/1.1 200 OK\r\n" + reply.replacingOccurrences(of: "\n", with: "\r\n") + "\r\n")
                defer { server.stop() }
                let error = await failure(HTTPData(server.url))
                guard case .invalidAnswer? = error?.reason else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
            }
        }

        @Test("The idle limit does not count while a head arrives slowly")
        func slowHeads() async throws {
            let reply = "HTTP/1.1 200 OK\nContent-Length: 2\n\nok"
            let slow = HTTPData(server.url("/raw", ["reply": Data(reply.utf8).base64EncodedString(), "slow": "200"]))
            #expect(try await outcome(slow.timeout(.seconds(3))).get().data == Data("ok".utf8))
        }

        // MARK: Bodies

        @Test("Compressed content that expands endlessly does not fill the memory")
        func bombs() async throws {
            let bomb = HTTPData(server.url("/bomb/\(4 << 30)")).sizeLimit(1 << 20)
            #expect(await failure(bomb)?.reason == .bodyTooLarge(limit: 1 << 20))
            await #expect(processExitsWith: .success) {
                let before = Resources.residentBytes
                let request = URLRequest(url: server.url("/bomb/\(1 << 30)"))
                let answer = try await CurlTransport.shared.send(request, body: nil) { _ in }
                var count = 0
                for try await piece in answer.body { count += piece.count }
                precondition(count == 1 << 30, "\(count)")
                precondition(
                    Resources.mostResidentBytes < before + 100_000_000, "\(Resources.mostResidentBytes - before)")
            }
        }

        @Test("A transfer that is slower than the lowest speed fails")
        func lowestSpeeds() async {
            let transport = transport { $0.lowestSpeed = .init(bytesPerSecond: 1000, over: .seconds(1)) }
            let page = HTTPData(server.url("/bytes/10000", ["piece": "10", "pause": "100"])).transport(transport)
            let error = await failure(page)
            #expect(error?.reason == .tooSlow(bytesPerSecond: 1000, over: .seconds(1)))
            #expect(error?.isTransient == true)
        }

        // MARK: Connections

        @Test("No more connections are made than the configuration allows, and waiting for one is not idle")
        func limits() async throws {
            let transport = transport { $0.connectionsPerHost = 2 }
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: .max)
            let url = server.url("/bytes/20", ["piece": "10", "pause": "500", "key": key])
            let pages = (0..<10).map { _ in
                AsyncOperation(HTTPData(url).transport(transport).timeout(.seconds(3)))
            }
            queue.add(pages)
            for page in pages { #expect(try await page.value.data.count == 20) }
            #expect(Set(try await server.log(key).map(\.connection)).count <= 2)
        }

        /// libcurl 7.88 missed the free connection in about one of twenty rounds.
        @Test("A request that waits for a connection gets it as soon as it is free")
        func freeConnections() async throws {
            let faults = try FaultServer()
            defer { faults.stop() }
            faults.on("*", .answer(body: "page"))
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: .max)
            for _ in 0..<100 {
                let transport = transport { $0.connectionsPerHost = 1 }
                let pages = (0..<16).map { _ in
                    AsyncOperation(HTTPData(faults.url("/")).transport(transport).deadline(.seconds(30)))
                }
                queue.add(pages)
                for page in pages { #expect(try await page.value.data == Data("page".utf8)) }
            }
        }

        @Test("Bytes after a response are not the response to the next request", arguments: ["GET", "POST"])
        func leftovers(_ method: String) async throws {
            let faults = try FaultServer()
            defer { faults.stop() }
            let wrong = FaultStep.answer(body: "wrong")
            faults.on("/first", .answer(body: "one"), .pause(.milliseconds(1)), wrong)
            faults.on("/second", .answer(body: "two"))
            let transport = CurlTransport()
            for number in 1...5 {
                let first = HTTPData(faults.url("/first")).transport(transport)
                #expect(try await outcome(first).get().data == Data("one".utf8))
                // These requests take long enough for the surplus bytes to arrive.
                for _ in 0..<60 { _ = try await server.log("nobody") }
                let second = HTTPData(faults.url("/second")).method(method).transport(transport)
                #expect(try await outcome(second).get().data == Data("two".utf8))
                #expect(try await faults.waitForRequests(2 * number).count == 2 * number)
            }
        }

        @Test(
            "Bytes that arrive late after a response do not fail the next request if it may be sent twice",
            arguments: [("GET", 204), ("GET", 304), ("GET", 200), ("HEAD", 200)], ["GET", "PUT", "DELETE"])
        func lateLeftovers(_ first: (method: String, status: Int), _ method: String) async throws {
            let faults = try FaultServer()
            defer { faults.stop() }
            let isChunked = first.method == "GET" && first.status == 200
            let head = FaultStep.answerHead(first.status, isChunked ? ["Transfer-Encoding: chunked"] : ["ETag: \"1\""])
            for (number, late) in ["hello", "x", "\r\n0\r\n\r\n", "2\r\nhi\r\n0\r\n\r\n", "<html>"].enumerated() {
                let steps = [head] + (isChunked ? [.send("2\r\nhi\r\n0\r\n\r\n")] : [])
                faults.on("/first\(number)") { _ in
                    FaultScript(steps + [.waitForBytes, .send(late)])
                }
                faults.on("/second", .readBody, .answer(body: "two"))
                let transport = CurlTransport()
                let page = HTTPData(faults.url("/first\(number)")).method(first.method).transport(transport)
                #expect(try await outcome(page.validation(.none)).get().status == first.status)
                let url = faults.url("/second")
                let second =
                    if method == "PUT" {
                        await outcome(HTTPUpload(Data("x".utf8), to: url).method("PUT").transport(transport))
                    } else {
                        await outcome(HTTPData(url).method(method).transport(transport))
                    }
                #expect(try second.get().data == Data("two".utf8))
                #expect(faults.connectionCount == 2 * number + 2, "The late bytes came on the first connection.")
            }
        }

        @Test("A request that must not be sent twice says that its connection had bytes of another response")
        func lateLeftoversOfPosts() async throws {
            let faults = try FaultServer()
            defer { faults.stop() }
            faults.on("/first", .answerHead(200, ["Content-Length: 5"]), .waitForBytes, .send("hello"))
            faults.on("/second", .answer(body: "two"))
            let transport = CurlTransport()
            _ = try await outcome(HTTPData(faults.url("/first")).method("HEAD").transport(transport)).get()
            let second = HTTPData(faults.url("/second")).method("POST").transport(transport)
            let answer = await outcome(second)
            guard case .invalidAnswer(let text)? = answer.httpError?.reason else {
                Issue.record("\(answer)")
                return
            }
            #expect(text.contains("more bytes than belong to that one"))
            #expect(answer.httpError?.description.contains("wants https") == false)
            #expect(faults.connectionCount == 1)
        }

        @Test(
            "The connection of a 204 response whose head promises a body is not kept",
            arguments: ["Content-Length: 5", "Transfer-Encoding: chunked", "Content-Length: 0"])
        func forbiddenBodies(_ field: String) async throws {
            let faults = try FaultServer()
            defer { faults.stop() }
            faults.on("/first", .answerHead(204, [field]))
            faults.on("/second", .answer(body: "two"))
            let transport = CurlTransport()
            _ = try await outcome(HTTPData(faults.url("/first")).transport(transport)).get()
            let second = HTTPUpload(Data("x".utf8), to: faults.url("/second")).transport(transport)
            #expect(try await outcome(second).get().data == Data("two".utf8))
            #expect(faults.connectionCount == (field.hasSuffix("0") ? 1 : 2))
        }

        @Test(
            "A wrong entry of the resolved addresses is named, with its option and the right form",
            arguments: [
                "", "page.test", "page.test:80", "page.test:80:", "page.test:80:,", "page.test:80:nowhere", ":80:::1",
                "page.test:65536:::1", "page.test:-1:::1", "page.test:x:::1", "page.test:80:[::1", "page.test:80:127.1",
                "page.test:80:::1%lo", "page.test:80: ::1", "[::1]:80:::1", "-page.test", "-page.test:x", "+", "-",
                "page.test:80:::1\0", "page.test:80:::1\n", String(repeating: "x", count: 256) + ":80:::1",
            ])
        func wrongAddresses(_ entry: String) async {
            let transport = transport { $0.resolved = ["right.test:80:::1", entry, "also wrong"] }
            let error = await failure(HTTPData(server.url("/bytes/10")).transport(transport))
            let problem =
                "the option resolved of the transport has the entry ‘\(entry)’. Write it as host:port:address, with "
                + "commas between several addresses: example.org:443:192.0.2.1,[2001:db8::1]"
            #expect(error?.reason == .invalidRequest(problem))
        }

        @Test(
            "Every form of a resolved address that libcurl understands is accepted",
            arguments: ["page.test", "+page.test", "PAGE.test", "*"], ["127.0.0.1", "[127.0.0.1]", "[::1],127.0.0.1,"])
        func rightAddresses(_ host: String, _ addresses: String) async throws {
            let transport = transport { $0.resolved = ["-other.test:80", "\(host):\(server.port):\(addresses)"] }
            let page = HTTPData(server.url("/bytes/10", host: "page.test")).transport(transport)
            #expect(try await outcome(page).get().data.count == 10)
        }

        @Test("Nine addresses that do not answer are skipped")
        func deadAddresses() async throws {
            let dead = (2...10).map { "127.0.0.\($0)" }.joined(separator: ",")
            let transport = transport { $0.resolved = ["many.test:\(server.port):\(dead),127.0.0.1"] }
            let page = HTTPData(server.url("/bytes/10", host: "many.test")).transport(transport)
            #expect(try await outcome(page).get().data.count == 10)
        }

        @Test("With few descriptors, requests succeed or say that there are too many open files")
        func fewDescriptors() async {
            await #expect(processExitsWith: .success) {
                _ = try await outcome(HTTPData(server.url("/bytes/10"))).get()
                var former = rlimit()
                precondition(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &former) == 0)
                // The process may have inherited descriptors.
                let count = Resources.now.descriptors + 80
                var limit = rlimit(rlim_cur: rlim_t(count), rlim_max: former.rlim_max)
                precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
                let queue = AsyncOperationQueue(maxConcurrentOperationCount: .max)
                // The responses take two seconds, so that many requests need a connection at the same time.
                let pages = (0..<500).map { _ in
                    AsyncOperation(HTTPData(server.url("/bytes/20", ["piece": "10", "pause": "1000"])))
                }
                queue.add(pages)
                var refused = 0
                for page in pages {
                    do throws(OperationError) {
                        let answer = try await page.value
                        precondition(answer.data.count == 20)
                    } catch {
                        refused += 1
                        let reason = (error.underlyingError as? HTTPError)?.reason
                        precondition(reason == .tooManyOpenFiles, "\(error)")
                    }
                }
                precondition(refused > 0 && refused < 500, "\(refused)")
                // Idle connections may hold all descriptors for a short time.
                let last = AsyncOperation(HTTPData(server.url("/bytes/10"))).retryHTTP(attempts: 8)
                let status = try await outcome(of: last).get().status
                precondition(status == 200)
                // The leak sanitizer opens files at the end of the process.
                precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &former) == 0)
            }
        }

        @Test("Connections leave descriptors for other parts of the process")
        func lastDescriptors() async {
            await #expect(processExitsWith: .success) {
                let key = freshKey()
                var limit = rlimit()
                _ = try await outcome(HTTPData(server.url("/bytes/10"))).get()
                precondition(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
                let former = limit
                limit.rlim_cur = rlim_t(Resources.now.descriptors + 140)
                precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
                let queue = AsyncOperationQueue(maxConcurrentOperationCount: .max)
                let url = server.url("/await", ["key": key, "count": "1"])
                let pages = (0..<300).map { _ in AsyncOperation(HTTPData(url)) }
                queue.add(pages)
                // The requests that fail are the last ones.
                while pages.count(where: { $0.result != nil }) < 100 { await Task.yield() }
                var opened: [Int32] = []
                while opened.last != -1 { opened.append(open("/dev/null", O_RDONLY | O_CLOEXEC)) }
                precondition((8...17).contains(opened.count), "\(opened.count)")
                for descriptor in opened.dropLast() { close(descriptor) }
                for page in pages where page.result != nil {
                    precondition(page.result?.httpError?.reason == .tooManyOpenFiles)
                }
                queue.cancelAll()
                limit = former
                precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            }
        }

        @Test("Idle connections leave descriptors for connections to other hosts")
        func keptConnections() async {
            await #expect(processExitsWith: .success) {
                _ = server
                var limit = rlimit()
                precondition(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
                let former = limit
                // The process has other descriptors open as well.
                let count = 2 * Resources.now.descriptors + 60
                limit.rlim_cur = rlim_t(count)
                precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
                var configuration = CurlTransport.Configuration()
                configuration.resolved = (0..<count).map { "host\($0).test:\(server.port):127.0.0.1" }
                let transport = CurlTransport(configuration)
                for number in 0..<count {
                    let page = HTTPData(server.url("/bytes/10", host: "host\(number).test")).transport(transport)
                    let status = try await outcome(page).get().status
                    precondition(status == 200)
                }
                limit = former
                precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            }
        }

        @Test("Unused connections of other transports make room for requests and downloads")
        func connectionsOfOtherTransports() async {
            await #expect(processExitsWith: .success) {
                _ = server
                let folder = try TestFolder()
                var limit = rlimit()
                precondition(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
                let former = limit
                let count = Resources.now.descriptors + 60
                limit.rlim_cur = rlim_t(count)
                precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
                var configuration = CurlTransport.Configuration()
                configuration.resolved = (0..<count).map { "host\($0).test:\(server.port):127.0.0.1" }
                let others = (0..<3).map { _ in CurlTransport(configuration) }
                for transport in others {
                    for number in 0..<count {
                        let page = HTTPData(server.url("/bytes/10", host: "host\(number).test"))
                        let reason = await failure(page.transport(transport))?.reason
                        precondition(reason == nil || reason == .tooManyOpenFiles)
                        if reason != nil { break }
                    }
                }
                let transport = CurlTransport()
                let page = AsyncOperation(HTTPData(server.url("/bytes/10")).transport(transport))
                let status = try await outcome(of: page.retryHTTP(attempts: 8)).get().status
                precondition(status == 200)
                let file = HTTPDownload(server.url("/bytes/10"), to: folder.file("file")).transport(transport)
                let byteCount = try await outcome(of: AsyncOperation(file).retryHTTP(attempts: 8)).get().byteCount
                precondition(byteCount == 10)
                withExtendedLifetime(others) {}
                limit = former
                precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            }
        }

        @Test("A host whose IPv6 address does not answer is reached through its IPv4 address")
        func bothFamilies() async throws {
            let transport = transport { $0.resolved = ["both.test:\(server.port):[::1],127.0.0.1"] }
            let page = HTTPData(server.url("/bytes/10", host: "both.test")).transport(transport)
            #expect(try await outcome(page).get().data.count == 10)
        }

        @Test("An IPv6 address is reached")
        func ipv6() async {
            let error = await failure(HTTPData("http://[::1]:1/"))
            #expect(error?.reason == .connectionRefused)
        }

        @Test("Waiting for a slow server takes hardly any processor time")
        func waitingIsCheap() async {
            await #expect(processExitsWith: .success) {
                _ = try await outcome(HTTPData(server.url("/bytes/10"))).get()
                let before = clock()
                // The server sends a body of four pieces, half a second apart. A loop that does not wait would use two
                // seconds; a sanitizer makes the request itself take a tenth.
                let page = HTTPData(server.url("/bytes/4", ["piece": "1", "pause": "500"]))
                _ = try await outcome(page).get()
                let seconds = Double(clock() - before) / Double(CLOCKS_PER_SEC)
                precondition(seconds < 0.5, "\(seconds)")
            }
        }

        // MARK: Cookies

        private func cookies(_ transport: CurlTransport) async throws -> String? {
            let page = HTTPData(server.url("/headers")).transport(transport)
            let fields = try JSONDecoder().decode([String: String].self, from: try await outcome(page).get().data)
            return fields["Cookie"]
        }

        @Test("Cookies belong to one transport, unless they are in a file, which only its owner can read")
        func whereCookiesAre() async throws {
            let folder = try TestFolder()
            let set = raw("HTTP/1.1 200 OK\nSet-Cookie: session=\(key); Path=/; Max-Age=100000\nContent-Length: 0\n\n")
            for cookies in [CurlTransport.Configuration.Cookies.inMemory, .file(folder.file("cookies")), .none] {
                let (first, second) = (transport { $0.cookies = cookies }, transport { $0.cookies = cookies })
                _ = try await outcome(HTTPData(set).transport(first)).get()
                // The cookie of this response is not kept, and the file stays as it is.
                var request = URLRequest(url: raw("HTTP/1.1 200 OK\nSet-Cookie: other=1\nContent-Length: 0\n\n"))
                request.httpShouldHandleCookies = false
                _ = try await outcome(HTTPData(request).transport(first)).get()
                #expect(try await self.cookies(first) == (cookies == .none ? nil : "session=\(key)"))
                let isShared = if case .file = cookies { true } else { false }
                #expect(try await self.cookies(second) == (isShared ? "session=\(key)" : nil))
            }
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("cookies").path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }

        @Test(
            "A file that the system produces while it is read, and a very long one, are not used for cookies",
            .enabled(if: FileManager.default.fileExists(atPath: "/proc/kmsg"), "it takes Linux with /proc"))
        func cookieFilesWithoutEnd() async throws {
            let folder = try TestFolder()
            try Data("# Netscape HTTP Cookie File\n".utf8).write(to: folder.file("long"))
            let length = (64 << 20) + 1
            try #require(truncate(folder.file("long").path, length) == 0)
            let set = raw("HTTP/1.1 200 OK\nSet-Cookie: session=\(key); Path=/; Max-Age=100000\nContent-Length: 0\n\n")
            for file in [URL(fileURLWithPath: "/proc/kmsg"), folder.file("long")] {
                let transport = transport { $0.cookies = .file(file) }
                _ = try await outcome(HTTPData(set).transport(transport)).get()
                #expect(try await self.cookies(transport) == "session=\(key)")
            }
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("long").path)
            #expect(attributes[.size] as? Int == length)
        }

        @Test("A Cookie field of the request is sent in addition to the stored cookies")
        func cookiesOfTheRequest() async throws {
            let transport = CurlTransport()
            let set = raw("HTTP/1.1 200 OK\nSet-Cookie: a=1; Path=/\nContent-Length: 0\n\n")
            _ = try await outcome(HTTPData(set).transport(transport)).get()
            let page = HTTPData(server.url("/headers")).header("Cookie", "b=2").transport(transport)
            let fields = try JSONDecoder().decode([String: String].self, from: try await outcome(page).get().data)
            #expect(fields["Cookie"] == "a=1; b=2")
            var request = URLRequest(url: server.url("/headers"))
            request.httpShouldHandleCookies = false
            let without = try await outcome(HTTPData(request).transport(transport)).get()
            #expect(!String(decoding: without.data, as: UTF8.self).contains("a=1"))
        }
    }
#endif
