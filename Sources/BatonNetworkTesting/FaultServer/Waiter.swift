internal import Baton

/// One suspension of one task. The first call of ``end(_:)`` ends it, even if the task has not suspended yet.
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
                switch phase {
                case .notSuspended:
                    phase = .suspended(continuation)
                    return nil
                case .suspended: preconditionFailure("Internal inconsistency: a second suspension of one waiter")
                case .ended(let end): return end
                }
            }
            if let early { continuation.resume(returning: early) }
        }
        #if BATON_TSAN
            // ThreadSanitizer does not see that resuming a continuation publishes the writes made before it.
            phase.withLock { _ in }
        #endif
        return end
    }

    /// Ends the wait and resumes the task. Has no effect if the wait has ended already.
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
                // The awaited event, a cancellation and a stop raced: the first has decided.
                return nil
            }
        }
        continuation?.resume(returning: end)
    }
}
