/// Storing and reading the outcome.
extension AnyOperation {
    @usableFromInline
    final var hasFinished: Bool { withLife { $0.phase == .finished } }

    /// True if the outcome is decided, although `willFinish` handlers may still be running.
    @usableFromInline
    final var hasOutcome: Bool { withLife { $0.phase == .finishing || $0.phase == .finished } }

    /// Stores an error as the outcome. Called by the thread that finishes the operation, before it publishes the
    /// outcome.
    final func setFailure(_ error: OperationError) {
        outcome = error.bounded
        outcomeOwns = true
        hasFailed = true
    }

    /// The error of an operation that has been seen finished.
    @usableFromInline
    final var failure: OperationError? { hasFailed ? outcome as? OperationError : nil }

    final var outcomeKind: OperationOutcome { failure?.outcome ?? .success }

    /// Stores the error that the body has thrown. Called on the operation's own task.
    @usableFromInline
    final func bodyThrew(_ error: any Error) { bodyFailed(OperationError(thrownByBody: error)) }

    /// Stores this error, or the reason of a cancel if the operation was cancelled, because the body has ended without
    /// an output.
    @usableFromInline
    final func bodyFailed(_ error: OperationError) {
        let reason = withLife { life in
            life.isCancelled
                ? life.optionalState?.cancellationReason ?? .requested : life.optionalState?.timing?.timeoutReason
        }
        setFailure(reason?.error ?? error)
    }

    /// Stores the error of an operation whose body does not run, because of a dependency policy, an invalid
    /// precondition or a missing input. Called on the worker that has taken the operation.
    @usableFromInline
    final func failWithoutRunning(with error: OperationError) {
        withLife { $0.bodyWasSkipped() }
        setFailure(error)
    }
}
