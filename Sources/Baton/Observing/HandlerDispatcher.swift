/// The operations of a queue whose handlers are due, and the tasks that call the handlers, each for one operation after
/// another. A pure value: the queue locks it, asks it, unlocks it, and performs the action.
///
/// A handler may suspend or block its thread for any time. So while an operation is pending, one task is *coming*: it
/// is starting or has yielded, and takes the next operation no matter what the other tasks do.
struct HandlerDispatcher {
    /// The next step of a task.
    enum Action {
        /// Call the handlers of this operation, after starting another task if `isFollowed` is true.
        case call(Unmanaged<AnyOperation>, isFollowed: Bool)
        /// Yield the thread, and then ask for the next action.
        case yield
        case end
    }

    /// How often a task that finds nothing yields before it ends. A queue that runs short operations then keeps the
    /// tasks that it has, instead of starting one for every few operations.
    static let patience = 2
    private static let mostComing = 2

    private var pending = FIFOQueue<Unmanaged<AnyOperation>>()
    /// The number of open deliveries.
    ///
    /// These are operations that are pending or whose handlers a task calls, and operations whose `finished` event
    /// another thread is going to publish. An operation that is due twice counts twice.
    private var open = 0
    private var coming = 0
    /// The operations whose handlers a task is calling: a stall report names them.
    private var called: Set<UnsafeMutableRawPointer> = []
    /// How many calls of an operation's handlers, and how many ends to be told, are over.
    private(set) var completed = 0

    /// True if all handlers that were due have returned, their operations are released, and all `finished` events are
    /// published.
    var isIdle: Bool { open == 0 }

    /// Takes over the reference to the operation. Returns true if the caller has to start a task.
    mutating func append(_ operation: Unmanaged<AnyOperation>) -> Bool {
        open += 1
        pending.append(operation)
        return callTask()
    }

    /// Counts an operation whose `finished` event another thread is going to publish. That thread calls ``ended()``.
    mutating func begin() { open += 1 }

    /// Notes that a task runs, after it was started or has yielded.
    mutating func taskCame() { coming -= 1 }

    /// Returns the next step of a task that calls no handler and has yielded `emptyTurns` times without finding an
    /// operation.
    mutating func nextAction(isSliceOver: Bool, emptyTurns: Int) -> Action {
        if !isSliceOver, let operation = pending.popFirst() {
            called.insert(operation.toOpaque())
            return .call(operation, isFollowed: callTask())
        }
        if coming >= Self.mostComing || emptyTurns > Self.patience { return .end }
        coming += 1
        return .yield
    }

    /// A task has called the handlers of the operation, which it is about to release.
    mutating func returned(from operation: Unmanaged<AnyOperation>) { called.remove(operation.toOpaque()) }

    /// Notes that an operation was released after its handlers, or that its `finished` event was published.
    mutating func ended() {
        open -= 1
        completed += 1
    }

    /// The operations whose handlers are being called, retained, in no particular order.
    func operationsInHandlers() -> [AnyOperation] {
        called.map { Unmanaged<AnyOperation>.fromOpaque($0).takeUnretainedValue() }
    }

    private mutating func callTask() -> Bool {
        if pending.isEmpty || coming > 0 { return false }
        coming += 1
        return true
    }
}
