internal import Baton
internal import Dispatch
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// One request and its response. Locks an ``HTTPTransactionStateMachine``, asks it, unlocks it, and acts.
///
/// URLSession delivers the response, and one task reads it. After a cancel, the reader returns only when URLSession has
/// reported the end of its task, so that no transfer outlives its reader.
final class HTTPTransaction: Sendable {
    private typealias Machine = HTTPTransactionStateMachine<UnsafeContinuation<Void, Never>>

    private struct Running {
        let task: URLSessionTask
        let timer: IdleTimer
    }

    private let request: URLRequest
    private let sent: @Sendable (Int64) -> Void
    private let machine: Locked<Machine>
    /// Nil before the transaction has started, and after it has ended.
    private let running = Locked<Running?>(nil)
    private let overflow = SpillFile()
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
        let timer = IdleTimer { [weak self] in self?.look(limit: limit) }
        running.withLock { $0 = Running(task: task, timer: timer) }
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
        guard let task = running.withLock({ $0?.task }) else { return }
        DispatchQueue.global().async { task.cancel() }
    }

    private func fail(_ reason: HTTPError.Reason) {
        let waiters = machine.withLock { $0.end(.failed(HTTPError(reason, request))) }
        cancelTask()
        resume(waiters)
    }

    private func look(limit: Duration) {
        let now = clock.now
        switch machine.withLock({ $0.look(at: now, limit: limit) }) {
        case .ended: break
        case .again(let rest): running.withLock { $0?.timer }?.set(after: rest)
        case .expired: fail(.timedOut(after: limit))
        }
    }

    // MARK: The reader

    func head() async throws -> HTTPHead {
        while true {
            switch machine.withLock({ $0.takeHead() }) {
            case .value(let head): return head
            case .end(.failed(let error)): throw error
            case .end(.complete), .stored: throw HTTPError(.connectionBroken, request)
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
            let data = try overflow.read(count, at: offset)
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

    func came(_ head: HTTPHead) {
        let now = clock.now
        resume(machine.withLock { $0.came(head, at: now) })
    }

    func came(_ data: Data) {
        let now = clock.now
        switch machine.withLock({ $0.came(data, at: now) }) {
        case .kept(let waiters): resume(waiters)
        case .write(let offset):
            do throws(FileError) {
                try overflow.write(data, at: offset)
                resume(machine.withLock { $0.hasWritten(data.count) })
            } catch {
                fail(error.reason)
            }
        case .dropped: break
        }
    }

    func went(_ count: Int64) {
        let now = clock.now
        machine.withLock { $0.went(at: now) }
        sent(count)
    }

    /// - Parameter last: The response that the task has at its end. URLSession does not report a redirect to the
    ///   delegate if the redirect has no valid target, so this method reports it.
    func ended(_ error: (any Error)?, last: HTTPHead?) {
        if error == nil, let last, machine.withLock({ $0.head }) == nil { came(last) }
        let ended = running.withLock { $0.take() }
        ended?.timer.stop()
        let (head, count, isCancelled) = machine.withLock { ($0.head, $0.receivedCount, $0.isCancelled) }
        let ending = Machine.Ending(error, head, count, isCancelled: isCancelled, request)
        resume(machine.withLock { $0.end(ending) })
    }

    private func resume(_ waiters: [UnsafeContinuation<Void, Never>]) {
        for waiter in waiters { waiter.resume() }
    }
}

extension HTTPTransactionStateMachine.Ending {
    fileprivate init(
        _ error: (any Error)?, _ head: HTTPHead?, _ count: Int64, isCancelled: Bool, _ request: URLRequest
    ) {
        let hasBody = request.httpMethod?.uppercased() != "HEAD" && ![204, 304].contains(head?.status)
        let promised = hasBody ? head?.contentLength : nil
        if isCancelled {
            self = .failed(CancellationError())
        } else if let promised, count < promised, HTTPError.isBrokenConnection(error) {
            self = .failed(HTTPError(.bodyTooShort(received: count, promised: promised), request))
        } else if let error {
            self = .failed(HTTPError(error, request))
        } else {
            self = .complete
        }
    }
}
