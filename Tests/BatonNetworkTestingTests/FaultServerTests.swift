import Foundation
import Testing

@testable import BatonNetworkTesting

@Suite(.timeLimit(.minutes(2)), .onOwnThread) struct FaultServerTests {
    private let server: FaultServer

    init() throws { server = try FaultServer() }

    private func client() throws -> RawClient { try RawClient(port: server.port) }

    // MARK: Sending

    @Test("The bytes of a script arrive unchanged, followed by the end of the stream")
    func bytes() throws {
        defer { server.stop() }
        server.on("/", .send("no HTTP\n"), .send(Data([0x41, 0x42])), .close)
        let client = try client()
        client.sendHead("GET / HTTP/1.1")
        #expect(client.receiveAll() == "no HTTP\nAB")
    }

    @Test("An answer has a status, its fields and a length")
    func answer() throws {
        defer { server.stop() }
        server.on("/", .answer(404, ["X-A: 1"], body: "gone"), .close)
        let client = try client()
        client.sendHead("GET / HTTP/1.1")
        #expect(client.receiveAll() == "HTTP/1.1 404 Status\r\nX-A: 1\r\nContent-Length: 4\r\n\r\ngone")
    }

    @Test("A path without a script is answered with 404")
    func noScript() throws {
        defer { server.stop() }
        let client = try client()
        client.sendHead("GET /nowhere?q=1 HTTP/1.1")
        #expect(client.receive(12) == "HTTP/1.1 404 Status\r\nContent-Length: 22\r\n\r\nno script for /nowhere")
    }

    @Test("The script for ‘*’ applies to all paths without a script of their own")
    func anyPath() throws {
        defer { server.stop() }
        server.on("*") { FaultScript([.answer(body: $0.target)]) }
        server.on("/own", .answer(body: "own"))
        let client = try client()
        for (target, body) in [("/a?b=c", "/a?b=c"), ("/own?x", "own"), ("/", "/")] {
            client.sendHead("GET \(target) HTTP/1.1")
            #expect(client.receiveBody() == body)
        }
    }

    @Test("Bytes that are sent slowly all arrive")
    func slowly() throws {
        defer { server.stop() }
        server.on("/", .sendSlowly("hello", every: .milliseconds(1)), .close)
        let client = try client()
        client.sendHead("GET / HTTP/1.1")
        #expect(client.receiveAll() == "hello")
    }

    @Test("A pattern arrives complete, in chunks if requested", arguments: [0, 1, 200_000])
    func pattern(_ count: Int) throws {
        defer { server.stop() }
        server.on("/", .sendPattern(count: count), .close)
        server.on("/chunked", .sendPattern(count: count, chunked: true), .close)
        let client = try client()
        client.sendHead("GET / HTTP/1.1")
        #expect(client.receiveAllBytes() == PatternBytes.data(count))
        let other = try self.client()
        other.sendHead("GET /chunked HTTP/1.1")
        var reader = BodyReader(.chunked)
        var pending = other.receiveAllBytes()
        var body = Data()
        while !reader.isComplete { body.append(try #require(reader.take(upTo: .max, from: &pending))) }
        #expect(body == PatternBytes.data(count))
        #expect(pending.isEmpty)
    }

    @Test("A text that is sent repeatedly arrives as often as it was sent", arguments: [0, 1, 2, 50_000])
    func repeatedly(_ count: Int) throws {
        defer { server.stop() }
        server.on("/", .sendRepeatedly("hello", count: count), .send("."), .close)
        let client = try client()
        client.sendHead("GET / HTTP/1.1")
        #expect(client.receiveAll() == String(repeating: "hello", count: count) + ".")
    }

    @Test("The client sees a reset as a reset")
    func reset() throws {
        defer { server.stop() }
        server.on("/", .reset)
        let client = try client()
        client.sendHead("GET / HTTP/1.1")
        #expect(client.receive() == .failed(ECONNRESET))
    }

    @Test("A server that closes after reading does not lose its answer")
    func closeAfterReading() async throws {
        defer { server.stop() }
        server.on("/", readsBodyFirst: false, .answer(413, body: "too large"), .closeAfterReading)
        let client = try client()
        client.sendHead("POST / HTTP/1.1", "Content-Length: 3000000")
        for _ in 0..<30 { client.send(String(repeating: "x", count: 100_000)) }
        #expect(client.receiveAll().hasSuffix("too large"))
        client.close()
        #expect(try await server.waitForEnd(ofConnection: 0) == .closedByServer)
    }

    @Test("A server that closes its sending side continues to read")
    func closeSending() async throws {
        defer { server.stop() }
        server.on("/", readsBodyFirst: false, .answer(body: "early"), .closeSending, .readBody)
        let client = try client()
        client.sendHead("POST / HTTP/1.1", "Content-Length: 5")
        #expect(client.receiveAll().hasSuffix("early"))
        client.send("hello")
        try await server.waitForBody(5, ofRequest: 0)
        client.close()
        _ = try await server.waitForEnd(ofConnection: 0)
        #expect(server.requests.first?.isBodyComplete == true)
    }

    @Test("A greeting comes before the request")
    func greeting() throws {
        let server = try FaultServer(greeting: [.send("220 ready\r\n"), .close])
        defer { server.stop() }
        #expect(try RawClient(port: server.port).receiveAll() == "220 ready\r\n")
    }

    @Test("A script waits until its key is released, and the key stays released")
    func release() async throws {
        defer { server.stop() }
        server.on("/", .send("a"), .waitForRelease("key"), .answer(body: "b"))
        let client = try client()
        client.sendHead("GET / HTTP/1.1")
        #expect(client.receive(1) == "a")
        server.release("other")
        server.release("key")
        #expect(client.receiveBody() == "b")
        client.sendHead("GET / HTTP/1.1")
        #expect(client.receiveBody() == "b")
    }

    @Test("A script waits for bytes that no step has read, and leaves them to the next step")
    func bytesThatWait() async throws {
        defer { server.stop() }
        server.on("/", readsBodyFirst: false, .send("a"), .waitForBytes, .send("b"), .readBody, .close)
        server.on("/next", .send("c"), .waitForBytes, .send("d"))
        server.on("/closed", .send("e"), .waitForBytes, .send("f"))
        let first = try client()
        first.sendHead("POST / HTTP/1.1", "Content-Length: 5")
        #expect(first.receive(1) == "a")
        first.send("hello")
        #expect(first.receiveAll() == "b")
        #expect(server.requests.first?.body == Data("hello".utf8))
        let second = try client()
        second.sendHead("GET /next HTTP/1.1")
        #expect(second.receive(1) == "c")
        second.sendHead("GET /closed HTTP/1.1")
        #expect(second.receive(2) == "de")
        second.close()
        #expect(try await server.waitForEnd(ofConnection: 1) == .closedByClient)
    }

    // MARK: Reading

    @Test("A request is recorded with its method, target, fields and body")
    func record() async throws {
        defer { server.stop() }
        server.on("/a", .answer())
        let client = try client()
        client.sendHead("PUT /a?q HTTP/1.1", "X-A: 1", "x-a:  2\t", "Content-Length: 5", "X-B:")
        client.send("hello")
        _ = client.receive(1)
        let request = try #require(server.requests.first)
        #expect(request.method == "PUT")
        #expect(request.target == "/a?q")
        #expect(request.path == "/a")
        #expect(request.version == "HTTP/1.1")
        #expect(request.values(of: "X-a") == ["1", "2"])
        #expect(request.values(of: "X-B") == [""])
        #expect(request.values(of: "X-C") == [])
        #expect(request.fields.map(\.name) == ["X-A", "x-a", "Content-Length", "X-B"])
        #expect(request.body == Data("hello".utf8))
        #expect(request.bodyCount == 5)
        #expect(request.isBodyComplete)
        #expect(request.connection == 0)
    }

    @Test("A chunked body is assembled without extensions and trailers")
    func chunked() throws {
        defer { server.stop() }
        server.on("/", .answer(body: "read"))
        let client = try client()
        for _ in 0..<2 {
            client.sendHead("POST / HTTP/1.1", "Transfer-Encoding: chunked")
            client.send("2;a=b\r\nhe\r\n")
            client.send("3\r\nllo\r\n0\r\nX-T: 1\r\n\r\n")
            #expect(client.receiveBody() == "read")
        }
        #expect(server.requests.map(\.body) == [Data("hello".utf8), Data("hello".utf8)])
    }

    @Test("A client that expects it receives 100 Continue once")
    func expectContinue() throws {
        defer { server.stop() }
        server.on("/", .answer(body: "read"), .close)
        let client = try client()
        client.sendHead("POST / HTTP/1.1", "Expect: 100-continue", "Content-Length: 5")
        #expect(client.receive(25) == "HTTP/1.1 100 Continue\r\n\r\n")
        client.send("he")
        client.send("llo")
        #expect(client.receiveAll() == "HTTP/1.1 200 Status\r\nContent-Length: 4\r\n\r\nread")
    }

    @Test("A script may read the body later")
    func bodyLater() async throws {
        defer { server.stop() }
        server.on(
            "/", readsBodyFirst: false, .send("head"), .waitForRelease("read"),
            .readBodySlowly(2, every: .milliseconds(1)),
            .answer(body: "done"))
        let client = try client()
        client.sendHead("POST / HTTP/1.1", "Content-Length: 5")
        client.send("hello")
        #expect(client.receive(4) == "head")
        #expect(server.requests.first?.bodyCount == 0)
        #expect(server.requests.first?.isBodyComplete == false)
        server.release("read")
        #expect(client.receiveBody() == "done")
        #expect(server.requests.first?.body == Data("hello".utf8))
    }

    @Test("Pipelined requests are answered in order on one connection")
    func pipelining() throws {
        defer { server.stop() }
        server.on("*") { FaultScript([.answer(body: $0.target)]) }
        server.on("/end", .close)
        let client = try client()
        client.send((0..<5).map { "GET /\($0) HTTP/1.1\r\n\r\n" }.joined() + "GET /end HTTP/1.1\r\n\r\n")
        let answers = (0..<5).map { "HTTP/1.1 200 Status\r\nContent-Length: 2\r\n\r\n/\($0)" }.joined()
        #expect(client.receiveAll() == answers)
        #expect(server.connectionCount == 1)
    }

    @Test(
        "Bytes that are not HTTP end the connection",
        arguments: ["hello\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/1.1\r\nx\r\n\r\n"])
    func noHTTP(_ text: String) async throws {
        defer { server.stop() }
        let client = try client()
        client.send(text)
        #expect(try await server.waitForEnd(ofConnection: 0) == .invalidRequest)
        #expect(client.receive() == .end)
        #expect(server.requests.isEmpty)
    }

    // MARK: Waiting

    @Test("A test can wait for requests to one path or to all paths")
    func waiting() async throws {
        defer { server.stop() }
        server.on("*", .answer())
        async let all = server.waitForRequests(3)
        async let some = server.waitForRequests(2, at: "/a")
        let client = try client()
        for target in ["/a", "/b", "/a?x"] {
            client.sendHead("GET \(target) HTTP/1.1")
            _ = client.receiveBody()
        }
        #expect(try await all.map(\.target) == ["/a", "/b", "/a?x"])
        #expect(try await some.map(\.target) == ["/a", "/a?x"])
        try await server.waitForConnections(1)
    }

    @Test("A test that waits can be cancelled")
    func cancelledWait() async throws {
        defer { server.stop() }
        let task = Task { [server] in try await server.waitForRequests(1) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("A wait for the end of a connection throws if the server stops")
    func stoppedWait() async throws {
        let task = Task { [server] in try await server.waitForEnd(ofConnection: 7) }
        server.stop()
        await #expect(throws: FaultServer.Stopped.self) { try await task.value }
        await #expect(throws: FaultServer.Stopped.self) { try await server.waitForConnections(1) }
    }

    @Test("The server sees that a client closes while a script waits, pauses or reads")
    func closedByClient() async throws {
        defer { server.stop() }
        server.on("/wait", .send("x"), .waitForRelease("never"))
        server.on("/pause", .send("x"), .pause(.seconds(1000)))
        server.on("/read", readsBodyFirst: false, .send("x"), .readBody)
        for (number, target) in ["/wait", "/pause", "/read"].enumerated() {
            let client = try client()
            client.sendHead("POST \(target) HTTP/1.1", "Content-Length: 5")
            if target != "/read" { client.send("hello") }
            #expect(client.receive(1) == "x")
            client.close()
            #expect(try await server.waitForEnd(ofConnection: number) == .closedByClient)
        }
        #expect(server.openConnectionCount == 0)
    }

    @Test("The server sees that a client resets the connection")
    func resetByClient() async throws {
        defer { server.stop() }
        let client = try client()
        client.send("GET /")
        client.reset()
        #expect(try await server.waitForEnd(ofConnection: 0) == .resetByClient)
    }

    @Test("A client that closes while the server sends does not crash the process")
    func closedWhileSending() async throws {
        defer { server.stop() }
        server.on("/", .sendPattern(count: 100_000_000))
        for number in 0..<5 {
            let client = try client()
            client.sendHead("GET / HTTP/1.1")
            _ = client.receive(1)
            if number % 2 == 0 { client.close() } else { client.reset() }
            let end = try await server.waitForEnd(ofConnection: number)
            #expect([.closedByClient, .resetByClient].contains(end))
        }
    }

    // MARK: Stopping

    @Test("A stop closes all connections, whatever the scripts do, and refuses new ones")
    func stop() throws {
        server.on("/wait", .send("x"), .waitForRelease("never"))
        server.on("/pause", .send("x"), .pause(.seconds(1000)))
        server.on("/send", .sendPattern(count: 1_000_000_000))
        server.on("/read", readsBodyFirst: false, .send("x"), .readBody)
        let clients = try ["/wait", "/pause", "/send", "/read"].map { target in
            let client = try client()
            client.sendHead("GET \(target) HTTP/1.1", "Content-Length: 0")
            _ = client.receive(1)
            return client
        }
        let idle = try client()
        server.stop()
        server.stop()
        #expect(server.openConnectionCount == 0)
        #expect(idle.receive() != .text(""))
        #expect(throws: RawClient.Refused.self) { try RawClient(port: server.port) }
        withExtendedLifetime(clients) {}
    }

    #if os(Linux)
        @Test("A server that was stopped leaves no thread and no descriptor behind")
        func leavesNothing() async {
            await #expect(processExitsWith: .success) {
                func count(_ folder: String) throws -> Int {
                    try FileManager.default.contentsOfDirectory(atPath: folder).count
                }
                func use() throws {
                    let server = try FaultServer()
                    server.on("/", .answer(body: "hello"))
                    server.on("/wait", .send("x"), .waitForRelease("never"))
                    for number in 0..<20 {
                        let client = try RawClient(port: server.port)
                        client.sendHead("GET \(number % 2 == 0 ? "/" : "/wait") HTTP/1.1")
                        _ = client.receive(1)
                    }
                    server.stop()
                }
                try use()
                let before = (try count("/proc/self/fd"), try count("/proc/self/task"))
                for _ in 0..<5 { try use() }
                var after = (try count("/proc/self/fd"), try count("/proc/self/task"))
                // The system may list a thread for a moment after it has been joined.
                for _ in 0..<100_000 where after.0 > before.0 || after.1 > before.1 {
                    await Task.yield()
                    after = (try count("/proc/self/fd"), try count("/proc/self/task"))
                }
                precondition(
                    after.0 <= before.0 && after.1 <= before.1,
                    "\(before) descriptors and threads before, \(after) after")
            }
        }
    #endif
}
