/// What an operation does when another one with its identity has not finished. See
/// ``AnyOperation/unique(by:policy:within:file:line:)``.
@nonexhaustive
public enum UniquenessPolicy: Sendable, Hashable, CaseIterable {
    /// It does not run, and ends with ``OperationError/skipped(_:)``, naming the other one.
    case reject
    /// It does not run, and ends as the other one does, with the same output or error.
    case join
    /// It cancels the other one, and starts after that one's outcome.
    case replace
}
