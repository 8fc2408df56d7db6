/// The operations of a queue whose handlers are due, and the tasks that call them, each one operation after another.
/// Pure; the queue locks it, asks, unlocks, and performs the action.
///
/// A handler may suspend, or block its thread, for as long as it likes. So while an operation is pending a task is
/// *coming*: it starts or has yielded, and takes the next operation whatever the others are doing.
struct HandlerDispatcher {
    /// What a task does next.
    enum Action {
        /// Calls the handlers of this operation, and before that, if `isFollowed`, starts another task.
        case call(Unmanaged<AnyOperation>, isFollowed: Bool)
        /// Lets others have its thread and comes again.
        case yield
        case end
    }

    /// A task that finds nothing comes again this often before it ends: a queue that runs short operations goes on with
    /// the tasks that it has, where it would start one for every few operations.
    static let patience = 2
    private static let mostComing = 2

    private var pending = FIFOQueue<Unmanaged<AnyOperation>>()
    /// Pending, or with a task that calls their handlers, or with a thread that tells their end. One that is due twice
    /// counts twice.
    private var open = 0
    private var coming = 0
    /// The operations whose handlers a task is calling: a stall report names them.
    private var called: Set<UnsafeMutableRawPointer> = []
    /// How many calls of an operation's handlers, and how many ends to be told, are over.
    private(set) var completed = 0

    /// Every handler that was due has returned, and its operation is let go; and every end is told to those who observe
    /// it.
    var isIdle: Bool { open == 0 }

    /// The reference is the delivery's from here on. True: a task has to be started.
    mutating func append(_ operation: Unmanaged<AnyOperation>) -> Bool {
        open += 1
        pending.append(operation)
        return callTask()
    }

    /// A thread tells the end of an operation, and will say when it is told.
    mutating func begin() { open += 1 }

    /// A task has its thread, for the first time or again.
    mutating func taskCame() { coming -= 1 }

    /// For a task that is not inside a handler and has had nothing to do `emptyTurns` times.
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

    /// An operation has been let go, or its end is told.
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
