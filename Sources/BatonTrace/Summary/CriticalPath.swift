public import Baton

/// The chain of operations that determined the end of a ``Trace``. To be done sooner, one of its steps has to become
/// shorter.
///
/// **Search.** The path is followed backwards, from the operation that ended last of all that ran, always to what came
/// last of all that was waited for:
///
/// - from a run to the child that ended last in it,
/// - from a wait for dependencies to the dependency that finished last,
/// - from a wait for the queue to the run that ended last during the wait and so made room,
/// - from the add of a child to the run of its parent.
///
/// This is the critical path of C.-Q. Yang and B. P. Miller, "Critical Path Analysis for the Execution of Parallel and
/// Distributed Programs" (ICDCS 1988), with the last-arriving edges of B. Fields, S. Rubin and R. Bodík (ISCA 2001) in
/// place of a search for the longest path.
///
/// **Operations that never ran.** An operation that was skipped, cancelled before its start, or kept from running by
/// the outcome of a dependency is not on the path. If another operation waited for it, the path goes on with what it
/// waited for itself, and its time counts as that of the operation that waited. If no operation ran, the path is empty.
///
/// **Limits.** Events do not tell which operation made room in a queue, so the path assumes the run that ended last
/// during the wait. They do not tell either what a body awaits outside its children, so that time counts as running.
public struct CriticalPath: Sendable, Hashable {
    /// The activity of an operation in a step.
    @nonexhaustive
    public enum Activity: Sendable, Hashable {
        /// The body of the operation runs, and does not wait for a child that is a step of its own.
        case running
        /// The operation waits, and no other operation of the trace explains the wait.
        case waiting(TracedWait.Reason)
    }

    /// A part of the path.
    public struct Step: Sendable, Hashable {
        /// The operation of the step.
        public let operation: OperationReference
        /// The activity of the operation in the step.
        public let activity: Activity
        /// The start of the step, on the clock of the queue.
        public let start: Duration
        /// The end of the step, at which the next step starts.
        public let end: Duration

        /// The length of the step.
        public var duration: Duration { end - start }
    }

    /// The steps of the path, in order of time. None has the length zero.
    public let steps: [Step]
    /// The operations on the path, in the order of their first appearance, including those without a step of their own.
    public let operations: [OperationReference]

    /// The time from the start of the path to its end.
    ///
    /// - Complexity: O(*n*), where *n* is the number of steps.
    public var duration: Duration { steps.reduce(.zero) { $0 + $1.duration } }
}

extension Trace {
    /// Returns the chain of operations that determined the end of the trace. It is empty if no operation has run.
    ///
    /// - Complexity: O(*n* log *n*), where *n* is the number of events.
    public func criticalPath() -> CriticalPath {
        var walk = CriticalPathWalk(of: self)
        return walk.path()
    }
}
