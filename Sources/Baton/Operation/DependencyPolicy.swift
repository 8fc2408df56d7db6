/// The outcomes of a dependency that let the dependent run. See ``AnyOperation/addDependency(_:on:file:line:)``.
@nonexhaustive
public enum DependencyPolicy: Sendable, Hashable, CaseIterable {
    /// The dependency has an output.
    case success
    /// The dependency has an output, or was skipped because it had nothing to do, which `make` calls up to date.
    ///
    /// If the dependency was skipped because an operation before it had failed or was cancelled, the policy is not met,
    /// and the error of the dependent names that first operation.
    case noFailure
    /// The dependency has an error, and was neither cancelled nor skipped. Use it for a fallback.
    case failure
    /// The dependency has any outcome. A dependency without a policy has this one. Use it for cleaning up.
    case always

    /// Returns whether such an outcome lets the dependent run.
    ///
    /// For ``noFailure`` the outcome alone does not decide: a dependency that was skipped because of an earlier failure
    /// or cancel does not meet it.
    ///
    /// - Parameter outcome: The outcome of the dependency.
    public func isMet(by outcome: OperationOutcome) -> Bool {
        switch (self, outcome) {
        case (.always, _), (.success, .success), (.failure, .failure), (.noFailure, .success), (.noFailure, .skipped):
            true
        case (.noFailure, .failure), (.noFailure, .cancelled): false
        case (.success, .failure), (.success, .cancelled), (.success, .skipped): false
        case (.failure, .success), (.failure, .cancelled), (.failure, .skipped): false
        }
    }
}

/// The policy of one dependency. The edge retains the source.
struct EdgePolicy {
    let source: Unmanaged<AnyOperation>
    /// Never `.always` unless the dependency was removed; the source may then have been released.
    var policy: DependencyPolicy

    /// True if the source keeps the dependent from running. Read it only after the source has finished.
    var isUnmet: Bool {
        policy != .always
            && source._withUnsafeGuaranteedRef { source in
                !policy.isMet(by: source.outcomeKind) || policy == .noFailure && source.failure?.earlierFailure != nil
            }
    }

    /// The reason to skip the dependent; nil if the policy is met. Read it only after the source has finished.
    var skipReason: SkipReason? {
        if !isUnmet { return nil }
        return source._withUnsafeGuaranteedRef { source in
            if policy == .noFailure, let (first, outcome) = source.failure?.earlierFailure {
                return .edge(source: first, outcome: outcome)
            }
            return .edge(source: source.reference, outcome: source.outcomeKind)
        }
    }
}

extension OperationError {
    /// The first operation that had failed or was cancelled, so that the operation with this error did not run; nil if
    /// there was none.
    fileprivate var earlierFailure: (source: OperationReference, outcome: OperationOutcome)? {
        switch self {
        case .skipped(.edge(let source, let outcome)) where outcome == .failure || outcome == .cancelled:
            (source, outcome)
        case .dependencyFailed(let source, _, let cause): (source, cause.outcome)
        default: nil
        }
    }
}
