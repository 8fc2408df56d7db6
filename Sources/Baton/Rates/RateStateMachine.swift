/// How often operations may start: the numbers of a ``Rate`` as the algorithm needs them.
struct RateLimits: Hashable {
    /// From one start to the next, on average.
    let interval: Duration
    /// How much sooner than that a start may come: the burst without its first start, in intervals.
    let tolerance: Duration

    init(count: Int, period: Duration, burst: Int) {
        let count = max(1, count)
        // A clock counts nothing shorter than an attosecond.
        interval = Duration(attoseconds: max(1, period.bounded.attoseconds / Int128(count)))
        tolerance = Duration(attoseconds: interval.attoseconds * Int128(min(max(1, burst), count) - 1))
    }

    /// No rate lets more operations start than this one.
    static func slower(_ left: RateLimits, _ right: RateLimits) -> RateLimits {
        if left.interval != right.interval { return left.interval > right.interval ? left : right }
        return left.tolerance <= right.tolerance ? left : right
    }
}

/// Decides when those who share a rate may start: the generic cell rate algorithm (ITU-T I.371), and a line of those
/// who wait. Pure.
///
/// A waiting operation first gets a turn, is listed in its queue, and starts when that has a permit for it. The
/// algorithm runs twice: over the starts, which decides, and over the starts and the turns together, which says when
/// the next turn is given. An operation that does not get a permit within an interval therefore keeps nobody back, and
/// if another one has started in its place it goes back to its old place in the line.
struct RateStateMachine<Waiter> {
    /// The place of a waiting operation in the line.
    typealias Ticket = TimerHeap<UInt64, Waiter>.Ticket

    private(set) var limits: RateLimits
    /// The theoretical time of the next start: its ideal time if all starts were spaced evenly.
    private var nextStart: Duration
    /// The same if everyone who has a turn had started when it came. Never earlier than `nextStart`.
    private var nextAction: Duration
    /// In the order of their arrival numbers, also those who come back.
    private var line = TimerHeap<UInt64, Waiter>()

    init(_ limits: RateLimits, at now: Duration) {
        self.limits = limits
        nextStart = now
        nextAction = now
    }

    /// Somebody uses the rate with these numbers. True: they are not those that it has had, and the slower ones count.
    mutating func meet(_ others: RateLimits) -> Bool {
        if others == limits { return false }
        limits = .slower(limits, others)
        return true
    }

    /// Nobody waits, and a rate that nobody has used would not decide otherwise.
    func isUnused(at now: Duration) -> Bool { line.count == 0 && nextAction <= now }

    // MARK: Starting

    /// Whether the operation of this arrival number may start: the rate allows it, and nobody who waits came before.
    func admits(_ arrival: UInt64, hasTurn: Bool, at now: Duration) -> Bool {
        if let first = line.next, first < arrival { return false }
        return (hasTurn ? nextStart : nextAction) - limits.tolerance <= now
    }

    /// To be called for one that is admitted.
    mutating func start(hasTurn: Bool, at now: Duration) {
        nextStart = max(nextStart, now) + limits.interval
        if !hasTurn { nextAction = max(nextAction, now) + limits.interval }
        nextAction = max(nextAction, nextStart)
    }

    /// It has not started after all.
    mutating func takeStartBack() {
        nextStart -= limits.interval
        giveTurnBack()
    }

    /// The clock may have gone back: nobody waits longer than if the whole burst had started now.
    mutating func correct(at now: Duration) {
        let latest = now + limits.tolerance + limits.interval
        nextStart = min(nextStart, latest)
        nextAction = min(nextAction, latest)
    }

    // MARK: Waiting

    mutating func wait(_ waiter: Waiter, arrival: UInt64) -> Ticket { line.add(waiter, at: arrival) }

    /// False: it waits no longer.
    mutating func leave(_ ticket: Ticket) -> Bool { line.remove(ticket) != nil }

    /// The first of those who wait has its turn, if its time has come.
    mutating func takeTurn(at now: Duration) -> Waiter? {
        guard let time = turnTime, time <= now else { return nil }
        nextAction = max(nextAction, now) + limits.interval
        return line.removeFirst()
    }

    /// The operation that had a turn does not use it.
    mutating func giveTurnBack() { nextAction = max(nextStart, nextAction - limits.interval) }

    /// The waiter that has the next turn.
    var first: Waiter? { line.first }

    /// When that is; nil: nobody waits.
    var turnTime: Duration? { line.count == 0 ? nil : nextAction - limits.tolerance }

    // MARK: Looking

    /// The arrival numbers of those who wait, in no particular order.
    var arrivals: [UInt64] { line.times }
}
