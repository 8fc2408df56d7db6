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

        private func moment(_ seconds: Int) -> TestClock.Instant { TestClock.Instant(sinceStart: .seconds(seconds)) }

        @Test("The idle limit is measured by the clock of the queue", arguments: [false, true])
        func idleLimits(_ isWrapped: Bool) async throws {
            defer { faults.stop() }
            faults.on("/quiet", .waitForRelease("never"))
            let page = HTTPData(faults.url("/quiet")).timeout(.seconds(1000))
            let operation = start(isWrapped ? page.transport(Wrapper()) : page)
            _ = try await faults.waitForRequests(1)
            await clock.waitForSleepers(count: 1)
            #expect(clock.nextDeadline == moment(1000))
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
            await clock.waitForSleepers(count: 1)
            #expect(clock.nextDeadline == moment(100))
            clock.advance(to: moment(100))
            #expect(await failure(operation) == .timedOut(after: .seconds(60)))
        }

        @Test("Bytes of an unfinished line of the head begin the idle limit again")
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
            await clock.waitForSleepers(count: 1)
            #expect(clock.nextDeadline == moment(120))
            faults.release("2")
            #expect(try await operation.value.data == Data("ok".utf8))
        }

        /// Sends other requests, which take long enough for bytes of the server to arrive.
        private func waitForAWhile() async throws {
            for _ in 0..<100 { _ = try await server.log("nobody") }
        }

        @Test("An upload whose server does not answer fails at the idle limit of the clock")
        func uploads() async throws {
            defer { faults.stop() }
            faults.on("/upload", readsBodyFirst: false, .readBody, .waitForRelease("never"))
            let operation = start(HTTPUpload(Data(count: 100_000), to: faults.url("/upload")).timeout(.seconds(60)))
            try await faults.waitForBody(100_000, ofRequest: 0)
            // The limit begins at the check that finds that the server has the bytes, which may be the first one.
            let advancing = Task {
                while !Task.isCancelled {
                    await clock.waitForSleepers(count: 1)
                    if let next = clock.nextDeadline { clock.advance(to: next) }
                }
            }
            #expect(await failure(operation) == .timedOut(after: .seconds(60)))
            #expect([moment(60), moment(120)].contains(clock.now))
            advancing.cancel()
            await advancing.value
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
                "/slow", .answerHead(200, ["Content-Length: 10000"]), .sendPattern(count: 1000), .waitForRelease("1"),
                .sendPattern(count: 999), .waitForRelease("never"))
            let page = HTTPData(faults.url("/slow")).transport(transport).timeout(.seconds(1000))
            let operation = start(page)
            await waitForProgress(1000, of: operation)
            await clock.waitForSleepers(count: 1)
            // 1,000 bytes in ten seconds are enough, and 999 are not.
            clock.advance(to: moment(10))
            await clock.waitForSleepers(count: 1)
            #expect(clock.nextDeadline == moment(20))
            faults.release("1")
            await waitForProgress(1999, of: operation)
            clock.advance(to: moment(20))
            #expect(await failure(operation) == .tooSlow(bytesPerSecond: 100, over: .seconds(10)))
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
