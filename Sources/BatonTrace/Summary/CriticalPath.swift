public import Baton

/// The chain of operations that determined the end of a ``Trace``: to be sooner, one of its steps has to become
/// shorter.
///
/// **How it is found.** Backwards, from what ended last of all that ran, always to what came last of all that was
/// waited for: from a run to the child that ended last in it, from a wait for dependencies to the one that finished
/// last, from a wait for the queue to the run that ended last during the wait and so made room, from the add of a child
/// to the run of its parent. This is the critical path of C.-Q. Yang and B. P. Miller, "Critical Path Analysis for the
/// Execution of Parallel and Distributed Programs" (ICDCS 1988), with the last-arriving edges of B. Fields, S. Rubin
/// and R. Bodík (ISCA 2001) in place of a search for the longest path.
///
/// **Where it ends.** With an operation whose body has run. An operation that was skipped, cancelled before its start,
/// or kept from running by what became of a dependency, has made nothing longer: what ended before it has. If nothing
/// ran the path is empty.
///
/// **What it cannot know.** Events do not tell who made room in a queue, nor for what a body waited that awaits another
/// operation by itself: the first is guessed as above, the second counts as running.
public struct CriticalPath: Sendable, Hashable {
    /// What an operation does in a step.
    @nonexhaustive
    public enum Activity: Sendable, Hashable {
        /// Its body runs, and waits for no child that is a step of its own.
        case running
        /// It waits, and no other operation of the trace explains this.
        case waiting(TracedWait.Reason)
    }

    /// A part of the path.
    public struct Step: Sendable, Hashable {
        /// Whose.
        public let operation: OperationReference
        /// What it did.
        public let activity: Activity
        /// When that began.
        public let start: Duration
        /// When it was over; the next step begins then.
        public let end: Duration

        /// How long it was.
        public var duration: Duration { end - start }
    }

    /// Its steps, the first first, none of length zero.
    public let steps: [Step]
    /// The operations on it, in the order in which it comes to them first, those without a step of their own included.
    public let operations: [OperationReference]

    /// From its beginning to its end.
    public var duration: Duration { steps.reduce(.zero) { $0 + $1.duration } }
}

extension Trace {
    /// What determined its end. Empty if no operation has run.
    ///
    /// Takes time in proportion to the events, and a logarithm of that.
    public func criticalPath() -> CriticalPath {
        var walk = CriticalPathWalk(of: self)
        return walk.path()
    }
}
