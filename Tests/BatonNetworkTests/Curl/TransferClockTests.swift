#if os(Linux)
    import Baton
    import BatonNetworkTesting
    import BatonTesting
    import Foundation
    import FoundationNetworking
    import Testing

    @testable import BatonNetwork

    /// Limits of requests by the clock of the operation's queue, in virtual time.
    @Suite(.timeLimit(.minutes(10))) struct TransferClockTests {
        private let clock = TestClock()
        private let faults: FaultServer

        init() throws { faults = try FaultServer() }

        /// Adds an operation to a queue with the test clock.
        private func start<P: Procedure>(_ procedure: P) -> AsyncOperation<P.Output> {
            let operation = AsyncOperation(procedure)
            AsyncOperationQueue(clock: clock).add(operation)
            return operation
        }

        private func failure<Output>(_ operation: AsyncOperation<Output>) async -> HTTPError.Reason? {
            _ = try? await operation.value
            return operation.result?.httpError?.reason
        }

        private func waitForProgress(_ count: Int, of operation: AnyOperation) async {
            for await progress in operation.progressUpdates where progress.completedUnitCount >= count { return }
        }

        /// Moves the clock from one deadline to the next until the operation has finished, and returns its error.
        private func failureWhileTimePasses<Output>(_ operation: AsyncOperation<Output>) async -> HTTPError.Reason? {
            let advancing = Task {
                while !Task.isCancelled {
                    await clock.waitForSleepers(count: 1)
                    if let next = clock.nextDeadline { clock.advance(to: next) }
                }
            }
            defer { advancing.cancel() }
            return await failure(operation)
        }

        /// Returns the time at which the limits of an operation's request are checked next, or nil if the operation has
        /// finished.
        private func nextCheck<Output>(of operation: AsyncOperation<Output>) async -> TestClock.Instant? {
            while operation.result == nil {
                if let next = clock.nextDeadline { return next }
                await Task.yield()
            }
            return nil
        }

        private func moment(_ seconds: Int) -> TestClock.Instant { TestClock.Instant(sinceStart: .seconds(seconds)) }

        @Test("The idle limit is measured by the clock of the queue", arguments: [false, true])
        func idleLimits(_ isWrapped: Bool) async throws {
            defer { faults.stop() }
            faults.on("/quiet", .waitForRelease("never"))
            let page = HTTPData(faults.url("/quiet")).timeout(.seconds(1000))
            let operation = start(isWrapped ? page.transport(Wrapper()) : page)
            _ = try await faults.waitForRequests(1)
            #expect(await nextCheck(of: operation) == moment(1000))
            clock.advance(by: .seconds(999))
            #expect(clock.sleeperCount == 1)
            clock.advance(by: .seconds(1))
            #expect(await failure(operation) == .timedOut(after: .seconds(1000)))
            #expect(clock.sleeperCount == 0)
        }

        /// A transport of the user's that passes requests on to another one.
        private struct Wrapper: HTTPTransport {
            func send(
                _ request: URLRequest, body: HTTPRequestBody?, sent: @escaping @Sendable (Int64) -> Void
            ) async throws -> HTTPAnswer {
                try await CurlTransport.shared.send(request, body: body, sent: sent)
            }
        }

        @Test("A host that does not answer fails at the idle limit of the clock, and not before")
        func connecting() async throws {
            let server = await TestServer()
            defer { server.stop() }
            let silent = SilentAddresses(port: UInt16(server.port)!, count: 1)
            let url = server.url("/", host: silent.texts[0])
            let operation = start(HTTPData(url).timeout(.seconds(1000)))
            await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(1000))
            #expect(await failure(operation) == .timedOut(after: .seconds(1000)))
            withExtendedLifetime(silent) {}
        }

        @Test("Bytes of the body begin the idle limit again, at the time of the clock")
        func activity() async throws {
            defer { faults.stop() }
            faults.on(
                "/parts", .answerHead(200, ["Content-Length: 3"]), .waitForRelease("1"), .send("a"),
                .waitForRelease("2"))
            let operation = start(HTTPData(faults.url("/parts")).timeout(.seconds(60)))
            _ = try await faults.waitForRequests(1)
            await clock.waitForSleepers(count: 1)
            clock.advance(to: moment(40))
            faults.release("1")
            await waitForProgress(1, of: operation)
            clock.advance(to: moment(60))
            #expect(await nextCheck(of: operation) == moment(100))
            clock.advance(to: moment(100))
            #expect(await failure(operation) == .timedOut(after: .seconds(60)))
        }

        @Test("Bytes of an unfinished line of the head begin the idle limit again, when they arrive")
        func slowHeads() async throws {
            defer { faults.stop() }
            faults.on(
                "/head", .waitForRelease("1"), .send("HTTP/1.1 2"), .waitForRelease("2"),
                .send("00 OK\r\nContent-Length: 2\r\n\r\nok"))
            let operation = start(HTTPData(faults.url("/head")).timeout(.seconds(60)))
            _ = try await faults.waitForRequests(1)
            await clock.waitForSleepers(count: 1)
            clock.advance(to: moment(59))
            faults.release("1")
            try await waitForAWhile()
            clock.advance(to: moment(60))
            #expect(await nextCheck(of: operation) == moment(119))
            faults.release("2")
            #expect(try await operation.value.data == Data("ok".utf8))
        }

        /// Sends other requests, which take long enough for bytes of the server to arrive, and for the transport to
        /// look at all connections, which it does every 20 ms.
        private func waitForAWhile() async throws {
            let began = ContinuousClock.now
            for number in 0... {
                if number >= 100, ContinuousClock.now - began > .milliseconds(100) { return }
                _ = try await server.log("nobody")
            }
        }

        @Test("An upload whose server does not answer fails at the idle limit of the clock")
        func uploads() async throws {
            defer { faults.stop() }
            faults.on("/upload", readsBodyFirst: false, .readBody, .waitForRelease("never"))
            let operation = start(HTTPUpload(Data(count: 100_000), to: faults.url("/upload")).timeout(.seconds(60)))
            try await faults.waitForBody(100_000, ofRequest: 0)
            // The system of the server acknowledges the last bytes within 40 ms.
            try await waitForAWhile()
            #expect(await failureWhileTimePasses(operation) == .timedOut(after: .seconds(60)))
            #expect(clock.now == moment(60))
        }

        @Test(
            "A stream that pauses after the response has begun, or has arrived, does not use up the idle limit",
            arguments: [false, true])
        func pausesAfterResponses(_ isWhole: Bool) async throws {
            defer { faults.stop() }
            let chunked = [
                FaultStep.answerHead(200, ["Transfer-Encoding: chunked"]), .readBody, .send("6\r\nenough\r\n0\r\n\r\n"),
            ]
            faults.on("/") { _ in
                FaultScript(readsBodyFirst: false, isWhole ? [.answer(body: "enough"), .readBody] : chunked)
            }
            let (gate, made) = (Gate(), EventLog<Int>())
            let stream = HTTPBodyStream {
                AsyncThrowingStream<Data, any Error>(unfolding: {
                    made.append(1)
                    if made.count == 2 { try await gate.waitUnlessCancelled() }
                    return made.count < 3 ? Data("hello".utf8) : nil
                })
            }
            let operation = start(HTTPUpload(stream, to: faults.url("/")).timeout(.seconds(60)))
            try await faults.waitForBody(5, ofRequest: 0)
            try await waitForAWhile()
            for time in [60, 120, 1000] {
                clock.advance(to: moment(time))
                try await waitForAWhile()
            }
            #expect(operation.result == nil)
            gate.open()
            #expect(try await operation.value.data == Data("enough".utf8))
            try await faults.waitForBody(10, ofRequest: 0)
            #expect(faults.requests[0].body == Data("hellohello".utf8))
        }

        @Test("A server that has the whole response, and does not read the body, does not make the upload a success")
        func unreadBodies() async throws {
            defer { faults.stop() }
            faults.on("/", readsBodyFirst: false, .answer(body: "enough"), .waitForRelease("never"))
            let operation = start(HTTPUpload(Data(count: 5_000_000), to: faults.url("/")).timeout(.seconds(60)))
            _ = try await faults.waitForRequests(1)
            // Bytes that the server's system takes meanwhile begin the limit again.
            #expect(await failureWhileTimePasses(operation) == .timedOut(after: .seconds(60)))
        }

        @Test("Bytes that the peer acknowledges begin the idle limit again, also after an early response head")
        func acknowledgements() async throws {
            faults.stop()
            let (server, transport, count) = (SlowReader(), CurlTransport(), 120_000)
            let operation = start(
                HTTPUpload(Data(count: count), to: server.url).transport(transport).timeout(.seconds(60)))
            let connection = await server.accept()
            // libcurl has then passed the whole body to the system, which tells of nothing else than what it receives.
            await waitForProgress(count, of: operation)
            try await waitForAWhile()
            clock.advance(to: moment(59))
            await connection.read(100_000)
            try await waitForAWhile()
            clock.advance(to: moment(60))
            #expect(await nextCheck(of: operation) == moment(119))
            await connection.read(20_000)
            connection.send("2\r\nok\r\n0\r\n\r\n")
            #expect(try await operation.value.data == Data("ok".utf8))
        }

        @Test("Bytes of a proxy's answer begin the idle limit again, although there is no connection to the host yet")
        func tunnels() async throws {
            defer { faults.stop() }
            faults.on("localhost:443", .waitForRelease("1"), .send("HTTP/1.1 4"), .waitForRelease("never"))
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .address("http://127.0.0.1:\(faults.port)")
            let page = HTTPData("https://localhost/").transport(CurlTransport(configuration))
            let operation = start(page.timeout(.seconds(60)))
            _ = try await faults.waitForRequests(1)
            await clock.waitForSleepers(count: 1)
            clock.advance(to: moment(59))
            faults.release("1")
            try await waitForAWhile()
            clock.advance(to: moment(60))
            #expect(await nextCheck(of: operation) == moment(119))
            clock.advance(to: moment(119))
            #expect(await failure(operation) == .timedOut(after: .seconds(60)))
        }

        @Test("The deadline is measured by the clock of the queue")
        func deadlines() async throws {
            defer { faults.stop() }
            faults.on("/quiet", .waitForRelease("never"))
            let folder = try TestFolder()
            let page = HTTPData(faults.url("/quiet")).deadline(.seconds(10))
            let file = HTTPDownload(faults.url("/quiet"), to: folder.file("file")).deadline(.seconds(10))
            let upload = HTTPUpload(Data("x".utf8), to: faults.url("/quiet")).deadline(.seconds(10))
            clock.advance(by: .seconds(1))
            let operations: [AnyOperation] = [start(page), start(file), start(upload)]
            _ = try await faults.waitForRequests(3)
            // Each request has a deadline and an idle limit.
            await clock.waitForSleepers(count: 6)
            #expect(clock.nextDeadline == moment(11))
            clock.advance(by: .seconds(10))
            for operation in operations {
                try await operation.waitUntilFinished()
                let error = operation.error?.underlyingError as? HTTPError
                #expect(error?.reason == .deadlineExceeded(after: .seconds(10)))
            }
            #expect(clock.sleeperCount == 0)
        }

        @Test("The clock of the options takes precedence over that of the queue")
        func clockOfTheOptions() async throws {
            defer { faults.stop() }
            faults.on("/quiet", .waitForRelease("never"))
            var page = HTTPData(faults.url("/quiet")).timeout(.seconds(60))
            let other = TestClock()
            page.options.clock = other
            let operation = start(page)
            // The limit begins again when the request has been sent.
            _ = try await faults.waitForRequests(1)
            try await waitForAWhile()
            await other.waitForSleepers(count: 1)
            clock.advance(by: .seconds(1000))
            #expect(operation.result == nil && clock.sleeperCount == 0)
            other.advance(by: .seconds(60))
            #expect(await failure(operation) == .timedOut(after: .seconds(60)))
        }

        @Test("The lowest speed is measured by the clock of the queue")
        func lowestSpeeds() async throws {
            defer { faults.stop() }
            var configuration = CurlTransport.Configuration()
            configuration.lowestSpeed = .init(bytesPerSecond: 100, over: .seconds(10))
            let transport = CurlTransport(configuration)
            faults.on(
                "/slow", .answerHead(200, ["Content-Length: 10000"]), .waitForRelease("1"), .sendPattern(count: 1000),
                .waitForRelease("2"), .sendPattern(count: 999), .waitForRelease("never"))
            let page = HTTPData(faults.url("/slow")).transport(transport).timeout(.seconds(1000))
            let operation = start(page)
            _ = try await faults.waitForRequests(1)
            await clock.waitForSleepers(count: 1)
            clock.advance(to: moment(5))
            faults.release("1")
            await waitForProgress(1000, of: operation)
            // 1,000 bytes in ten seconds are enough, and 999 are not.
            clock.advance(to: moment(10))
            #expect(await nextCheck(of: operation) == moment(15))
            faults.release("2")
            await waitForProgress(1999, of: operation)
            clock.advance(to: moment(15))
            #expect(await failure(operation) == .tooSlow(bytesPerSecond: 100, over: .seconds(10)))
        }

        @Test("An upload whose stream is slower than the lowest speed fails, although pieces come again and again")
        func slowStreams() async throws {
            defer { faults.stop() }
            faults.on("/", .answer(body: "late"))
            var configuration = CurlTransport.Configuration()
            configuration.lowestSpeed = .init(bytesPerSecond: 100, over: .seconds(10))
            let (pieces, continuation) = AsyncStream.makeStream(of: Data.self)
            let upload = HTTPUpload(HTTPBodyStream { pieces }, to: faults.url("/"))
                .transport(CurlTransport(configuration)).timeout(.seconds(3))
            let operation = start(upload)
            _ = try await faults.waitForRequests(1)
            for second in 1...10 {
                continuation.yield(Data(count: 99))
                try await faults.waitForBody(99 * second, ofRequest: 0)
                try await waitForAWhile()
                #expect(operation.result == nil)
                clock.advance(to: moment(second))
            }
            #expect(await nextCheck(of: operation) == nil)
            continuation.finish()
            #expect(await failure(operation) == .tooSlow(bytesPerSecond: 100, over: .seconds(10)))
        }

        @Test("Bytes of an upload count towards the lowest speed when the peer acknowledges them")
        func acknowledgedSpeeds() async throws {
            faults.stop()
            var configuration = CurlTransport.Configuration()
            configuration.lowestSpeed = .init(bytesPerSecond: 100, over: .seconds(10))
            let (server, count) = (SlowReader(), 120_000)
            let upload = HTTPUpload(Data(count: count), to: server.url).transport(CurlTransport(configuration))
            let operation = start(upload.timeout(.seconds(1000)))
            let connection = await server.accept()
            // libcurl has then passed the whole body to the system, which sends it when the server reads.
            await waitForProgress(count, of: operation)
            try await waitForAWhile()
            clock.advance(to: moment(9))
            await connection.read(60_000)
            try await waitForAWhile()
            clock.advance(to: moment(18))
            try await waitForAWhile()
            #expect(operation.result == nil)
            clock.advance(to: moment(40))
            #expect(await failure(operation) == .tooSlow(bytesPerSecond: 100, over: .seconds(10)))
        }

        @Test("Bytes that cannot be unpacked yet count towards the lowest speed")
        func speedOfPackedBodies() async throws {
            defer { faults.stop() }
            var configuration = CurlTransport.Configuration()
            configuration.lowestSpeed = .init(bytesPerSecond: 100, over: .seconds(10))
            let transport = CurlTransport(configuration)
            let content = PatternBytes.data(100_000)
            let packed = zstdBlock(content)
            faults.on(
                "/", .answerHead(200, ["Content-Encoding: zstd", "Content-Length: \(packed.count)"]),
                .waitForRelease("1"), .send(packed.prefix(1000)), .waitForRelease("2"), .send(packed.dropFirst(1000)))
            let operation = start(HTTPData(faults.url("/")).transport(transport).timeout(.seconds(1000)))
            _ = try await faults.waitForRequests(1)
            await clock.waitForSleepers(count: 1)
            clock.advance(to: moment(5))
            faults.release("1")
            try await waitForAWhile()
            clock.advance(to: moment(10))
            #expect(await nextCheck(of: operation) == moment(15))
            faults.release("2")
            #expect(try await operation.value.data == content)
        }

        /// Returns a frame of zstd with a single block, which is unpacked only when it is complete (RFC 8878, 3.1.1).
        private func zstdBlock(_ content: Data) -> Data {
            func number(_ value: Int) -> [UInt8] { (0..<3).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
            // Literals that are stored as they are, and no sequences.
            let block = Data(number(content.count << 4 | 0b1100)) + content + [0]
            return Data([0x28, 0xb5, 0x2f, 0xfd, 0, 0x50] + number(block.count << 3 | 0b101)) + block
        }

        @Test("A request that succeeds, or is cancelled, leaves no sleeper on the clock")
        func noSleepers() async throws {
            defer { faults.stop() }
            faults.on("/page", .answer(body: "page"))
            faults.on("/quiet", .waitForRelease("never"))
            let page = start(HTTPData(faults.url("/page")).deadline(.seconds(10)))
            #expect(try await page.value.data == Data("page".utf8))
            #expect(clock.sleeperCount == 0)
            let quiet = start(HTTPData(faults.url("/quiet")))
            _ = try await faults.waitForRequests(1, at: "/quiet")
            await clock.waitForSleepers(count: 1)
            quiet.cancel()
            try await quiet.waitUntilFinished()
            #expect(clock.sleeperCount == 0)
        }

        @Test("A slow reader does not use up the limits of the clock")
        func slowReaders() async throws {
            defer { faults.stop() }
            let count = 4_000_000
            faults.on("/large", .answerHead(200, ["Content-Length: \(count)"]), .sendPattern(count: count))
            var configuration = CurlTransport.Configuration()
            configuration.lowestSpeed = .init(bytesPerSecond: 1, over: .seconds(10))
            let (transport, request) = (CurlTransport(configuration), URLRequest(url: faults.url("/large")))
            let answer = try await TransferTime.measured(by: TimeSource(clock)) {
                try await transport.send(request, body: nil) { _ in }
            }
            try await waitForAWhile()
            clock.advance(by: .seconds(1000))
            try await waitForAWhile()
            var received = 0
            for try await piece in answer.body { received += piece.count }
            #expect(received == count)
        }
    }
#endif
