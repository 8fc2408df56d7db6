#if os(Linux)
    internal import Baton
    internal import Foundation
    internal import FoundationNetworking

    /// One request and its response. Locks a ``TransferStateMachine``, asks it, unlocks it, and acts.
    ///
    /// The transport's thread delivers the response, and one task reads it. After a cancellation, the reader returns
    /// only when that thread has removed the transfer from libcurl.
    final class CurlTransfer: Sendable {
        private typealias Machine = TransferStateMachine<UnsafeContinuation<Void, Never>>

        let request: URLRequest
        /// The clock that measures the limits of the transfer.
        let clock: TransferClock
        let sent: @Sendable (Int64) -> Void
        private let body: HTTPRequestBody?
        private let pass: HTTPBodyStream.Pass?
        private let machine: Locked<Machine>
        private let thread: CurlThread
        private let deadline = TransferDeadline.current
        /// The task that waits for the next check of the limits, if the clock is not the system's.
        private let timer = Locked<Task<Void, Never>?>(nil)

        init(
            _ request: URLRequest, _ body: HTTPRequestBody?, on thread: CurlThread, _ clock: TransferClock,
            sent: @escaping @Sendable (Int64) -> Void
        ) throws {
            self.request = request
            self.body = body
            self.thread = thread
            self.clock = clock
            self.sent = sent
            pass = try body?.stream?.pass(for: request)
            machine = Locked(Machine(isFeeding: pass.map { $0.length != 0 } ?? false))
        }

        // MARK: Start and end

        /// Starts the transfer. Must be called once.
        ///
        /// - Throws: The error of a stream that has promised to be empty. libcurl would not read such a stream, so it
        ///   is read here.
        func start() async throws {
            guard let pass else { return thread.start(self, body, queue: nil) }
            if pass.length == 0 {
                try await pass.send { _ in true }
                // The stream may have ended because of a cancellation.
                try Task.checkCancellation()
                return thread.start(self, .data(Data()), queue: nil)
            }
            let queue = UploadQueue(length: pass.length) { [self] in thread.resumeSending(self) }
            let (closings, closing) = AsyncStream.makeStream(of: Void.self)
            queue.onClose { closing.finish() }
            feed(queue, from: pass, until: closings)
            thread.start(self, body, queue: queue)
        }

        /// Has the stream iterated by a child task of the call that sends the request, or by a task of its own if the
        /// user has called the transport directly. That task prefers the same executor as the caller, because a stream
        /// may block its thread.
        private func feed(_ queue: UploadQueue, from pass: HTTPBodyStream.Pass, until closings: AsyncStream<Void>) {
            let work: UploadScope.Work = { [self] in await iterate(pass, into: queue, until: closings) }
            if let scope = UploadScope.current, scope.add(work) { return }
            let executor = withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
            Task(executorPreference: executor) { await work() }
        }

        /// Iterates the stream until it has ended. It is cancelled when the transfer has ended; if the calling task is
        /// cancelled, the transfer is cancelled as well.
        ///
        /// The state machine reports the end of the transfer only after this method has ended, so the request waits for
        /// it.
        private func iterate(
            _ pass: HTTPBodyStream.Pass, into queue: UploadQueue, until closings: AsyncStream<Void>
        ) async {
            await withTaskCancellationHandler {
                await withTaskGroup(of: Void.self) { group in
                    group.addTask {
                        do {
                            try await pass.send { await queue.put($0) }
                            // A sequence may end because its task is cancelled, and then it is not the whole body.
                            try Task.checkCancellation()
                            queue.end(.success(()))
                        } catch {
                            queue.end(.failure(error))
                        }
                    }
                    group.addTask { for await _ in closings {} }
                    await group.next()
                    group.cancelAll()
                }
            } onCancel: {
                cancel()
            }
            resume(machine.withLock { $0.feedingEnded() })
        }

        /// Cancels the transfer, unless it has ended.
        func cancel() {
            if machine.withLock({ $0.cancel() }) { thread.cancel(self) }
        }

        // MARK: The reader

        func head() async throws -> HTTPHead {
            while true {
                switch machine.withLock({ $0.takeHead() }) {
                case .value(let head): return head
                case .end(.failed(let error)): throw error
                case .end(.complete):
                    preconditionFailure("Internal inconsistency: an answer without a head is complete")
                case .nothing: await wait(forHead: true)
                }
            }
        }

        func next() async throws -> Data? {
            // A body that arrives faster than it is read must not keep the thread from other tasks.
            await Task.yield()
            // A reader that always finds bytes never waits, so the cancellation handler of `wait` does not run.
            if Task.isCancelled { cancel() }
            while true {
                let (taken, resumes) = machine.withLock { $0.take() }
                if resumes { thread.resumeReceiving(self) }
                switch taken {
                case .value(let data): return data
                case .end(.complete): return nil
                case .end(.failed(let error)): throw error
                case .nothing: await wait(forHead: false)
                }
            }
        }

        private func wait(forHead: Bool) async {
            await withTaskCancellationHandler {
                await withUnsafeContinuation { waiter in
                    if !machine.withLock({ $0.wait(waiter, forHead: forHead) }) { waiter.resume() }
                }
            } onCancel: {
                cancel()
            }
        }

        // MARK: Calls from the transport's thread

        func receive(_ head: HTTPHead) {
            let waiters = machine.withLock { $0.receive(head) }
            if !waiters.isEmpty { BrokenPipeSignal.allow { resume(waiters) } }
        }

        /// Returns false if there is no room. The transfer is resumed when the reader has made room.
        func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
            switch machine.withLock({ $0.receive(bytes) }) {
            case .kept(let waiters):
                if !waiters.isEmpty { BrokenPipeSignal.allow { resume(waiters) } }
                return true
            case .full: return false
            }
        }

        /// Has the thread check the limits of the transfer at a time of its clock, in place of any earlier such time.
        func setTimer(at time: ContinuousClock.Instant) {
            // Starting and cancelling a task may run code of the user's clock, or create a thread.
            BrokenPipeSignal.allow {
                let next = TaskFactory.services.spawn { [self] in
                    if await clock.sleep(until: time) { thread.checkLimits(of: self) }
                }
                timer.withLock { timer in
                    defer { timer = next }
                    return timer
                }?.cancel()
            }
        }

        var isCancelled: Bool { machine.withLock { $0.isCancelled } }

        /// Notes that a part of the request may reach a server from now on.
        func requestBegins() { deadline?.requestBegins() }

        func end(_ error: (any Error)?) {
            if let timer = timer.withLock({ $0.take() }) { BrokenPipeSignal.allow { timer.cancel() } }
            let waiters = machine.withLock { $0.end(error.map { .failed($0) } ?? .complete) }
            if !waiters.isEmpty { BrokenPipeSignal.allow { resume(waiters) } }
        }

        private func resume(_ waiters: [UnsafeContinuation<Void, Never>]) {
            for waiter in waiters { waiter.resume() }
        }
    }
#endif
