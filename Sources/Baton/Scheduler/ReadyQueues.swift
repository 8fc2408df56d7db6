/// The ready operations of the five priorities, in the ``SchedulingOrder`` of the queue. Pure; guarded by the queue's
/// lock.
struct ReadyQueues {
    /// The number of operations in a row that may start before others of their priority that wait.
    static let budget = 16

    /// Operations that were ready when they were added. In orders other than depth first, all operations that have not
    /// been dequeued.
    private var added = PriorityRunQueue<IntrusiveList>()
    /// Operations that had been dequeued before, and then waited for an exclusion, a condition or a further attempt.
    /// They start before those in `added`.
    private var requeued = PriorityRunQueue<IntrusiveList>()
    /// Operations that the end of another operation has made ready. They start before those in `requeued`.
    private var released = PriorityRunQueue<IntrusiveList>()
    /// The number of released operations that have started in a row while others of their priority waited.
    private var releasedInARow = 0
    /// The number of times in a row that newly released operations were put before others that had been released
    /// earlier.
    private var passedInARow = 0

    /// The priorities that have ready operations.
    var filled: PriorityMask { others.union(released.filled) }

    private var others: PriorityMask { added.filled.union(requeued.filled) }

    /// The priorities that have operations which had been dequeued before.
    var filledRequeued: PriorityMask { requeued.filled }

    /// The number of operations, each made ready by the previous one, with which a worker may continue while others
    /// wait.
    var inlineBudget: Int { max(0, Self.budget - releasedInARow) }

    @inline(__always)
    mutating func append(_ operation: Unretained<AnyOperation>, at level: OperationPriority, by order: SchedulingOrder)
    {
        if order == .lastInFirstOut {
            added.prepend(operation, at: level)
        } else {
            added.append(operation, at: level)
        }
    }

    /// Appends an operation that the end of another one has made ready. Used in depth-first order only.
    ///
    /// - Parameter passes: True if the operation comes before those that were released earlier. After ``budget`` such
    ///   operations in a row, one is put behind them, so that a graph that grows deeper and deeper does not keep them
    ///   waiting forever.
    @inline(__always)
    mutating func append(released operation: Unretained<AnyOperation>, at level: OperationPriority, passes: Bool) {
        if mayPass(passes, besides: released.filled.contains(level)) {
            released.prepend(operation, at: level)
        } else {
            released.append(operation, at: level)
        }
    }

    /// Appends several released operations, in order. See ``append(released:at:passes:)``.
    mutating func append(released batch: PriorityRunQueue<IntrusiveList>, passes: Bool) {
        if batch.isEmpty { return }
        released.take(batch, first: mayPass(passes, besides: !batch.filled.isDisjoint(with: released.filled)))
    }

    @inline(__always)
    private mutating func mayPass(_ passes: Bool, besides others: Bool) -> Bool {
        passedInARow = others ? passedInARow + 1 : 0
        if passes, passedInARow <= Self.budget { return true }
        passedInARow = 0
        return false
    }

    /// Notes that a worker has continued with this number of operations without asking.
    @inline(__always)
    mutating func noteStarts(ofReleased count: Int) {
        releasedInARow += count
        passedInARow += count
    }

    @inline(__always)
    mutating func popFirst(at level: OperationPriority) -> Unretained<AnyOperation>? {
        if released.filled.contains(level), mayGoFirst(at: level) {
            return released.popFirst(at: level)
        }
        releasedInARow = 0
        return requeued.filled.contains(level) ? requeued.popFirst(at: level) : added.popFirst(at: level)
    }

    @inline(__always)
    private mutating func mayGoFirst(at level: OperationPriority) -> Bool {
        if !others.contains(level) {
            releasedInARow = 0
            return true
        }
        releasedInARow += 1
        return releasedInARow <= Self.budget
    }

    mutating func append(requeued operation: Unretained<AnyOperation>, at level: OperationPriority) {
        requeued.append(operation, at: level)
    }

    mutating func remove(requeued operation: Unretained<AnyOperation>, at level: OperationPriority) {
        requeued.remove(operation, at: level)
    }

    mutating func popFirst(requeuedAt level: OperationPriority) -> Unretained<AnyOperation>? {
        requeued.popFirst(at: level)
    }

    /// Appends an operation behind the others of its kind.
    mutating func append(_ operation: Unretained<AnyOperation>, at level: OperationPriority, isReleased: Bool) {
        if isReleased { released.append(operation, at: level) } else { added.append(operation, at: level) }
    }

    /// Removes an operation, which must be in these queues.
    mutating func remove(_ operation: Unretained<AnyOperation>, at level: OperationPriority, isReleased: Bool) {
        if isReleased { released.remove(operation, at: level) } else { added.remove(operation, at: level) }
    }
}
