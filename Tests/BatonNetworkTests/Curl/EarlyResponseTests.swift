#if os(Linux)
    import Baton
    import BatonNetwork
    import BatonNetworkTesting
    import BatonTesting
    import Foundation
    import FoundationNetworking
    import Testing

    /// Uploads whose response comes before the end of the body, and servers that do not read it.
    @Suite(.timeLimit(.minutes(10))) struct EarlyResponseTests {
        private func withFaults(_ body: (FaultServer) async throws -> Void) async throws {
            let faults = try FaultServer()
            defer { faults.stop() }
            try await body(faults)
        }

        /// A stream that yields these pieces and then waits until it is cancelled.
        private func quiet(_ pieces: String..., length: Int64? = nil) -> HTTPBodyStream {
            HTTPBodyStream(length: length) {
                let log = EventLog<Int>()
                return AsyncThrowingStream<Data, any Error>(unfolding: {
                    log.append(1)
                    if log.count <= pieces.count { return Data(pieces[log.count - 1].utf8) }
                    try await Gate().waitUnlessCancelled()
                    return nil
                })
            }
        }

        @Test(
            "A stalled body does not hide that the server has closed the connection, and only a deadline limits it",
            arguments: [nil, 10])
        func quietStreams(_ length: Int64?) async throws {
            try await withFaults { (faults: FaultServer) async throws -> Void in
                faults.on("/close", readsBodyFirst: false, .close)
                let closed = HTTPUpload(quiet("hello", length: length), to: faults.url("/close"))
                #expect(await failure(closed)?.reason == .connectionBroken)
                faults.on("/answer", readsBodyFirst: false, .answer(body: "enough"), .waitForRelease("never"))
                let answered = HTTPUpload(quiet("hello", length: length), to: faults.url("/answer"))
                    .timeout(.seconds(2)).deadline(.seconds(4))
                #expect(await failure(answered)?.reason == .deadlineExceeded(after: .seconds(4)))
            }
        }

        /// A transport that calls a closure when the head of a response has arrived.
        private struct HeadWatcher: HTTPTransport {
            let transport: CurlTransport
            let hasHead: @Sendable () -> Void

            func send(
                _ request: URLRequest, body: HTTPRequestBody?, sent: @escaping @Sendable (Int64) -> Void
            ) async throws -> HTTPAnswer {
                let answer = try await transport.send(request, body: body, sent: sent)
                hasHead()
                return answer
            }
        }

        /// A transfer whose body is stalled is checked every second, and this test must not need such a check. An
        /// upload that is slower than half a second is repeated, because the machine may be busy. Tests that run beside
        /// this one may keep all threads of Swift's pool, so it has a process of its own.
        @Test(
            "The end of a connection or of a response is noticed at once while the body is stalled",
            arguments: ["/close", "/closing", "/answered", "/part", "/"])
        func endsWhileStalled(_ path: String) async {
            await #expect(processExitsWith: .success) { [path] in
                let faults = try FaultServer()
                defer { faults.stop() }
                let end = FaultStep.closeAfterReading
                // The server reacts when the first piece of the body has arrived, or the client has received the head.
                faults.on("/close", readsBodyFirst: false, .waitForBytes, end)
                faults.on("/closing", readsBodyFirst: false, .waitForBytes, .answer(200, ["Connection: close"]))
                let secure = await PythonServer("http2.py", [PythonServer.certificate("good").path, "http1 drop"])
                var configuration = CurlTransport.Configuration()
                configuration.certificateAuthorities = PythonServer.certificate("authority")
                let url = path == "/" ? URL(string: "https://localhost:\(secure.port)/")! : faults.url(path)
                for length in [nil, 10] as [Int64?] {
                    var times: [Duration] = []
                    repeat {
                        let head = "head \(length ?? 0) \(times.count)"
                        faults.on("/answered", readsBodyFirst: false, .answer(), .waitForRelease(head), end)
                        faults.on(
                            "/part", readsBodyFirst: false, .answerHead(200), .send("part"), .waitForRelease(head), end)
                        let transport = HeadWatcher(transport: CurlTransport(configuration)) { faults.release(head) }
                        let upload = HTTPUpload(EarlyResponseTests().quiet("hello", length: length), to: url)
                        let began = ContinuousClock.now
                        let answer = await outcome(upload.transport(transport))
                        times.append(ContinuousClock.now - began)
                        if ["/close", "/"].contains(path) {
                            precondition(answer.httpError?.reason == .connectionBroken, "\(url): \(answer)")
                        } else {
                            let status = try answer.get().status
                            precondition(status == 200)
                        }
                        precondition(times.count < 20, "\(times)")
                    } while times[times.count - 1] > .milliseconds(500)
                }
            }
        }

        @Test("A response that arrives while the body is stalled is the response")
        func refusedStreams() async throws {
            try await withFaults { (faults: FaultServer) async throws -> Void in
                let chunked = FaultStep.send("6\r\nenough\r\n0\r\n\r\n")
                let scripts: [(String, [FaultStep])] = [
                    ("/refused", [.answer(413, body: "enough")]),
                    ("/choices", [.answer(300, body: "enough")]),
                    ("/moved", [.answer(307, ["Location: /other"], body: "enough")]),
                    ("/see-other", [.answerHead(303, ["Location: /other", "Transfer-Encoding: chunked"]), chunked]),
                    ("/refused-chunked", [.answerHead(413, ["Transfer-Encoding: chunked"]), chunked]),
                    ("/closing", [.answer(200, ["Connection: close"], body: "enough")]),
                    (
                        "/closing-chunked",
                        [.answerHead(200, ["Transfer-Encoding: chunked"]), chunked, .closeAfterReading]
                    ),
                    ("/closed", [.answerHead(200), .send("enough"), .closeAfterReading]),
                ]
                for (path, steps) in scripts {
                    faults.on(path) { _ in
                        // After the pause, the client has no more bytes to send.
                        FaultScript(
                            readsBodyFirst: false, [.pause(.milliseconds(200))] + steps + [.waitForRelease("never")])
                    }
                    let upload = HTTPUpload(quiet("hello"), to: faults.url(path)).validation(.none).redirects(.none)
                    #expect(try await outcome(upload).get().data == Data("enough".utf8), "\(path)")
                }
                faults.on(
                    "/cut", readsBodyFirst: false, .answerHead(200, ["Transfer-Encoding: chunked"]),
                    .send("6\r\neno"), .closeAfterReading)
                #expect(await failure(HTTPUpload(quiet("hello"), to: faults.url("/cut")))?.reason == .connectionBroken)
            }
        }

        @Test("A server that has closed its sending side does not mistake part of a body for the whole body")
        func halfClosedConnections() async throws {
            try await withFaults { (faults: FaultServer) async throws -> Void in
                faults.on(
                    "/", readsBodyFirst: false, .pause(.milliseconds(200)),
                    .answerHead(200, ["Transfer-Encoding: chunked"]), .send("6\r\nenough\r\n0\r\n\r\n"),
                    .closeSending, .readBody)
                let upload = HTTPUpload(quiet("hello"), to: faults.url("/"))
                #expect(try await outcome(upload).get().data == Data("enough".utf8))
                #expect(try await faults.waitForEnd(ofConnection: 0) == .closedByClient)
                let request = try #require(faults.requests.first)
                #expect(!request.isBodyComplete)
            }
        }

        @Test("A stream continues after an early response if the server does not refuse the rest")
        func earlyAnswers() async throws {
            try await withFaults { (faults: FaultServer) async throws -> Void in
                faults.on("/pause", .pause(.milliseconds(1500)), .answer())
                faults.on("/", readsBodyFirst: false, .answer(body: "enough"), .readBody)
                let pauses = faults.url("/pause")
                let log = EventLog<Int>()
                let stream = HTTPBodyStream {
                    AsyncThrowingStream<Data, any Error>(unfolding: {
                        log.append(1)
                        if log.count == 2 { _ = try await HTTPData(pauses).execute(in: OperationContext()) }
                        return log.count < 3 ? Data("hello".utf8) : nil
                    })
                }
                #expect(try await outcome(HTTPUpload(stream, to: faults.url("/"))).get().data == Data("enough".utf8))
                // The other request may have arrived first.
                let number = try #require(faults.requests.firstIndex { $0.method == "POST" })
                try await faults.waitForBody(10, ofRequest: number)
                #expect(faults.requests[number].body == Data("hellohello".utf8))
            }
        }

        @Test("One pass over a stream ends before a redirect begins the next")
        func passesOfStreams() async throws {
            try await withFaults { (faults: FaultServer) async throws -> Void in
                let log = EventLog<String>()
                faults.on("/first", readsBodyFirst: false, .answer(307, ["Location: /second"]))
                faults.on("/second", .answer())
                let stream = HTTPBodyStream {
                    let isFirst = log.count == 0
                    log.append("begins")
                    let count = EventLog<Int>()
                    return AsyncStream<Data>(unfolding: {
                        count.append(1)
                        if count.count == 1 { return Data("hello".utf8) }
                        if isFirst {
                            do { try await Gate().waitUnlessCancelled() } catch { log.append("ends") }
                        }
                        return nil
                    })
                }
                #expect(try await outcome(HTTPUpload(stream, to: faults.url("/first"))).get().status == 200)
                // The first pass may have ended before it was asked for a second piece.
                #expect([["begins", "ends", "begins"], ["begins", "begins"]].contains(log.events))
            }
        }

        @Test("A failed expectation is the response, and the request is not sent again", arguments: ["PUT", "POST"])
        func expectations(_ method: String) async throws {
            try await withFaults { (faults: FaultServer) async throws -> Void in
                faults.on("/") { _ in
                    FaultScript(readsBodyFirst: false, saysContinue: false, [.answer(417, body: "no")])
                }
                let upload = HTTPUpload(Data("hello".utf8), to: faults.url("/")).method(method)
                    .header("Expect", "100-continue").validation(.none)
                #expect(try await outcome(upload).get().status == 417)
                #expect(try await faults.waitForRequests(1).count == 1)
            }
        }

        @Test(
            "A response that comes instead of 100 ends the connection, on which the server waits for the body",
            arguments: [5, nil])
        func superfluousBodies(_ length: Int64?) async throws {
            try await withFaults { (faults: FaultServer) async throws -> Void in
                faults.on("/early") { _ in
                    FaultScript(readsBodyFirst: false, saysContinue: false, [.answer(body: "early")])
                }
                faults.on("*", .answer(body: "whole"))
                let transport = CurlTransport()
                let stream = HTTPBodyStream(length: length) {
                    AsyncStream { stream in
                        stream.yield(Data("hello".utf8))
                        stream.finish()
                    }
                }
                let upload = { (path: String) in
                    HTTPUpload(stream, to: faults.url(path)).header("Expect", "100-continue").transport(transport)
                }
                #expect(try await outcome(upload("/early")).get().data == Data("early".utf8))
                let page = HTTPData(faults.url("/next")).transport(transport)
                #expect(try await outcome(page).get().data == Data("whole".utf8))
                #expect(try await faults.waitForEnd(ofConnection: 0) == .closedByClient)
                #expect(faults.requests.map(\.bodyCount) == [0, 0])
                // A connection is kept if the server asks for the body.
                for _ in 0..<2 { #expect(try await outcome(upload("/asked")).get().data == Data("whole".utf8)) }
                #expect(faults.requests.map(\.connection) == [0, 1, 1, 1])
                #expect(faults.requests.map(\.bodyCount) == [0, 0, 5, 5])
            }
        }

        @Test("No body is sent after a response that came instead of 100, however long that response takes")
        func slowResponsesInsteadOfContinue() async throws {
            try await withFaults { (faults: FaultServer) async throws -> Void in
                // libcurl waits for 100 for one second.
                faults.on("/early") { _ in
                    FaultScript(
                        readsBodyFirst: false, saysContinue: false,
                        [
                            .answerHead(200, ["Content-Length: 5"]), .send("ea"), .pause(.milliseconds(1_200)),
                            .send("rly"),
                        ])
                }
                let upload = HTTPUpload(Data(count: 5_000_000), to: faults.url("/early"))
                    .header("Expect", "100-continue").transport(CurlTransport())
                #expect(try await outcome(upload).get().data == Data("early".utf8))
                #expect(try await faults.waitForEnd(ofConnection: 0) == .closedByClient)
                #expect(faults.requests.map(\.bodyCount) == [0])
            }
        }

        @Test("An upload that the server does not read ends at the idle limit")
        func uploadsThatNobodyReads() async throws {
            try await withFaults { (faults: FaultServer) async throws -> Void in
                faults.on("/", readsBodyFirst: false, .waitForRelease("never"))
                let upload = HTTPUpload(Data(count: 30_000_000), to: faults.url("/")).timeout(.milliseconds(200))
                #expect(await failure(upload)?.reason == .timedOut(after: .milliseconds(200)))
            }
        }
    }
#endif
