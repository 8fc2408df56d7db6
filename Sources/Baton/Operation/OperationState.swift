/// The state of an operation in its life.
///
/// An operation moves through the states in their order, and may leave some of them out. Only the pause before a
/// further run takes it back, to ``waiting``.
@nonexhaustive
public enum OperationState: Sendable, Hashable, Comparable, CaseIterable {
    /// Nobody has added the operation to a queue. Its dependencies, name and priority may still change.
    case created
    /// The operation was added. A dependency has no outcome yet, or the operation pauses before a further run.
    case waiting
    /// The dependencies have finished. Conditions are evaluated, or will be when a worker takes the operation.
    case evaluating
    /// The operation may start. Only its queue (width, suspension, operations that come first) or an exclusion delays
    /// it.
    case ready
    /// The body runs, or waits for operations that it has started.
    case executing
    /// The outcome is decided, and is published when the `willFinish` handlers have returned.
    case finishing
    /// The operation has its outcome, which never changes.
    case finished
}
