/// A condition that is satisfied if no direct dependency of the operation has failed or been cancelled.
///
/// The condition is for dependencies that only order operations: an operation whose *input* has no output does not run
/// anyway, and for a single dependency the policy of the edge is simpler. A dependency that was skipped has not failed.
public struct NoFailedDependencies: OperationCondition {
    private let ignoresCancellations: Bool

    /// Makes the condition, for all direct dependencies of the operation that it is added to.
    ///
    /// - Parameter ignoringCancellations: True to let the operation run if dependencies were cancelled, but none has
    ///   failed.
    public init(ignoringCancellations: Bool = false) { ignoresCancellations = ignoringCancellations }

    /// Returns ``ConditionResult/satisfied`` if no dependency has failed or, unless cancellations are ignored, been
    /// cancelled.
    ///
    /// - Throws: ``ConditionError/dependenciesFailed(_:)`` with the dependencies that have failed or, unless
    ///   cancellations are ignored, been cancelled.
    /// - Complexity: O(n), where n is the number of direct dependencies.
    public func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        let failures = operation.dependencyFailures { outcome in
            outcome == .failure || outcome == .cancelled && !ignoresCancellations
        }
        if failures.isEmpty { return .satisfied }
        throw ConditionError.dependenciesFailed(failures)
    }
}

/// A condition that is satisfied if no direct dependency of the operation was cancelled.
public struct NoCancelledDependencies: OperationCondition {
    /// Makes the condition.
    public init() {}

    /// Returns ``ConditionResult/satisfied`` if no dependency was cancelled.
    ///
    /// - Throws: ``ConditionError/dependenciesFailed(_:)`` with all dependencies that were cancelled.
    /// - Complexity: O(n), where n is the number of direct dependencies.
    public func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        let cancelled = operation.dependencyFailures { $0 == .cancelled }
        if cancelled.isEmpty { return .satisfied }
        throw ConditionError.dependenciesFailed(cancelled)
    }
}

extension AnyOperation {
    fileprivate final func dependencyFailures(where isCounted: (OperationOutcome) -> Bool) -> [OperationFailure] {
        dependencies.compactMap { dependency in
            guard let error = dependency.error, isCounted(error.outcome) else { return nil }
            return OperationFailure(operation: dependency.reference, error: error)
        }
    }
}
