/// The numbers of a ``Rate``, as the algorithm needs them.
struct RateLimits: Hashable {
    /// The average time from one start to the next.
    let interval: Duration
    /// The time by which a start may come earlier than the interval demands: the burst without its first start, times
    /// the interval.
    let tolerance: Duration

    init(count: Int, period: Duration, burst: Int) {
        let count = max(1, count)
        // At least one attosecond, the resolution of a clock.
        interval = Duration(attoseconds: max(1, period.bounded.attoseconds / Int128(count)))
        tolerance = Duration(attoseconds: interval.attoseconds * Int128(min(max(1, burst), count) - 1))
    }

    /// Returns the limits that allow fewer starts.
    static func slower(_ left: RateLimits, _ right: RateLimits) -> RateLimits {
        if left.interval != right.interval { return left.interval > right.interval ? left : right }
        return left.tolerance <= right.tolerance ? left : right
    }
}

/// Decides when the operations that share a rate may start, with the generic cell rate algorithm (ITU-T I.371), and
/// keeps the queue of those that wait. A pure state machine.
///
/// A waiting operation first gets a turn, then is listed in its queue, and starts when the queue has a permit for it.
/// The algorithm runs twice: over the starts, to decide whether an operation may start, and over the starts and turns
/// together, to decide when the next turn is granted. An operation that gets no permit within an interval therefore
/// delays no other. If another operation has started instead, the first one goes back to its old place among the
/// waiting operations.
struct RateStateMachine<Waiter> {
    /// Identifies a waiting operation.
    typealias Ticket = TimerHeap<UInt64, Waiter>.Ticket

    private(set) var limits: RateLimits
    /// The theoretical time of the next start: its ideal time if all starts were spaced evenly.
    private var nextStart: Duration
    /// The theoretical time of the next start if every operation with a turn had started when it got the turn. Never
    /// earlier than `nextStart`.
    private var nextTurn: Duration {
        didSet { assert(nextTurn >= nextStart, "the next turn is earlier than the next start") }
    }
    /// The waiting operations in the order of their arrival numbers, which those that come back keep.
    private var waiters = TimerHeap<UInt64, Waiter>()

    init(_ limits: RateLimits, at now: Duration) {
        self.limits = limits
        nextStart = now
        nextTurn = now
    }

    /// Applies the limits that another operation gives the rate: the slower ones count. Returns true if they differ
    /// from the limits of the rate.
    mutating func noteLimits(_ others: RateLimits) -> Bool {
        if others == limits { return false }
        limits = .slower(limits, others)
        return true
    }

    /// True if nobody waits, and a new rate would decide in the same way.
    func isUnused(at now: Duration) -> Bool { waiters.count == 0 && nextTurn <= now }

    // MARK: Starting

    /// Returns true if the operation with this arrival number may start: the rate allows it, and no operation that came
    /// before is waiting.
    func admits(_ arrival: UInt64, hasTurn: Bool, at now: Duration) -> Bool {
        if let first = waiters.next, first < arrival { return false }
        return (hasTurn ? nextStart : nextTurn) - limits.tolerance <= now
    }

    /// Counts the start of an operation that is admitted.
    mutating func start(hasTurn: Bool, at now: Duration) {
        nextStart = max(nextStart, now) + limits.interval
        if !hasTurn { nextTurn = max(nextTurn, now) + limits.interval }
        nextTurn = max(nextTurn, nextStart)
    }

    /// Removes the last start, because the operation has not started after all.
    mutating func undoStart() {
        nextStart -= limits.interval
        returnTurn()
    }

    /// Corrects the times if the clock has gone back, so that nobody waits longer than if the whole burst had started
    /// now.
    mutating func correct(at now: Duration) {
        let latest = now + limits.tolerance + limits.interval
        nextStart = min(nextStart, latest)
        nextTurn = min(nextTurn, latest)
    }

    // MARK: Waiting

    mutating func wait(_ waiter: Waiter, arrival: UInt64) -> Ticket { waiters.add(waiter, at: arrival) }

    /// Removes a waiting operation. Returns false if it does not wait any more.
    mutating func removeWaiter(_ ticket: Ticket) -> Bool { waiters.remove(ticket) != nil }

    /// Gives the first waiting operation its turn and removes it, if the time of the turn has come.
    mutating func takeTurn(at now: Duration) -> Waiter? {
        guard let time = turnTime, time <= now else { return nil }
        nextTurn = max(nextTurn, now) + limits.interval
        return waiters.removeFirst()
    }

    /// Makes the turn of an operation that does not use it available to others.
    mutating func returnTurn() { nextTurn = max(nextStart, nextTurn - limits.interval) }

    /// The waiting operation that gets the next turn.
    var first: Waiter? { waiters.first }

    /// The time of the next turn; nil if nobody waits.
    var turnTime: Duration? { waiters.count == 0 ? nil : nextTurn - limits.tolerance }

    // MARK: Inspection

    /// The arrival numbers of the waiting operations, in no particular order.
    var arrivals: [UInt64] { waiters.times }
}
