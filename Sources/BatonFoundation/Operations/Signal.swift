internal import Baton

/// One event for which one task waits. It may come before anybody waits.
final class Signal: Sendable {
    private enum Phase {
        case quiet
        case awaited(UnsafeContinuation<Void, Never>)
        case given
    }

    private let phase = Locked(Phase.quiet)

    /// From any thread, any number of times; the first one counts.
    func give() {
        let waiter = phase.withLock { phase -> UnsafeContinuation<Void, Never>? in
            defer { phase = .given }
            if case .awaited(let waiter) = phase { return waiter }
            return nil
        }
        waiter?.resume()
    }

    /// Returns when it was given. A cancel of the task alone does not end this: it calls `onCancel`, on the thread that
    /// cancels.
    func wait(onCancel: @Sendable () -> Void) async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in
                let isGiven = phase.withLock { phase in
                    if case .given = phase { return true }
                    phase = .awaited(waiter)
                    return false
                }
                if isGiven { waiter.resume() }
            }
            // ThreadSanitizer does not see that a continuation hands over what was written before its resumption.
            phase.withLock { _ in }
        } onCancel: {
            onCancel()
        }
    }
}
