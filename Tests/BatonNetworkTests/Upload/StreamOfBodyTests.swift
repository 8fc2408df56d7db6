import Baton
import BatonNetworkTesting
import BatonTesting
import Foundation
import Testing

@testable import BatonNetwork

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A stream that a body sends may add operations to the queue of the body, wait for them, and block its thread. It does
/// so as a part of the body.
@Suite("What a stream runs and awaits, while a body sends it", .timeLimit(.minutes(10))) struct StreamOfBodyTests {
    /// Makes an upload whose stream has one piece.
    private func upload(_ makePiece: @escaping @Sendable () async throws -> Data) -> HTTPUpload {
        let stream = HTTPBodyStream {
            let isMade = EventLog<Bool>()
            return AsyncThrowingStream<Data, any Error>(unfolding: {
                if isMade.count > 0 { return nil }
                isMade.append(true)
                return try await makePiece()
            })
        }
        return HTTPUpload(stream, to: server.url("/upload"))
    }

    private func count(_ response: HTTPResponse) throws -> Int {
        try JSONDecoder().decode(UploadSeen.self, from: response.data).count
    }

    private static func isRunning(on executor: any TaskExecutor) -> Bool {
        withUnsafeCurrentTask { $0?.unownedTaskExecutor == executor.asUnownedTaskExecutor() }
    }

    @Test("It runs on the executor of the queue")
    func executors() async throws {
        let executor = ThreadExecutor(threads: 1)
        let queue = AsyncOperationQueue(executor: executor)
        let isThere = EventLog<Bool>()
        let response = try await queue.run(
            AsyncOperation(
                upload {
                    isThere.append(Self.isRunning(on: executor))
                    return Data("hello".utf8)
                }))
        #expect(try count(response) == 5)
        #expect(isThere.events == [true])
    }

    @Test("If a task calls a transport directly, the stream runs on the executor that the task prefers")
    func preferredExecutors() async throws {
        let executor = ThreadExecutor(threads: 1)
        let isThere = EventLog<Bool>()
        let upload = upload {
            isThere.append(Self.isRunning(on: executor))
            return Data("hello".utf8)
        }
        let answer = try await withTaskExecutorPreference(executor) {
            try await DefaultHTTPTransport().send(upload.options.request, body: upload.body) { _ in }
        }
        for try await _ in answer.body {}
        #expect(isThere.events == [true])
    }

    @Test("Operations that it runs get the permit of the body, with and without a deadline", arguments: [false, true])
    func permits(_ hasDeadline: Bool) async throws {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let upload = upload { try await queue.run(AsyncOperation("piece") { Data("hello".utf8) }) }
        let response = try await queue.run(AsyncOperation(hasDeadline ? upload.deadline(.seconds(600)) : upload))
        #expect(try count(response) == 5)
    }

    @Test("If it awaits the operation whose body sends it, that is a cycle")
    func cycles() async {
        let uploads = EventLog<AsyncOperation<HTTPResponse>>()
        let upload = upload { try await uploads.events[0].value.data }
        let operation = AsyncOperation(upload)
        uploads.append(operation)
        await #expect {
            try await AsyncOperationQueue().run(operation)
        } throws: { error in
            if case .failed(let error)? = error as? OperationError, case .dependencyCycle? = error as? OperationError {
                true
            } else {
                false
            }
        }
        uploads.clear()
    }

    @Test("Operations that it runs begin before a barrier that was added after the body")
    func barriers() async throws {
        let queue = AsyncOperationQueue()
        let (hasBarrier, log) = (Gate(), EventLog<String>())
        let upload = upload {
            await hasBarrier.wait()
            return try await queue.run(
                AsyncOperation("piece") {
                    log.append("piece")
                    return Data("hello".utf8)
                })
        }
        let operation = queue.add(AsyncOperation(upload))
        queue.addBarrier("barrier") { log.append("barrier") }
        hasBarrier.open()
        #expect(try await count(operation.value) == 5)
        await queue.waitUntilIdle()
        #expect(log.events == ["piece", "barrier"])
    }

    @Test("It may run operations while the queue drains")
    func drains() async throws {
        let queue = AsyncOperationQueue()
        let (hasBegun, isDraining) = (Gate(), Gate())
        let operation = queue.add(
            AsyncOperation(
                upload {
                    hasBegun.open()
                    await isDraining.wait()
                    return try await queue.run(AsyncOperation("piece") { Data("hello".utf8) })
                }))
        await hasBegun.wait()
        async let drained: Void = queue.drain()
        while !queue.isShuttingDown { await Task.yield() }
        isDraining.open()
        #expect(try await count(operation.value) == 5)
        await drained
    }

    @Test("The request does not return before the end of its stream, also if it fails early")
    func earlyFailures() async throws {
        let faults = try FaultServer()
        defer { faults.stop() }
        faults.on("/", readsBodyFirst: false, .waitForRelease("begun"), .answerHead(200, ["Content-Length: 100"]))
        let log = EventLog<String>()
        let stream = upload {
            log.append("begun")
            faults.release("begun")
            try? await Gate().waitUnlessCancelled()
            for _ in 0..<1000 { await Task.yield() }
            log.append("ended")
            return Data()
        }.body
        var request = URLRequest(url: faults.url("/"))
        request.httpMethod = "POST"
        let upload = HTTPUpload(stream, with: request).sizeLimit(10)
        #expect(await failure(upload)?.reason == .bodyTooLarge(limit: 10))
        #expect(log.events == ["begun", "ended"])
    }

    // MARK: Requests that a stream sends

    /// Makes a body whose pieces end with the error of a GET.
    private func failingBody(_ faults: FaultServer, byOperation: Bool) -> HTTPRequestBody {
        faults.on("/short", .answerHead(200, ["Content-Length: 100"]), .send("abc"), .close)
        faults.on("/form", .answer())
        if byOperation {
            return upload {
                let page = AsyncOperation(HTTPData(faults.url("/short")))
                return try await AsyncOperationQueue().run(page).data
            }.body
        }
        return .stream(
            HTTPBodyStream {
                let request = URLRequest(url: faults.url("/short"))
                return try await DefaultHTTPTransport().send(request, body: nil) { _ in }.body
            })
    }

    @Test(
        "If it fails with the error of a GET, the method of its own request says whether that is sent again",
        arguments: [false, true], ["POST", "PUT"])
    func errorsOfOtherRequests(_ byOperation: Bool, _ method: String) async throws {
        let faults = try FaultServer()
        defer { faults.stop() }
        let body = failingBody(faults, byOperation: byOperation)
        var request = URLRequest(url: faults.url("/form"))
        request.httpMethod = method
        let operation = AsyncOperation(HTTPUpload(body, with: request)).retryHTTP(attempts: 3, .immediately)
        guard case .failure(let error) = await outcome(of: operation) else {
            Issue.record("it has succeeded")
            return
        }
        let root = try #require(error.underlyingError as? HTTPError)
        #expect(root.method == "GET" && root.url == faults.url("/short").absoluteString && root.isTransient)
        #expect(operation.attempts.count == (method == "POST" ? 1 : 3))
    }

    @Test("If it fails with the error of a GET after a redirect, the error still names the GET")
    func errorsOfOtherRequestsAfterRedirects() async throws {
        let faults = try FaultServer()
        defer { faults.stop() }
        let body = failingBody(faults, byOperation: false)
        faults.on("/moved", readsBodyFirst: false, .answer(307, ["Location: /form", "Connection: close"]), .close)
        let passes = EventLog<Int>()
        let stream = HTTPBodyStream { () -> AsyncThrowingStream<Data, any Error> in
            passes.append(passes.count)
            if passes.count == 1 { return AsyncThrowingStream { $0.finish() } }
            let (stream, continuation) = AsyncThrowingStream.makeStream(of: Data.self)
            do {
                try await body.stream?.pass(for: URLRequest(url: faults.url("/form"))).send { piece in
                    continuation.yield(piece)
                    return true
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
            return stream
        }
        let upload = AsyncOperation(HTTPUpload(stream, to: faults.url("/moved"))).retryHTTP(attempts: 3, .immediately)
        let error = try #require(await outcome(of: upload).httpError)
        #expect(error.method == "GET" && error.url == faults.url("/short").absoluteString)
        #expect(error.redirectedTo == nil && upload.attempts.count == 1)
    }

    @Test("If it fails with the error of a refused GET after the deadline of the upload, the deadline is the error")
    func refusalsAfterDeadlines() async throws {
        let (clock, hasBegun) = (TestClock(), Gate())
        let upload = upload {
            hasBegun.open()
            try? await Gate().waitUnlessCancelled()
            throw HTTPError(.refused(.init(status: 503)), URLRequest(url: server.url("/page")))
        }
        // A transport may report the error of a stream although the request has been cancelled meanwhile.
        let transport = StubTransport { [body = upload.body] request in
            try await body.stream?.pass(for: request).send { _ in true }
            return HTTPAnswer()
        }
        let operation = AsyncOperation(upload.transport(transport).deadline(.seconds(60), clock: clock))
        AsyncOperationQueue().add(operation)
        await hasBegun.wait()
        clock.advance(by: .seconds(60))
        #expect(await outcome(of: operation).httpError?.reason == .deadlineExceeded(after: .seconds(60)))
    }

    #if os(Linux)
        @Test("If it fails with the error of a GET, the proxy of the upload is not named as that of the GET")
        func proxiesOfOtherRequests() async throws {
            let faults = try FaultServer()
            defer { faults.stop() }
            faults.on("*", .answer())
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .address("http://127.0.0.1:\(faults.port)")
            let upload = upload { throw HTTPError(.connectionBroken, URLRequest(url: faults.url("/page"))) }
            let error = await failure(upload.transport(CurlTransport(configuration)))
            #expect(error?.reason == .connectionBroken && error?.url == faults.url("/page").absoluteString)
            #expect(error?.proxy == nil)
        }
    #endif

    @Test("A redirect with a long body ends the pass that it interrupts before the next one begins")
    func passesAfterRedirects() async throws {
        let faults = try FaultServer()
        defer { faults.stop() }
        faults.on(
            "/early", readsBodyFirst: false, .waitForRelease("begun"),
            .answerHead(307, ["Location: /form", "Content-Length: 200000"]), .send(Data(count: 200_000)),
            .waitForRelease("never"))
        faults.on("/form", .answer())
        let log = EventLog<String>()
        let stream = HTTPBodyStream {
            log.append("begun")
            let isSecond = log.count > 1
            return AsyncStream<Data>(unfolding: {
                if isSecond { return nil }
                faults.release("begun")
                try? await Gate().waitUnlessCancelled()
                for _ in 0..<1000 { await Task.yield() }
                log.append("ended")
                return nil
            })
        }
        #expect(try await outcome(HTTPUpload(stream, to: faults.url("/early"))).get().status == 200)
        #expect(log.events == ["begun", "ended", "begun"])
    }

    @Test("Its requests have none of the limits of the request that sends it", arguments: [nil, 0] as [Int64?])
    func taskLocals(_ length: Int64?) async throws {
        for transport in Transports.all {
            let isOutside = EventLog<Bool>()
            let note: @Sendable () -> Void = {
                isOutside.append(
                    TransferDeadline.current == nil && TransferTime.current == nil && UploadScope.current == nil)
            }
            let stream = HTTPBodyStream(length: length) {
                note()
                return AsyncStream<Data>(unfolding: {
                    note()
                    return nil
                })
            }
            let upload = HTTPUpload(stream, to: server.url("/upload")).deadline(.seconds(600), clock: TestClock())
            #expect(try await outcome(upload.transport(transport)).get().status == 200)
            #expect(isOutside.events == [true, true], "\(transport)")
        }
    }
}
