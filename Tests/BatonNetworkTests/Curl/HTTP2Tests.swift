#if os(Linux)
    import Baton
    import BatonNetwork
    import BatonTesting
    import Foundation
    import FoundationNetworking
    import Testing

    /// Tests of HTTP/2, which the conformance suite does not cover. The server, `Tests/Support/http2.py`, sends the
    /// frames that its arguments specify.
    @Suite(.timeLimit(.minutes(2))) struct HTTP2Tests {
        /// A server, and a transport that trusts it.
        private struct Pair {
            let server: PythonServer
            let transport: CurlTransport

            /// - Parameter steps: The steps of each connection; `http2.py` documents them.
            init(connectionsPerHost: Int? = nil, _ steps: String...) async {
                server = await PythonServer("http2.py", [PythonServer.certificate("good").path] + steps)
                var configuration = CurlTransport.Configuration()
                configuration.certificateAuthorities = PythonServer.certificate("authority")
                configuration.connectionsPerHost = connectionsPerHost
                transport = CurlTransport(configuration)
            }

            var url: String { "https://localhost:\(server.port)/" }

            var page: HTTPData { HTTPData(url).transport(transport) }

            /// Ends the server, and returns how often it has printed each line.
            func events() async -> [String: Int] {
                Dictionary(await server.stopAndReadLines().map { ($0, 1) }, uniquingKeysWith: +)
            }
        }

        // MARK: Streams

        @Test("Requests to one host share a connection", arguments: [100, 1])
        func sharing(_ limit: Int) async throws {
            let pair = await Pair("streams=\(limit) ok")
            #expect(try await outcome(pair.page).get().data == Data("0".utf8))
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: .max)
            let pages = (0..<50).map { _ in AsyncOperation(pair.page) }
            queue.add(pages)
            for page in pages { #expect(try await page.value.status == 200) }
            if limit == 1 { return pair.server.stop() }
            let expected = (0...50).flatMap { ["request 1 \(2 * $0 + 1)", "end 1 \(2 * $0 + 1) 0"] }
            #expect(await pair.events() == Dictionary(uniqueKeysWithValues: expected.map { ($0, 1) }))
        }

        @Test(
            "Requests keep off an HTTP/1.1 connection in use, also once the host has an HTTP/2 connection",
            arguments: ["GET", "POST"])
        func connectionsOfBothVersions(_ method: String) async throws {
            // The first connection uses HTTP/1.1, and the server holds its request back until all have arrived.
            let pair = await Pair("http1 after=6", "ok")
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: .max)
            let held =
                if method == "POST" {
                    AsyncOperation(
                        HTTPUpload(Data("x".utf8), to: URL(string: pair.url + "held")!).transport(pair.transport)
                    )
                    .map(\.data)
                } else {
                    AsyncOperation(HTTPData(pair.url + "held").transport(pair.transport)).map(\.data)
                }
            held.add(to: queue)
            await pair.server.wait(for: "request 1 1")
            let page = pair.page.timeout(.seconds(20))
            #expect(try await outcome(page).get().data == Data("0".utf8))
            let pages = (0..<4).map { _ in AsyncOperation(page) }
            queue.add(pages)
            for page in pages { #expect(try await page.value.data == Data("0".utf8)) }
            #expect(try await held.value == Data("/held".utf8))
            let requests = await pair.events().filter { $0.key.hasPrefix("request") }
            // The line of the first request has been read.
            #expect(requests.values.reduce(0, +) == 5)
            #expect(!requests.keys.contains { $0.hasPrefix("request 1 ") })
        }

        /// If the first connection to a host uses HTTP/1.1, libcurl 7.88 does not wait to see whether the next one uses
        /// HTTP/2, so that requests that begin together open a connection each.
        @Test("Requests beside one with a body keep to the limit of connections, and get their own responses")
        func connectionsBesideUploads() async throws {
            // The upload is the first request to the host, and the server holds it back until all have arrived.
            let pair = await Pair(connectionsPerHost: 3, "http1 after=11", "ok")
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: .max)
            let url = try #require(URL(string: pair.url + "held"))
            let held = AsyncOperation(HTTPUpload(Data("x".utf8), to: url).transport(pair.transport)).add(to: queue)
            await pair.server.wait(for: "request 1 1")
            let pages = (0..<10).map { _ in AsyncOperation(pair.page) }
            queue.add(pages)
            for page in pages { #expect(try await page.value.data == Data("0".utf8)) }
            #expect(try await held.value.data == Data("/held".utf8))
            let requests = await pair.events().keys.filter { $0.hasPrefix("request") }
            #expect(requests.count == 10 && Set(requests.map { $0.split(separator: " ")[1] }).count <= 2)
        }

        @Test("Bytes that arrive late after a response over TLS do not fail the next request")
        func lateLeftovers() async throws {
            let pair = await Pair("http1 late", "http1 ok")
            #expect(try await outcome(pair.page).get().data == Data("/".utf8))
            #expect(try await outcome(pair.page).get().data == Data("/".utf8))
            let events = await pair.events()
            #expect(events["request 2 1"] == 1, "\(events)")
        }

        @Test("Interim heads, trailers and large bodies arrive as with HTTP/1.1")
        func answers() async throws {
            let pair = await Pair("interim trailers bytes=3000000")
            let interim = try await outcome(pair.page).get()
            #expect(interim.data == Data("0".utf8) && interim.head.interimHeads.map(\.status) == [103])
            let trailers = try await outcome(pair.page).get()
            #expect(trailers.data == Data("0".utf8) && trailers.headers.names == ["content-length"])
            #expect(try await outcome(pair.page).get().data == TestServer.bytes(3_000_000))
            #expect(await pair.events()["end 1 5 0"] == 1)
        }

        @Test("Long heads arrive, and each belongs to its own request", arguments: [20, 40, 90, 120])
        func longHeads(_ count: Int) async throws {
            let pair = await Pair("head=\(count)")
            defer { pair.server.stop() }
            let page = pair.page.timeout(.seconds(20))
            #expect(try await outcome(page).get().headers.names.count == count)
            let queue = AsyncOperationQueue()
            let pages = (0..<10).map { _ in AsyncOperation(page) }
            queue.add(pages)
            for page in pages {
                let response = try await page.value
                #expect(response.headers.names.count == count && response.data == Data("0".utf8))
            }
        }

        @Test("A head that libcurl does not accept is an invalid answer at once")
        func tooLongHeads() async throws {
            let pair = await Pair("head=140")
            defer { pair.server.stop() }
            let error = await failure(pair.page.timeout(.seconds(60)))
            guard case .invalidAnswer(let text)? = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(text.contains("128 KB"))
        }

        @Test("A slow reader does not hold up the other requests of its connection")
        func slowReaders() async throws {
            let pair = await Pair("ok bytes=60000000 ok")
            _ = try await outcome(pair.page).get()
            let slow = try await pair.transport.send(URLRequest(url: URL(string: pair.url)!), body: nil) { _ in }
            for _ in 1...20 { #expect(try await outcome(pair.page).get().status == 200) }
            var count = 0
            for try await piece in slow.body { count += piece.count }
            #expect(count == 60_000_000)
            #expect(await pair.events()["end 1 43 0"] == 1)
        }

        @Test("A cancellation reaches the server at once, and other requests on the connection continue")
        func cancels() async throws {
            let pair = await Pair("ok hold hold bytes=10 ok")
            _ = try await outcome(pair.page).get()
            let queue = AsyncOperationQueue()
            let held = (0..<2).map { _ in AsyncOperation(pair.page) }
            for (number, operation) in held.enumerated() {
                queue.add(operation)
                await pair.server.wait(for: "end 1 \(2 * number + 3) 0")
            }
            held[0].cancel()
            await pair.server.wait(for: "cancel 1 3")
            #expect(try await outcome(pair.page).get().data.count == 10)
            // No other request is left that would cause the connection to send a frame.
            held[1].cancel()
            await pair.server.wait(for: "closed 1")
            for operation in held { await #expect(throws: OperationError.self) { try await operation.value } }
            #expect(try await outcome(pair.page).get().status == 200)
            #expect(await pair.events().keys.contains { $0.hasPrefix("end 2 1") })
        }

        // MARK: Faults

        @Test("Pings do not count as progress", arguments: ["", "ok "])
        func pings(_ before: String) async throws {
            let pair = await Pair(before + "ping")
            if !before.isEmpty { _ = try await outcome(pair.page).get() }
            let limit = Duration.milliseconds(500)
            #expect(await failure(pair.page.timeout(limit))?.reason == .timedOut(after: limit))
            pair.server.stop()
        }

        @Test("A connection that cannot be established delays no other request")
        func stuckConnections() async throws {
            let pair = await Pair("hang", "ok")
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: .max)
            let pages = (0..<5).map { _ in AsyncOperation(pair.page.timeout(.seconds(8))) }
            let ends = EventLog<String>()
            for page in pages { page.didFinish { ends((try? $0.get()) == nil ? "failure" : "success") } }
            queue.add(pages)
            await queue.waitUntilIdle()
            // If the first request delayed the others, all of them would reach its time limit.
            #expect(ends.events.sorted() == ["failure", "success", "success", "success", "success"])
            pair.server.stop()
        }

        @Test("A program ends while transfers run", arguments: 1...5)
        func exits(_ number: Int) async {
            await #expect(processExitsWith: .exitCode(0)) {
                let pair = await Pair("bytes=10000000")
                for _ in 0..<20 {
                    let answer = try await pair.transport.send(URLRequest(url: URL(string: pair.url)!), body: nil) {
                        _ in
                    }
                    Task { for try await _ in answer.body {} }
                }
                exit(0)
            }
        }

        @Test(
            "A refused request is sent again if it may be sent twice",
            arguments: ["refuse", "goaway-before"], ["ok ", ""])
        func refusals(_ step: String, _ before: String) async throws {
            for (method, isSentAgain) in [("GET", true), ("DELETE", true), ("POST", false)] {
                let pair = await Pair(before + step, "ok")
                if !before.isEmpty { _ = try await outcome(pair.page).get() }
                let answer = await outcome(pair.page.method(method))
                if isSentAgain {
                    #expect(try answer.get().data == Data("0".utf8))
                } else {
                    #expect(answer.httpError?.reason == .connectionBroken)
                    // The connection may still be open.
                    #expect(answer.httpError?.description.contains("the server dropped the request") == true)
                }
                let events = await pair.events()
                let count = events.keys.filter { $0.hasPrefix("request") }.count
                #expect(count == (before.isEmpty ? 0 : 1) + (isSentAgain ? 2 : 1), "\(method): \(events)")
            }
        }

        @Test(
            "An orderly end of a connection affects only the requests that have begun on it",
            arguments: ["within", "after"])
        func goodOrder(_ when: String) async throws {
            let pair = await Pair("ok goaway-\(when)", "ok")
            _ = try await outcome(pair.page).get()
            let last = try await outcome(pair.page).get()
            #expect(last.data == Data((when == "within" ? "0123456789" : "0").utf8))
            #expect(try await outcome(pair.page).get().data == Data("0".utf8))
            let events = await pair.events()
            #expect(events["end 1 3 0"] == 1 && events["end 2 1 0"] == 1, "\(events)")
        }

        @Test(
            "A reset stream is a broken connection, and the request is not sent again",
            arguments: ["reset", "reset-body"], ["ok ", ""])
        func resets(_ step: String, _ before: String) async throws {
            let pair = await Pair(before + step + " ok", "ok")
            if !before.isEmpty { _ = try await outcome(pair.page).get() }
            let error = await failure(pair.page)
            if step == "reset" {
                #expect(error?.reason == .connectionBroken)
            } else {
                #expect(error?.reason == .bodyTooShort(received: 5, promised: 10))
            }
            #expect(error?.isTransient == true)
            #expect(try await outcome(pair.page).get().data == Data("0".utf8))
            #expect(await pair.events().keys.filter { $0.hasPrefix("request") }.count == (before.isEmpty ? 2 : 3))
        }

        @Test("A body that ends because the server wants HTTP/1.1 is not complete")
        func wantsHTTP1() async throws {
            let pair = await Pair("wants-http1", "http1 ok")
            #expect(await failure(pair.page)?.reason == .connectionBroken)
            #expect(await pair.events().keys.filter { $0.hasPrefix("request") }.count == 1)
        }

        @Test("A connection that closes without GOAWAY fails every request on it that is not sent again")
        func cuts() async throws {
            let pair = await Pair("ok cut-body", "ok")
            _ = try await outcome(pair.page).get()
            #expect(await failure(pair.page)?.reason == .bodyTooShort(received: 5, promised: 10))
            #expect(try await outcome(pair.page).get().data == Data("0".utf8))
            let cut = await Pair("ok cut", "ok")
            _ = try await outcome(cut.page).get()
            #expect(await failure(cut.page.method("POST"))?.reason == .connectionBroken)
            let events = await cut.events()
            #expect(events.keys.filter { $0.hasPrefix("request") }.count == 2, "\(events)")
            _ = await pair.events()
        }

        @Test("A connection whose TLS session ends fails all of its requests at once, although TCP stays open")
        func endsOfSessions() async throws {
            let pair = await Pair("ok hold end-tls", "ok")
            defer { pair.server.stop() }
            _ = try await outcome(pair.page).get()
            let post = pair.page.method("POST").timeout(.seconds(60))
            async let held = failure(post)
            await pair.server.wait(for: "request 1 3")
            // Otherwise both requests would time out after a minute.
            #expect(await failure(post)?.reason == .connectionBroken)
            #expect(await held?.reason == .connectionBroken)
            #expect(try await outcome(pair.page).get().data == Data("0".utf8))
        }

        @Test("A status that no response can have is named", arguments: ["099", "000"])
        func invalidStatuses(_ status: String) async throws {
            let pair = await Pair("status=\(status)", "ok")
            defer { pair.server.stop() }
            let error = await failure(pair.page)
            #expect(error?.reason == .invalidAnswer("its status is not a number from 100 to 999"))
            #expect(try await outcome(pair.page).get().data == Data("0".utf8))
        }

        @Test(
            "A response that breaks the rules of HTTP/2 is invalid, and not a broken connection",
            arguments: ["nonsense", "bad-name", "no-status", "bad-block", "no-head", "too-long", "too-short"])
        func invalidResponses(_ step: String) async throws {
            let pair = await Pair(step)
            defer { pair.server.stop() }
            let error = await failure(pair.page)
            guard case .invalidAnswer(let text)? = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(text.contains("HTTP/2"))
            #expect(error?.isTransient == false)
            // The server has completed a TLS handshake.
            #expect(error?.description.contains("wants https") == false)
        }
    }
#endif
