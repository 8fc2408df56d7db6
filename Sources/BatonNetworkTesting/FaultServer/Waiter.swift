internal import Baton

/// One suspension of one task, ended once: by whoever comes first, which may be before the task has suspended.
final class Waiter: Sendable {
    enum End {
        case happened
        case stopped
        case cancelled
    }

    private enum Phase {
        case notSuspended
        case suspended(CheckedContinuation<End, Never>)
        case ended(End)
    }

    private let phase = Locked(Phase.notSuspended)

    func suspend() async -> End {
        let end = await withCheckedContinuation { continuation in
            let early: End? = phase.withLock { phase in
                if case .ended(let end) = phase { return end }
                phase = .suspended(continuation)
                return nil
            }
            if let early { continuation.resume(returning: early) }
        }
        #if BATON_TSAN
            // ThreadSanitizer does not see that a continuation hands over what was written before its resumption.
            phase.withLock { _ in }
        #endif
        return end
    }

    /// Lets the task go on. Without effect if the wait is already over.
    func end(_ end: End) {
        let continuation: CheckedContinuation<End, Never>? = phase.withLock { phase in
            switch phase {
            case .notSuspended:
                phase = .ended(end)
                return nil
            case .suspended(let continuation):
                phase = .ended(end)
                return continuation
            case .ended:
                // What was awaited, a cancellation and a stop crossed: the first has decided.
                return nil
            }
        }
        continuation?.resume(returning: end)
    }
}
