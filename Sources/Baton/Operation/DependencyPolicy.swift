/// Which outcomes of a dependency let the dependent run. See ``AnyOperation/addDependency(_:on:file:line:)``.
public enum DependencyPolicy: Sendable, Hashable, CaseIterable {
    /// It has an output.
    case success
    /// It has an error, and was neither cancelled nor skipped: for a fallback.
    case failure
    /// Whatever the outcome: for cleaning up. What a dependency without a policy means.
    case always

    /// Whether such an outcome lets the dependent run.
    public func isMet(by outcome: OperationOutcome) -> Bool {
        switch (self, outcome) {
        case (.always, _), (.success, .success), (.failure, .failure): true
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
}
