import Baton
import Synchronization

/// What is noted about one node while it runs. Relaxed atomics only: the notes must not order what the engine has to
/// order.
final class NodeRecord: Sendable {
    let starts = Atomic<Int>(0)
    let ends = Atomic<Int>(0)
    let handlerCalls = Atomic<Int>(0)
    let handlersAdded = Atomic<Int>(0)
    /// The queue that reported it as added, or -1.
    let queue = Atomic<Int>(-1)
    /// `context.run` has added it: it runs in a suspended queue, too.
    let isChild = Atomic<Bool>(false)
    /// How far the events have come: 1 added, 2 started, 3 finished.
    let phase = Atomic<Int>(0)
    let events = Locked(EventOrder())
    /// Open waits of the body, and `ended` when it has returned.
    let waits = Atomic<Int>(0)
    let firstOutcome = Locked<Outcome?>(nil)
    let cancels = Locked<[Outcome.Reason]>([])
    /// Under a seed: the reason that must be the one that stays.
    let decisiveReason = Locked<Outcome.Reason?>(nil)
    /// Under a seed: what its body runs and awaits at this moment.
    let children = Locked<[AnyOperation]>([])
    /// Somebody was cancelled while it awaited `queue.run` of this.
    let isTakenBack = Atomic<Bool>(false)
    /// Somebody was cancelled while it waited to submit this.
    let isGivenUp = Atomic<Bool>(false)
    let attempts = AttemptRecord()
    let handlers = HandlerRecord()
    let conditions = ConditionRecord()
    /// A group has taken it from a body.
    let isTaken = Atomic<Bool>(false)
    /// The body has cancelled the task of this attempt.
    let hasCancelledItself = Atomic<Bool>(false)

    static let ended = 1 << 32
}

/// What is noted about one queue.
final class QueueRecord: Sendable {
    /// Bodies that hold a permit; never more than there really are.
    let holding = Atomic<Int>(0)
    let width: Atomic<Int>
    let greatestWidth: Atomic<Int>
    let isCancelled = Atomic<Bool>(false)

    init(width: Int) {
        self.width = Atomic(width)
        greatestWidth = Atomic(width)
    }

    func expectWidth(_ width: Int) {
        greatestWidth.max(width, ordering: .relaxed)
        self.width.store(width, ordering: .relaxed)
    }
}
