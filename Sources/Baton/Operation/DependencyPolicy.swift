/// Which outcomes of a dependency let the dependent run. See ``AnyOperation/addDependency(_:on:file:line:)``.
@nonexhaustive
public enum DependencyPolicy: Sendable, Hashable, CaseIterable {
    /// It has an output.
    case success
    /// It has an output, or was skipped because there was nothing to do: what `make` calls up to date. One that was
    /// skipped because something before it had failed or was cancelled counts as that, and the dependent is skipped,
    /// with the first source.
    case noFailure
    /// It has an error, and was neither cancelled nor skipped: for a fallback.
    case failure
    /// Whatever the outcome: for cleaning up. What a dependency without a policy means.
    case always

    /// Whether such an outcome lets the dependent run. Of an operation that was skipped, ``noFailure`` also asks why.
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
    /// Never `.always`, but if the dependency was removed: then the source may have gone.
    var policy: DependencyPolicy

    /// When the source has finished: it keeps the dependent from running.
    var isUnmet: Bool {
        policy != .always
            && source._withUnsafeGuaranteedRef { source in
                !policy.isMet(by: source.outcomeKind) || policy == .noFailure && source.failure?.earlierFailure != nil
            }
    }

    /// As above, and why.
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
    /// What had failed or been cancelled before, so that the operation of this error did not run.
    fileprivate var earlierFailure: (source: OperationReference, outcome: OperationOutcome)? {
        switch self {
        case .skipped(.edge(let source, let outcome)) where outcome == .failure || outcome == .cancelled:
            (source, outcome)
        case .dependencyFailed(let source, _, let cause): (source, cause.outcome)
        default: nil
        }
    }
}
