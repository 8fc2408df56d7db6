/// Where an operation is in its life. It moves forward through these; only the pause before a further run takes it back
/// to waiting.
@nonexhaustive
public enum OperationState: Sendable, Hashable, Comparable, CaseIterable {
    /// Nobody has added it to a queue yet. Its dependencies, name and priority may still change.
    case created
    /// Added; at least one of its dependencies has no outcome yet, or it pauses before a further run.
    case waiting
    /// Its dependencies have finished, and its conditions decide: they are evaluated, or will be when its turn has
    /// come.
    case evaluating
    /// Nothing keeps it but the queue, its width, a suspension, operations that come first, or an exclusion that others
    /// hold.
    case ready
    /// Its body runs, or waits for operations that it started.
    case executing
    /// Its outcome is decided, and will be published when its `willFinish` handlers have returned.
    case finishing
    /// It has its one outcome.
    case finished
}
