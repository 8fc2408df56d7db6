internal import CBaton

/// Keeps calls that would recurse through a whole graph from overflowing the stack: the release of what operations and
/// queues own, and nested cancellations.
///
/// Work is performed immediately, inside the current call, so its effects are visible when the user's call returns. At
/// the ``deepest`` level, nested work is appended to a backlog instead. A loop on that level performs it before that
/// level's own call returns. Without the trampoline, a chain of 50,000 operations overflows the stack.
enum Trampoline {
    enum Work {
        /// Releases what a deallocated operation owned.
        case release(AnyOperation.Remains)
        /// Releases something that an operation no longer needs. It may be an object of the user, whose `deinit` may do
        /// anything.
        case drop(Any)
        /// Completes the early end of an operation, which may end others in turn.
        indirect case complete(AnyOperation.EarlyEnd)
        /// Cancels a task, which calls the user's `onCancel` handlers. These may cancel further operations.
        case cancelTask(CancellableTask)
        case cancel([AnyOperation], CancellationReason)
        /// Cancels the children of a group that has ended before it started, unless somebody else runs them.
        case cancelUnstarted([AnyOperation], OperationReference)
        /// Opens a fence after everything that it waits for has finished. The last of its sources may have been another
        /// fence.
        case open(Fence)
        /// Releases a queue whose last handle is gone.
        case releaseQueue(QueueCore)
    }

    /// The maximum nesting depth. A level takes a few kilobytes of stack at most, also in a debug build, and the stack
    /// space of the user's handlers. A secondary thread on Apple platforms has 512 KB.
    static let deepest: UInt = 64

    /// The work that the deepest level still has to perform. `@exclusivity(unchecked)` avoids the dynamic check, which
    /// takes a fifth of the time of a release. It is safe because work is performed and released only after it has been
    /// removed.
    private final class Backlog {
        @exclusivity(unchecked) private var work: [Work] = []

        func append(_ more: consuming Work) { work.append(more) }

        func popLast() -> Work? { work.popLast() }
    }

    /// Performs work immediately, or appends it to the backlog of the deepest level.
    ///
    /// The thread's word is either its nesting level, from 0 to ``deepest`` - 1, or the address of the backlog, which
    /// is greater than any level.
    static func run(_ work: consuming Work) {
        let word = baton_thread_word()
        let level = UInt(bitPattern: word)
        if level < deepest - 1 {
            baton_set_thread_word(UnsafeMutableRawPointer(bitPattern: level + 1))
            perform(consume work)
            baton_set_thread_word(word)
        } else if level == deepest - 1 {
            runInLoop(consume work, word)
        } else {
            Unretained<Backlog>(address: word!).object.append(work)
        }
    }

    /// Performs the same work as ``run(_:)`` with `.complete`. The enum value is made only if the work has to go to the
    /// deepest level.
    static func complete(_ end: AnyOperation.EarlyEnd) {
        let word = baton_thread_word()
        let level = UInt(bitPattern: word)
        if level >= deepest - 1 { return run(.complete(end)) }
        baton_set_thread_word(UnsafeMutableRawPointer(bitPattern: level + 1))
        end.completeNow()
        baton_set_thread_word(word)
    }

    @inline(never)
    private static func runInLoop(_ work: consuming Work, _ word: UnsafeMutableRawPointer?) {
        let backlog = Backlog()
        baton_set_thread_word(Unretained(backlog).address)
        perform(consume work)
        while let next = backlog.popLast() { perform(next) }
        baton_set_thread_word(word)
    }

    private static func perform(_ work: consuming Work) {
        assert(HeldLocks.isEmpty, "Work of the trampoline may run user code.")
        switch consume work {
        case .release, .drop: break
        case .complete(let end): end.completeNow()
        case .cancelTask(let task): task.cancelNow()
        case .open(let fence): fence.open()
        case .releaseQueue(let core): core.lastHandleWasReleased()
        case .cancelUnstarted(let children, let group): AnyOperation.cancel(children, ofUnstarted: group)
        case .cancel(let operations, let reason):
            AnyOperation.cancel(operations, reason: reason) { $0.ownerWithdraws(reason) }
        }
    }
}
