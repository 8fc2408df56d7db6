internal import Baton
internal import Dispatch
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// One request and its response: the driver of an ``HTTPTransactionStateMachine``, which it guards with a lock.
///
/// URLSession delivers the response, and one task reads it. After a cancellation, the reader returns only when
/// URLSession has reported the end of its task, so that no transfer outlives its reader.
final class HTTPTransaction: Sendable {
    private typealias Machine = HTTPTransactionStateMachine<UnsafeContinuation<Void, Never>>

    private struct ActiveTask {
        let task: URLSessionTask
        let timer: IdleTimer
    }

    private let request: URLRequest
    private let sent: @Sendable (Int64) -> Void
    private let machine: Locked<Machine>
    /// Nil before the transaction has started, and after it has ended.
    private let activeTask = Locked<ActiveTask?>(nil)
    private let spillFile = SpillFile()
    private let clock = ContinuousClock()

    init(_ request: URLRequest, sent: @escaping @Sendable (Int64) -> Void) {
        self.request = request
        self.sent = sent
        machine = Locked(Machine(at: clock.now))
    }

    // MARK: Start and end

    /// Starts the transaction. Must be called once, with a task that has not been resumed.
    func start(_ task: URLSessionTask) {
        let limit = request.idleLimit
        let timer = IdleTimer { [weak self] in self?.checkIdle(limit: limit) }
        activeTask.withLock { activeTask in
            assert(activeTask == nil, "Internal inconsistency: a transaction that is started twice")
            activeTask = ActiveTask(task: task, timer: timer)
        }
        timer.set(after: limit)
        task.resume()
    }

    /// Cancels the transaction, unless it has ended.
    func cancel() {
        if machine.withLock({ $0.cancel() }) { cancelTask() }
    }

    /// Cancels the URLSession task on another thread, because on Linux that call waits for the queue on which
    /// URLSession calls its delegate.
    private func cancelTask() {
        guard let task = activeTask.withLock({ $0?.task }) else { return }
        DispatchQueue.global().async { task.cancel() }
    }

    private func fail(_ reason: HTTPError.Reason) {
        let waiters = machine.withLock { $0.end(.failed(HTTPError(reason, request))) }
        cancelTask()
        resume(waiters)
    }

    private func checkIdle(limit: Duration) {
        let now = clock.now
        switch machine.withLock({ $0.checkIdle(at: now, limit: limit) }) {
        case .ended: break
        case .again(let rest): activeTask.withLock { $0?.timer }?.set(after: rest)
        case .expired: fail(.timedOut(after: limit))
        }
    }

    // MARK: The reader

    func head() async throws -> HTTPHead {
        while true {
            switch machine.withLock({ $0.takeHead() }) {
            case .value(let head): return head
            case .end(.failed(let error)): throw error
            case .end(.complete): throw HTTPError(.connectionBroken, request)
            case .stored: preconditionFailure("Internal inconsistency: a head that was written to the file")
            case .nothing: await wait(forHead: true)
            }
        }
    }

    func next() async throws -> Data? {
        // If the body arrives faster than it is read, the reader never has to wait. It yields, so that other tasks can
        // use its thread.
        await Task.yield()
        // A reader that always finds bytes never waits, so the cancellation handler of `wait` does not run.
        if Task.isCancelled { cancel() }
        while true {
            switch machine.withLock({ $0.take() }) {
            case .value(let data): return data
            case .stored(let offset, let count): return try read(count, at: offset)
            case .end(.complete): return nil
            case .end(.failed(let error)): throw error
            case .nothing: await wait(forHead: false)
            }
        }
    }

    private func read(_ count: Int, at offset: Int64) throws -> Data {
        do throws(FileError) {
            let data = try spillFile.read(count, at: offset)
            machine.withLock { $0.hasRead(count) }
            return data
        } catch {
            throw HTTPError(error, request, isSent: true)
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

    // MARK: Calls from URLSession, on its queue

    func receive(_ head: HTTPHead) {
        let now = clock.now
        resume(machine.withLock { $0.receive(head, at: now) })
    }

    func receive(_ data: Data) {
        let now = clock.now
        switch machine.withLock({ $0.receive(data, at: now) }) {
        case .kept(let waiters): resume(waiters)
        case .write(let offset):
            do throws(FileError) {
                try spillFile.write(data, at: offset)
                resume(machine.withLock { $0.hasWritten(data.count) })
            } catch {
                fail(error.reason)
            }
        case .dropped: break
        }
    }

    func hasSent(_ count: Int64) {
        let now = clock.now
        machine.withLock { $0.hasSent(at: now) }
        sent(count)
    }

    /// - Parameter last: The response that the task has at its end. URLSession does not report a redirect to the
    ///   delegate if the redirect has no valid target, so this method reports it.
    func ended(_ error: (any Error)?, last: HTTPHead?) {
        if error == nil, let last, machine.withLock({ $0.head }) == nil { receive(last) }
        let ended = activeTask.withLock { $0.take() }
        ended?.timer.stop()
        let (head, count, isCancelled) = machine.withLock { ($0.head, $0.receivedCount, $0.isCancelled) }
        let completion = Machine.Completion(error, head, count, isCancelled: isCancelled, request)
        resume(machine.withLock { $0.end(completion) })
    }

    private func resume(_ waiters: [UnsafeContinuation<Void, Never>]) {
        for waiter in waiters { waiter.resume() }
    }
}

extension HTTPTransactionStateMachine.Completion {
    fileprivate init(
        _ error: (any Error)?, _ head: HTTPHead?, _ count: Int64, isCancelled: Bool, _ request: URLRequest
    ) {
        let promised = head?.bodyLength(for: request)
        if isCancelled {
            self = .failed(CancellationError())
        } else if let promised, count < promised, HTTPError.isBrokenConnection(error, request) {
            self = .failed(HTTPError(.bodyTooShort(received: count, promised: promised), request))
        } else if let error {
            self = .failed(HTTPError(error, request))
        } else {
            self = .complete
        }
    }
}
