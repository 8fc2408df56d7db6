/// Satisfied if no direct dependency of the operation has failed or was cancelled.
///
/// For order edges: an operation whose *input* has no output does not run anyway, and a policy of an edge is simpler
/// for one dependency. One that was skipped has not failed.
public struct NoFailedDependencies: OperationCondition {
    private let ignoresCancellations: Bool

    /// Makes the condition, for all direct dependencies of the operation that it is added to.
    ///
    /// - Parameter ignoringCancellations: Lets the operation run if dependencies were cancelled, and none has failed.
    public init(ignoringCancellations: Bool = false) { ignoresCancellations = ignoringCancellations }

    /// Throws ``ConditionError/dependenciesFailed(_:)``, with all that have.
    public func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        let failures = operation.failedDependencies { outcome in
            outcome == .failure || outcome == .cancelled && !ignoresCancellations
        }
        if failures.isEmpty { return .satisfied }
        throw ConditionError.dependenciesFailed(failures)
    }
}

/// Satisfied if no direct dependency of the operation was cancelled.
public struct NoCancelledDependencies: OperationCondition {
    /// Makes the condition.
    public init() {}

    /// Throws ``ConditionError/dependenciesFailed(_:)``, with all that were.
    public func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        let cancelled = operation.failedDependencies { $0 == .cancelled }
        if cancelled.isEmpty { return .satisfied }
        throw ConditionError.dependenciesFailed(cancelled)
    }
}

extension AnyOperation {
    fileprivate final func failedDependencies(_ counts: (OperationOutcome) -> Bool) -> [OperationFailure] {
        dependencies.compactMap { dependency in
            guard let error = dependency.error, counts(error.outcome) else { return nil }
            return OperationFailure(operation: dependency.reference, error: error)
        }
    }
}
