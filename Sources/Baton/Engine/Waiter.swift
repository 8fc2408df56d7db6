/// A task, group or iteration that awaits an operation's outcome.
struct Waiter {
    enum Waking {
        /// The task is resumed, with an error if the wait itself would have closed a cycle.
        case resume(UnsafeContinuation<OperationError?, Never>)
        /// The group is told that its child at this place has ended.
        case tell(ChildGroup, ChildGroup.Place)
        /// The listener is told that the operation at this place has ended.
        case inform(any OutcomeListener, Int)
    }

    let waking: Waking
    /// The operation whose body waits, if it releases its permit for the wait.
    let body: AnyOperation?
    /// The run of that body.
    var run: Int32 = 0
    /// The place of the wait in ``OptionalState/waits`` of that body.
    var place = Awaited.ID.none
}

/// An iteration that awaits many operations and receives their outcomes, each with the number that was given at its
/// registration. No lock is held during a call.
protocol OutcomeListener: AnyObject, Sendable {
    /// The operations that have not ended.
    var waitsFor: [AnyOperation] { get }
    /// The operation whose body waits for them.
    var body: AnyOperation? { get }
    /// True if somebody waits for the next element, and there is none yet.
    var awaitsMore: Bool { get }

    /// Called when the body has ended. The listener must release ``body``.
    func bodyEnded()

    /// Called when the wait for an operation is over.
    ///
    /// - Parameter error: Set if the wait was refused because of a cycle. The operation has then not ended.
    func ended(_ place: Int, _ operation: AnyOperation, _ error: OperationError?)
}

/// An operation that a body waits for.
struct Awaited {
    typealias ID = Slab<Awaited?>.ID

    let operation: AnyOperation
    /// True if `context.run` has started the operation: a cancel of the waiting operation then reaches it.
    let isChild: Bool
}
