internal import Baton

/// One suspension of one task. The first call of ``resume(returning:)`` ends it, even if the task has not suspended
/// yet.
///
/// The owner keeps its waits in a state machine under its own lock, and ends them after unlocking.
final class Wait: Sendable {
    private enum Phase {
        case notSuspended
        case suspended(CheckedContinuation<Bool, Never>)
        case ended(Bool)
    }

    private let phase = Locked(Phase.notSuspended)

    /// Suspends until the awaited event has come. Ignores cancellation.
    func suspend() async {
        _ = await suspension()
    }

    /// Suspends until the awaited event has come, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - begin: Registers the wait. It is called when the cancellation handler is installed, so every later
    ///     cancellation calls `forget`.
    ///   - forget: Removes the wait from its owner's state machine. It runs on the thread that cancels, before the task
    ///     resumes.
    /// - Returns: True if the event has come; false if the task was cancelled.
    func suspend(
        after begin: () -> Void = {}, forgottenWhenCancelled forget: @Sendable () -> Void
    ) async -> Bool {
        await withTaskCancellationHandler {
            begin()
            return await suspension()
        } onCancel: {
            forget()
            resume(returning: false)
        }
    }

    /// Ends the wait and resumes the task. Has no effect if the wait has ended already.
    func resume(returning result: Bool = true) {
        let continuation: CheckedContinuation<Bool, Never>? = phase.withLock { phase in
            switch phase {
            case .notSuspended:
                phase = .ended(result)
                return nil
            case .suspended(let continuation):
                phase = .ended(result)
                return continuation
            case .ended:
                // A wake-up and a cancellation raced: the first has decided.
                return nil
            }
        }
        continuation?.resume(returning: result)
    }

    private func suspension() async -> Bool {
        let result = await withCheckedContinuation { continuation in
            let early: Bool? = phase.withLock { phase in
                switch phase {
                case .notSuspended:
                    phase = .suspended(continuation)
                    return nil
                case .suspended: preconditionFailure("Internal inconsistency: a second suspension in one wait")
                case .ended(let result): return result
                }
            }
            if let early { continuation.resume(returning: early) }
        }
        #if BATON_TSAN
            // ThreadSanitizer does not see that resuming a continuation publishes the writes made before it.
            phase.withLock { _ in }
        #endif
        return result
    }
}
