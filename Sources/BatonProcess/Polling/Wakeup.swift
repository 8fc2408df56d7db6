internal import Baton

/// One suspension of one task, ended once: by whoever comes first, which may be before the task has suspended.
final class Wakeup: Sendable {
    private enum Phase {
        case notSuspended
        case suspended(CheckedContinuation<Bool, Never>)
        case ended(Bool)
    }

    private let phase = Locked(Phase.notSuspended)

    /// Suspends until it is ended, and returns what with. Ignores cancellation. To be called once.
    func wait() async -> Bool {
        let answer = await withCheckedContinuation { continuation in
            let early: Bool? = phase.withLock { phase in
                if case .ended(let answer) = phase { return answer }
                phase = .suspended(continuation)
                return nil
            }
            if let early { continuation.resume(returning: early) }
        }
        #if BATON_TSAN
            // ThreadSanitizer does not see that a continuation hands over what was written before its resumption.
            phase.withLock { _ in }
        #endif
        return answer
    }

    /// Without effect if it has been ended before.
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
                // Two reasons to wake crossed: the first has decided.
                return nil
            }
        }
        continuation?.resume(returning: answer)
    }
}
