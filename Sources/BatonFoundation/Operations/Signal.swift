internal import Baton

/// One event that one task waits for. The event may occur before the task waits.
final class Signal: Sendable {
    private enum Phase {
        case quiet
        case awaited(UnsafeContinuation<Void, Never>)
        case given
    }

    private let phase = Locked(Phase.quiet)

    /// Signals the event. May be called from any thread and any number of times; only the first call counts.
    func signal() {
        let waiter = phase.withLock { phase -> UnsafeContinuation<Void, Never>? in
            defer { phase = .given }
            if case .awaited(let waiter) = phase { return waiter }
            return nil
        }
        waiter?.resume()
    }

    /// Returns when the event has occurred. A cancellation of the calling task does not end the wait; it calls
    /// `onCancel`, on the thread that cancels.
    func wait(onCancel: @Sendable () -> Void) async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in
                let isGiven = phase.withLock { phase in
                    switch phase {
                    case .quiet:
                        phase = .awaited(waiter)
                        return false
                    case .awaited: preconditionFailure("Internal inconsistency: two tasks wait for one signal")
                    case .given: return true
                    }
                }
                if isGiven { waiter.resume() }
            }
            // ThreadSanitizer does not know that resuming a continuation publishes the writes before it.
            phase.withLock { _ in }
        } onCancel: {
            onCancel()
        }
    }
}
