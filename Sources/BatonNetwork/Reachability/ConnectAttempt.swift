internal import Baton

/// One attempt to connect, on a thread of its own. One task awaits it, and returns at once when it is cancelled.
final class ConnectAttempt: Sendable {
    private typealias Waiter = UnsafeContinuation<ReachabilityError?, Never>

    private enum Phase {
        case begun
        case awaited(Waiter)
        case ended(ReachabilityError?)
    }

    private let phase = Locked(Phase.begun)

    /// Returns nil if the host accepted the connection, or if the task was cancelled.
    static func failure(host: String, port: Int) async -> ReachabilityError? {
        guard let wakeUp = WakeUpSocket() else { return .noResources("no descriptor is free") }
        let attempt = ConnectAttempt()
        let lookup = Lookup(of: host)
        let connect = BlockingConnect(host: host, port: port, wakeUp: wakeUp, lookup: lookup)
        lookup.begin {
            if PosixThread.start("Baton connects", { attempt.end(with: connect.failure()) }) { return }
            lookup.end()
            attempt.end(with: .noResources("no thread is free"))
        }
        return await withTaskCancellationHandler {
            await attempt.failure()
        } onCancel: {
            // The thread ends soon after this, or, if it is looking up the name, when the lookup has returned.
            wakeUp.wake()
            lookup.abandon()
            attempt.end(with: nil)
        }
    }

    private func failure() async -> ReachabilityError? {
        let failure = await withUnsafeContinuation { (waiter: Waiter) in
            let end = phase.withLock { phase -> ReachabilityError?? in
                switch phase {
                case .begun:
                    phase = .awaited(waiter)
                    return nil
                case .awaited: preconditionFailure("Internal inconsistency: two tasks await one attempt")
                case .ended(let failure): return .some(failure)
                }
            }
            if let end { waiter.resume(returning: end) }
        }
        // ThreadSanitizer does not know that resuming a continuation publishes the writes before it.
        phase.withLock { _ in }
        return failure
    }

    /// Stores the first result only: that of the thread, or that of the cancellation.
    private func end(with failure: ReachabilityError?) {
        let waiter = phase.withLock { phase -> Waiter? in
            switch phase {
            case .begun:
                phase = .ended(failure)
                return nil
            case .awaited(let waiter):
                phase = .ended(failure)
                return waiter
            case .ended: return nil
            }
        }
        waiter?.resume(returning: failure)
    }
}
