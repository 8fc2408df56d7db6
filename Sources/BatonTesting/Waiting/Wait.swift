internal import Baton

/// One suspension of one task, ended once: by whoever comes first, which may be before the task has suspended.
///
/// Owners keep their waits in a machine under their own lock and end them after leaving it.
final class Wait: Sendable {
    private enum Phase {
        case notSuspended
        case suspended(CheckedContinuation<Bool, Never>)
        case ended(asHoped: Bool)
    }

    private let phase = Locked(Phase.notSuspended)

    /// Ends when what was waited for has come. Ignores cancellation.
    func suspend() async {
        _ = await suspension()
    }

    /// Ends when what was waited for has come, with true, or when the task is cancelled, with false.
    ///
    /// - Parameters:
    ///   - begin: Called when `forget` will be called by every cancel that comes from then on.
    ///   - forget: Takes the wait out of its owner's machine. It runs on the thread that cancels, before the task
    ///     resumes.
    func suspend(
        after begin: () -> Void = {}, forgottenWhenCancelled forget: @Sendable () -> Void
    ) async -> Bool {
        await withTaskCancellationHandler {
            begin()
            return await suspension()
        } onCancel: {
            forget()
            end(asHoped: false)
        }
    }

    /// Lets the task go on. Without effect if the wait is already over.
    func end(asHoped: Bool = true) {
        let continuation: CheckedContinuation<Bool, Never>? = phase.withLock { phase in
            switch phase {
            case .notSuspended:
                phase = .ended(asHoped: asHoped)
                return nil
            case .suspended(let continuation):
                phase = .ended(asHoped: asHoped)
                return continuation
            case .ended:
                // A wake-up and a cancellation crossed: the first has decided.
                return nil
            }
        }
        continuation?.resume(returning: asHoped)
    }

    private func suspension() async -> Bool {
        let asHoped = await withCheckedContinuation { continuation in
            let early: Bool? = phase.withLock { phase in
                if case .ended(let asHoped) = phase { return asHoped }
                phase = .suspended(continuation)
                return nil
            }
            if let early { continuation.resume(returning: early) }
        }
        #if BATON_TSAN
            // ThreadSanitizer does not see that a continuation hands over what was written before its resumption.
            phase.withLock { _ in }
        #endif
        return asHoped
    }
}
