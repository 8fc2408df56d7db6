internal import Baton

/// One suspension of one task. The first call of ``end(_:)`` ends it, even if the task has not suspended yet.
final class Wakeup: Sendable {
    private enum Phase {
        case notSuspended
        case suspended(CheckedContinuation<Bool, Never>)
        case ended(Bool)
    }

    private let phase = Locked(Phase.notSuspended)

    /// Suspends until ``end(_:)`` is called, and returns the value passed to it. Ignores cancellation. Call it once.
    func wait() async -> Bool {
        let answer = await withCheckedContinuation { continuation in
            let early: Bool? = phase.withLock { phase in
                switch phase {
                case .notSuspended:
                    phase = .suspended(continuation)
                    return nil
                case .suspended: preconditionFailure("Internal inconsistency: a second wait for one wake-up")
                case .ended(let answer): return answer
                }
            }
            if let early { continuation.resume(returning: early) }
        }
        #if BATON_TSAN
            // ThreadSanitizer does not see that resuming a continuation publishes the writes made before it.
            phase.withLock { _ in }
        #endif
        return answer
    }

    /// Ends the suspension. Has no effect if it has been ended before.
    func end(_ answer: Bool) {
        let continuation: CheckedContinuation<Bool, Never>? = phase.withLock { phase in
            switch phase {
            case .notSuspended:
                phase = .ended(answer)
                return nil
            case .suspended(let continuation):
                phase = .ended(answer)
                return continuation
            case .ended:
                // Two events raced to end the wait: the first has decided.
                return nil
            }
        }
        continuation?.resume(returning: answer)
    }
}
