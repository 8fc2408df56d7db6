internal import Baton

/// One attempt to connect, on a thread of its own. One task awaits it, and returns at once when it is cancelled.
final class Attempt: Sendable {
    private typealias Waiter = UnsafeContinuation<ReachabilityError?, Never>

    private enum Phase {
        case begun
        case awaited(Waiter)
        case over(ReachabilityError?)
    }

    private let phase = Locked(Phase.begun)

    /// Returns nil if the host accepted the connection, or if the task was cancelled.
    static func failure(host: String, port: Int) async -> ReachabilityError? {
        guard let wake = Wake() else { return .noResources("no descriptor is free") }
        let attempt = Attempt()
        let lookup = Lookup(of: host)
        let connecting = Connecting(host: host, port: port, wake: wake, lookup: lookup)
        lookup.begin {
            if PosixThread.start("Baton connects", { attempt.end(with: connecting.failure()) }) { return }
            lookup.end()
            attempt.end(with: .noResources("no thread is free"))
        }
        return await withTaskCancellationHandler {
            await attempt.failure()
        } onCancel: {
            // The thread ends soon after this, or, if it is looking up the name, when the lookup has returned.
            wake.wake()
            lookup.leave()
            attempt.end(with: nil)
        }
    }

    private func failure() async -> ReachabilityError? {
        let failure = await withUnsafeContinuation { (waiter: Waiter) in
            let end = phase.withLock { phase -> ReachabilityError?? in
                if case .over(let failure) = phase { return .some(failure) }
                phase = .awaited(waiter)
                return nil
            }
            if let end { waiter.resume(returning: end) }
        }
        // ThreadSanitizer does not know that resuming a continuation publishes the writes before it.
        phase.withLock { _ in }
        return failure
    }

    /// Stores the first result only: that of the thread, or that of the cancel.
    private func end(with failure: ReachabilityError?) {
        let waiter = phase.withLock { phase -> Waiter? in
            switch phase {
            case .begun:
                phase = .over(failure)
                return nil
            case .awaited(let waiter):
                phase = .over(failure)
                return waiter
            case .over: return nil
            }
        }
        waiter?.resume(returning: failure)
    }
}
