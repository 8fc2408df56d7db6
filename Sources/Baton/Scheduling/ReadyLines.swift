/// What is ready to run, of the five priorities, in the ``SchedulingOrder`` of the queue. Pure; guarded by the queue's
/// lock.
struct ReadyLines {
    /// How many in a row go before others of their priority that wait.
    static let budget = 16

    /// Those that were ready when they were added, and in the other orders than depth first all of them.
    private var added = PriorityRunQueue<IntrusiveList>()
    /// Those that had been taken up before, and have waited for a name or a condition. They come before ``added``.
    private var again = PriorityRunQueue<IntrusiveList>()
    /// Those that the end of another operation has made ready. They come before ``again``.
    private var released = PriorityRunQueue<IntrusiveList>()
    /// Starts of released operations in a row while others of their priority waited.
    private var releasedInARow = 0
    /// How often in a row those that were just released have passed others that were released before.
    private var passedInARow = 0

    /// The priorities of which there are some.
    var filled: PriorityMask { others.union(released.filled) }

    private var others: PriorityMask { added.filled.union(again.filled) }

    /// The priorities of which there are some that had been taken up before.
    var filledAgain: PriorityMask { again.filled }

    /// With how many, each made ready by the one before it, a worker may go on while others wait.
    var inlineBudget: Int { max(0, Self.budget - releasedInARow) }

    @inline(__always)
    mutating func append(_ operation: Unmanaged<AnyOperation>, at level: OperationPriority, by order: SchedulingOrder) {
        if order == .lastInFirstOut {
            added.prepend(operation, at: level)
        } else {
            added.append(operation, at: level)
        }
    }

    /// Depth first only.
    ///
    /// - Parameter passes: Whether it comes before those that were released earlier. Those that go deeper and deeper
    ///   would keep the others waiting for ever, so that from time to time one goes behind them all the same.
    @inline(__always)
    mutating func append(released operation: Unmanaged<AnyOperation>, at level: OperationPriority, passes: Bool) {
        if mayPass(passes, besides: released.filled.contains(level)) {
            released.prepend(operation, at: level)
        } else {
            released.append(operation, at: level)
        }
    }

    /// As above, of several in order.
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

    /// A worker has gone on with so many, one after another, without asking.
    @inline(__always)
    mutating func noteStarts(ofReleased count: Int) {
        releasedInARow += count
        passedInARow += count
    }

    @inline(__always)
    mutating func popFirst(at level: OperationPriority) -> (operation: Unmanaged<AnyOperation>, isReleased: Bool)? {
        if released.filled.contains(level), mayGoFirst(at: level) {
            return released.popFirst(at: level).map { ($0, true) }
        }
        releasedInARow = 0
        let first = again.filled.contains(level) ? again.popFirst(at: level) : added.popFirst(at: level)
        return first.map { ($0, false) }
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

    mutating func append(again operation: Unmanaged<AnyOperation>, at level: OperationPriority) {
        again.append(operation, at: level)
    }

    mutating func remove(again operation: Unmanaged<AnyOperation>, at level: OperationPriority) {
        again.remove(operation, at: level)
    }

    mutating func popFirst(againAt level: OperationPriority) -> Unmanaged<AnyOperation>? { again.popFirst(at: level) }

    /// Where it was.
    mutating func prepend(_ operation: Unmanaged<AnyOperation>, at level: OperationPriority, isReleased: Bool) {
        if isReleased { released.prepend(operation, at: level) } else { added.prepend(operation, at: level) }
    }

    /// Behind the others of its kind.
    mutating func append(_ operation: Unmanaged<AnyOperation>, at level: OperationPriority, isReleased: Bool) {
        if isReleased { released.append(operation, at: level) } else { added.append(operation, at: level) }
    }

    /// Of one that is there.
    mutating func remove(_ operation: Unmanaged<AnyOperation>, at level: OperationPriority, isReleased: Bool) {
        if isReleased { released.remove(operation, at: level) } else { added.remove(operation, at: level) }
    }
}
