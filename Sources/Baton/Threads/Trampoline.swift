internal import CBaton

/// Keeps calls that would recurse through a whole graph from overflowing the stack: releasing what operations and
/// queues own, and cancelling what runs inside one another.
///
/// Work is done at once, inside whatever the thread is doing, so that what the user calls has happened when the call
/// returns. Only from the ``deepest`` level on does the thread leave it to a loop on that level, which ends before that
/// level's own call returns. Without it a chain of 50,000 overflows the stack.
enum Trampoline {
    enum Work {
        /// What a dead operation owned.
        case release(AnyOperation.Remains)
        /// What an operation needs no more. It may be the user's, whose `deinit` may do anything.
        case drop(Any)
        /// Lets go of what an operation had that has ended before its run, and so do those that this ends.
        indirect case settle(AnyOperation.EarlyEnd)
        /// Calls `onCancel` handlers, which are user code and may cancel again.
        case cancelTask(Worker)
        case cancel([AnyOperation], CancellationReason)
        /// All that it stood behind has finished; perhaps that was another fence.
        case open(Fence)
        /// The last handle of the queue is gone.
        case releaseQueue(QueueCore)
    }

    /// How many calls may be inside one another. A level takes a few hundred bytes of stack and what the user's
    /// handlers take.
    static let deepest: UInt = 64

    /// What the deepest level has to do after its first work. `@exclusivity(unchecked)` spares the dynamic check, a
    /// fifth of a release: whatever is taken from it is performed, and released, after the access.
    private final class Backlog {
        @exclusivity(unchecked) private var work: [Work] = []

        func append(_ more: consuming Work) { work.append(more) }

        func popLast() -> Work? { work.popLast() }
    }

    /// The thread's word is its level, from none to ``deepest`` - 1, or the backlog of the deepest level: an address,
    /// which is greater.
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
            Unmanaged<Backlog>.fromOpaque(word!).takeUnretainedValue().append(work)
        }
    }

    /// As ``run(_:)`` does, but the work is only put into a value where it has to wait.
    static func settle(_ end: AnyOperation.EarlyEnd) {
        let word = baton_thread_word()
        let level = UInt(bitPattern: word)
        if level >= deepest - 1 { return run(.settle(end)) }
        baton_set_thread_word(UnsafeMutableRawPointer(bitPattern: level + 1))
        end.settleNow()
        baton_set_thread_word(word)
    }

    @inline(never)
    private static func runInLoop(_ work: consuming Work, _ word: UnsafeMutableRawPointer?) {
        let backlog = Backlog()
        baton_set_thread_word(Unmanaged.passUnretained(backlog).toOpaque())
        perform(consume work)
        while let next = backlog.popLast() { perform(next) }
        baton_set_thread_word(word)
    }

    private static func perform(_ work: consuming Work) {
        switch consume work {
        case .release, .drop: break
        case .settle(let end): end.settleNow()
        case .cancelTask(let worker): worker.cancelTaskNow()
        case .open(let fence): fence.open()
        case .releaseQueue(let core): core.handleReleased()
        case .cancel(let operations, let reason):
            AnyOperation.cancel(operations, reason: reason) { $0.ownerWithdraws(reason) }
        }
    }
}
