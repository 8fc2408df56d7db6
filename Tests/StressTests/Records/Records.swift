import Baton
import Synchronization

/// The records of one node during a round. All atomics are relaxed, because the records must not order what the engine
/// has to order itself.
final class NodeRecord: Sendable {
    let starts = Atomic<Int>(0)
    let ends = Atomic<Int>(0)
    let handlerCalls = Atomic<Int>(0)
    let handlersAdded = Atomic<Int>(0)
    /// The index of the queue that reported the operation as added, or -1.
    let queue = Atomic<Int>(-1)
    /// True if a parent has added it as a child, so that it runs in a suspended queue, too.
    let isChild = Atomic<Bool>(false)
    /// The last event: 1 for added, 2 for started, 3 for finished.
    let phase = Atomic<Int>(0)
    let events = Locked(EventOrder())
    /// The value of ``RunRecorder/mark`` on the task that added the operation, or -1 if it is not known.
    let mark = Atomic<Int>(-1)
    /// The number of open waits of the body, plus ``ended`` when the body has returned.
    let waits = Atomic<Int>(0)
    let firstOutcome = Locked<Outcome?>(nil)
    let cancels = Locked<[Outcome.Reason]>([])
    /// The reason that the operation must keep. Seeded rounds only.
    let decisiveReason = Locked<Outcome.Reason?>(nil)
    /// The operations that the body runs and awaits at the moment. Seeded rounds only.
    let children = Locked<[AnyOperation]>([])
    /// True if a caller was cancelled while it awaited `queue.run` of this operation.
    let isTakenBack = Atomic<Bool>(false)
    /// True if a caller was cancelled while it waited to submit this operation.
    let isGivenUp = Atomic<Bool>(false)
    let attempts = AttemptRecord()
    let handlers = HandlerRecord()
    let conditions = ConditionRecord()
    /// True if a group has accepted the operation from a body.
    let isAccepted = Atomic<Bool>(false)
    /// True if the body has cancelled the task of this attempt.
    let hasCancelledItself = Atomic<Bool>(false)

    static let ended = 1 << 32
}

/// The records of one queue during a round.
final class QueueRecord: Sendable {
    /// The number of bodies that hold a permit. It never exceeds the real number.
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
