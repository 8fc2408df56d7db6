/// The rates of the process, and the operations that wait for them. A state machine that is pure except for the
/// references that it stores; ``RateManager`` is its driver.
///
/// A waiting operation is in no list of its queue and has no task: the table owns the queue's reference to it. The call
/// that ends the operation's last wait, by granting a turn or because the operation ends, passes this reference to its
/// caller.
/// Each rate has at most one timer, which belongs to the timer service of the queue whose operation waits first.
struct RateTable {
    /// Identifies a rate. Rates with the same name on different clocks are independent.
    struct Key: Hashable {
        let clock: ObjectIdentifier
        let name: String
    }

    /// A change of a timer, which the caller makes after unlocking.
    struct TimerChange {
        let former: (timerService: TimerService, ticket: TimerService.Ticket)?
        let next: (timerService: TimerService, timer: RateTimer, time: Duration)?
    }

    /// A reading of a clock, which is the user's code and therefore read outside the lock. So another thread may use a
    /// later reading first; see ``advance(to:on:)``.
    struct Reading {
        /// The number of readings of the clock that had been used before this one was made.
        let number: UInt64
        let time: Duration
    }

    /// The rates on one clock.
    private final class ClockRates {
        let time: TimeSource
        /// The queues with this clock. Queues with one of the system's clocks are not counted, because the rates on
        /// these clocks outlive all queues.
        var queues: Set<UInt32> = []
        var rates: [String: RateEntry] = [:]
        /// When the number of rates reaches this, unused rates are removed.
        var limit = ClockRates.leastLimit

        /// The number of readings of the clock that have been used.
        var readingNumber: UInt64 = 0
        /// The time of the last reading.
        var now = Duration.zero

        static let leastLimit = 16

        init(_ time: TimeSource) { self.time = time }
    }

    private final class RateEntry {
        var machine: RateStateMachine<PlacedOperation>
        /// The rate that has given the limits of the machine.
        var rate: Rate
        var timer: Timer?
        /// True after a conflict between the limits that two operations give this rate has been reported.
        var hasConflict = false

        init(_ rate: Rate, at now: Duration) {
            self.rate = rate
            machine = RateStateMachine(rate.limits, at: now)
        }
    }

    /// An operation that waits for a rate, and the index of the rate among those of the operation.
    private struct PlacedOperation {
        let operation: Unretained<AnyOperation>
        let place: Int
    }

    private struct Timer {
        /// Not retained: it lives as long as the operation that was the first to wait when this timer was set.
        let timerService: Unretained<TimerService>
        let timer: RateTimer
        let time: Duration
        /// Nil until the thread that sets the timer has its ticket.
        var ticket: TimerService.Ticket?
    }

    private struct Waiter {
        /// The wait of an operation for one of its rates.
        struct RateWait {
            let key: Key
            let rate: Rate
            /// The ticket while the operation waits; nil once it has its turn.
            var ticket: RateStateMachine<PlacedOperation>.Ticket?
        }

        /// The place of the operation among all that wait, which it keeps until it starts.
        let arrival: UInt64
        /// Not retained: it lives as long as the operation has not ended.
        let core: Unretained<QueueCore>
        /// One place for each rate, at the rate's index among those of the operation, which do not change after the
        /// add. Empty if the operation's queue is suspended: the operation requests its rates again when a worker takes
        /// it up.
        private(set) var places: [RateWait]
        /// The number of places at which the operation waits.
        private var waitCount: Int

        init(arrival: UInt64, core: Unretained<QueueCore>, places: [RateWait]) {
            self.arrival = arrival
            self.core = core
            self.places = places
            waitCount = places.count { $0.ticket != nil }
        }

        /// True if the operation still waits for its turn at one of its rates. Otherwise it is in the ready list of its
        /// queue, or about to be added to it.
        var awaitsTurn: Bool { waitCount > 0 }

        func hasTurn(at place: Int) -> Bool { place < places.count && places[place].ticket == nil }

        mutating func takeTurn(at place: Int) {
            if places[place].ticket.take() != nil { waitCount -= 1 }
        }

        mutating func removePlaces() {
            places = []
            waitCount = 0
        }
    }

    private var clocks: [ObjectIdentifier: ClockRates] = [:]
    private var waiters: [ObjectIdentifier: Waiter] = [:]
    private var lastArrival: UInt64 = 0

    // MARK: Clocks

    /// Registers a queue with its clock. Returns the clock that measures the rates of the queue's operations, and the
    /// number of its next ``Reading``.
    mutating func register(queue number: UInt32, _ time: TimeSource) -> (time: TimeSource, readingNumber: UInt64) {
        let clockRates = clocks[time.clockIdentity] ?? ClockRates(time)
        clocks[time.clockIdentity] = clockRates
        if !time.isSystemClock { clockRates.queues.insert(number) }
        return (clockRates.time, clockRates.readingNumber)
    }

    /// The number of the next ``Reading`` of a clock.
    func readingNumber(on clock: ObjectIdentifier) -> UInt64 { clocks[clock]?.readingNumber ?? 0 }

    /// Returns the time of a reading. If other threads have used readings since this one was made, it may be out of
    /// date, and the latest time counts. Otherwise an earlier time than before means that the clock has gone back.
    private func advance(to reading: Reading, on clock: ObjectIdentifier) -> Duration {
        guard let clockRates = clocks[clock] else { return reading.time }
        let isCurrent = reading.number == clockRates.readingNumber
        clockRates.now = isCurrent ? reading.time : max(reading.time, clockRates.now)
        clockRates.readingNumber += 1
        return clockRates.now
    }

    /// Removes a queue. Returns an object that the caller releases after unlocking.
    mutating func unregister(queue number: UInt32, clock: ObjectIdentifier) -> AnyObject? {
        guard let clockRates = clocks[clock], clockRates.queues.remove(number) != nil, clockRates.queues.isEmpty else {
            return nil
        }
        return clocks.removeValue(forKey: clock)
    }

    // MARK: Starting

    enum StartResult {
        case started
        /// This rate does not allow the start. `hasWaited` is true if the operation has waited for one of its rates
        /// before and could not use its turn.
        case refused(by: Rate, hasWaited: Bool)
    }

    /// Counts a start of the operation in all of these rates, if all of them allow it.
    mutating func start(
        _ operation: Unretained<AnyOperation>, _ rates: [Rate], on clock: ObjectIdentifier, at reading: Reading
    ) -> (result: StartResult, conflicts: [RateConflict], changes: [TimerChange]) {
        let now = advance(to: reading, on: clock)
        let waiter = waiters[operation.id]
        let arrival = waiter?.arrival ?? lastArrival + 1
        var conflicts: [RateConflict] = []
        for (place, rate) in rates.enumerated() {
            let entry = updatedEntry(for: rate, on: clock, at: now, &conflicts)
            let hasTurn = waiter?.hasTurn(at: place) ?? false
            if !entry.machine.admits(arrival, hasTurn: hasTurn, at: now) {
                return (.refused(by: rate, hasWaited: waiter != nil), conflicts, [])
            }
        }
        for (place, rate) in rates.enumerated() {
            let key = Key(clock: clock, name: rate.key)
            entry(key)?.machine.start(hasTurn: waiter?.hasTurn(at: place) ?? false, at: now)
        }
        waiters[operation.id] = nil
        return (.started, conflicts, rates.compactMap { adjustTimer(of: Key(clock: clock, name: $0.key)) })
    }

    /// Removes a start that was counted, because the operation has ended before its body ran.
    mutating func undoStart(_ rates: [Rate], on clock: ObjectIdentifier) -> [TimerChange] {
        rates.compactMap { rate in
            let key = Key(clock: clock, name: rate.key)
            entry(key)?.machine.undoStart()
            return adjustTimer(of: key)
        }
    }

    // MARK: Waiting

    /// Makes the operation wait for its rates, in its old places if it has any. The operation keeps turns that it can
    /// still use. Returns only conflicts of rates that come after the one that refused the start, because
    /// ``start(_:_:on:at:)`` has returned the others.
    mutating func wait(
        _ operation: Unretained<AnyOperation>, _ rates: [Rate], in core: Unretained<QueueCore>,
        on clock: ObjectIdentifier, at reading: Reading
    ) -> (conflicts: [RateConflict], changes: [TimerChange]) {
        precondition(!rates.isEmpty, "Internal inconsistency: an operation without rates waits for a rate")
        let now = advance(to: reading, on: clock)
        let waiter = waiters[operation.id]
        if waiter == nil { lastArrival += 1 }
        let arrival = waiter?.arrival ?? lastArrival
        var conflicts: [RateConflict] = []
        var places = rates.enumerated().map { place, rate -> Waiter.RateWait in
            let key = Key(clock: clock, name: rate.key)
            let placed = PlacedOperation(operation: operation, place: place)
            let entry = updatedEntry(for: rate, on: clock, at: now, &conflicts)
            guard waiter?.hasTurn(at: place) == true else {
                return Waiter.RateWait(key: key, rate: rate, ticket: entry.machine.wait(placed, arrival: arrival))
            }
            if entry.machine.admits(arrival, hasTurn: true, at: now) { return Waiter.RateWait(key: key, rate: rate) }
            entry.machine.returnTurn()
            return Waiter.RateWait(key: key, rate: rate, ticket: entry.machine.wait(placed, arrival: arrival))
        }
        // All rates would allow the start now, so the operation gets the turn that it returns here again at once.
        if places.allSatisfy({ $0.ticket == nil }) {
            guard let entry = entry(places[0].key) else {
                preconditionFailure("Internal inconsistency: a rate that was just updated is not in the table")
            }
            entry.machine.returnTurn()
            places[0].ticket = entry.machine.wait(PlacedOperation(operation: operation, place: 0), arrival: arrival)
        }
        waiters[operation.id] = Waiter(arrival: arrival, core: core, places: places)
        return (conflicts, places.compactMap { adjustTimer(of: $0.key) })
    }

    /// Grants the turns that are due when a timer fires. Returns the operations that now have turns at all of their
    /// rates, in order.
    mutating func takeTurns(
        _ timer: RateTimer, at reading: Reading
    ) -> (turns: [Unretained<AnyOperation>], change: TimerChange?) {
        guard let entry = entry(timer.key), entry.timer?.timer === timer else { return ([], nil) }
        let now = advance(to: reading, on: timer.key.clock)
        entry.timer = nil
        entry.machine.correct(at: now)
        var turns: [Unretained<AnyOperation>] = []
        while let placed = entry.machine.takeTurn(at: now) {
            let operation = placed.operation
            waiters[operation.id]?.takeTurn(at: placed.place)
            if waiters[operation.id]?.awaitsTurn == false { turns.append(operation) }
        }
        return (turns, adjustTimer(of: timer.key))
    }

    /// Passes the turns of an operation whose queue is suspended to the operations behind it. The operation keeps its
    /// arrival number.
    mutating func returnTurns(by operation: Unretained<AnyOperation>) -> [TimerChange] {
        guard let waiter = waiters[operation.id], !waiter.awaitsTurn else { return [] }
        waiters[operation.id]?.removePlaces()
        return remove(waiter.places)
    }

    /// Removes an operation that has ended before its run. If the result says that it was waiting, the caller owns the
    /// queue's reference to it.
    mutating func remove(_ operation: Unretained<AnyOperation>) -> (awaitedTurn: Bool, changes: [TimerChange]) {
        guard let waiter = waiters.removeValue(forKey: operation.id) else { return (false, []) }
        return (waiter.awaitsTurn, remove(waiter.places))
    }

    private mutating func remove(_ places: [Waiter.RateWait]) -> [TimerChange] {
        places.compactMap { place in
            if let ticket = place.ticket {
                _ = entry(place.key)?.machine.removeWaiter(ticket)
            } else {
                entry(place.key)?.machine.returnTurn()
            }
            return adjustTimer(of: place.key)
        }
    }

    // MARK: Timers

    /// Stores the ticket of a timer that was set. Returns false if the timer is not wanted any more.
    mutating func note(_ ticket: TimerService.Ticket, of timer: RateTimer) -> Bool {
        guard let entry = entry(timer.key), entry.timer?.timer === timer else { return false }
        entry.timer?.ticket = ticket
        return true
    }

    /// Replaces the timer of a rate if its time or its first waiting operation has changed. Called in the same step as
    /// every change of a rate, except a refused start, after which the caller calls ``wait(_:_:in:on:at:)``.
    private mutating func adjustTimer(of key: Key) -> TimerChange? {
        guard let clockRates = clocks[key.clock], let entry = clockRates.rates[key.name] else { return nil }
        var wanted: (timerService: Unretained<TimerService>, time: Duration)?
        let first = entry.machine.first?.operation
        if let first, let waiter = waiters[first.id], let time = entry.machine.turnTime {
            wanted = (Unretained(waiter.core.use { $0.timerService }), time)
        }
        let former = entry.timer
        if former?.timerService == wanted?.timerService, former?.time == wanted?.time {
            return nil
        }
        entry.timer = wanted.map {
            Timer(timerService: $0.timerService, timer: RateTimer(key, clockRates.time), time: $0.time, ticket: nil)
        }
        return TimerChange(
            former: former.flatMap { timer in timer.ticket.map { (timer.timerService.object, $0) } },
            next: entry.timer.map { ($0.timerService.object, $0.timer, $0.time) })
    }

    // MARK: Inspection

    /// The state of one rate, for an explanation.
    struct View {
        let limits: RateLimits
        /// The time of the next turn on the rate's clock.
        let turnTime: Duration
        /// The arrival numbers of all that wait, in ascending order after ``sort()``.
        private(set) var arrivals: [UInt64]
        let time: TimeSource

        /// Takes O(n log n) time for n waiting operations, so the caller sorts after unlocking.
        mutating func sort() { arrivals.sort() }

        /// Returns when the operation with this arrival number gets its turn, if no operation ends, comes back or uses
        /// the rate in the meantime, and how many operations are before it.
        func turn(of arrival: UInt64) -> (time: Duration, behind: Int) {
            // Binary search for the first operation that did not arrive earlier.
            var (low, high) = (0, arrivals.count)
            while low < high {
                let middle = (low + high) / 2
                if arrivals[middle] < arrival { low = middle + 1 } else { high = middle }
            }
            let (wait, overflows) = limits.interval.attoseconds.multipliedReportingOverflow(by: Int128(low))
            return (turnTime + Duration(attoseconds: overflows ? .max : wait).bounded, low)
        }
    }

    /// The rates that the operation waits for, and its arrival number.
    func places(of operation: AnyOperation) -> [(key: Key, rate: Rate, arrival: UInt64)] {
        guard let waiter = waiters[ObjectIdentifier(operation)] else { return [] }
        return waiter.places.filter { $0.ticket != nil }.map { ($0.key, $0.rate, waiter.arrival) }
    }

    func view(of key: Key) -> View? {
        guard let clockRates = clocks[key.clock], let machine = clockRates.rates[key.name]?.machine,
            let time = machine.turnTime
        else { return nil }
        return View(limits: machine.limits, turnTime: time, arrivals: machine.arrivals, time: clockRates.time)
    }

    /// For tests: how many rates a clock has, how many of its operations wait or have a turn, and whether the table
    /// knows the clock.
    func counts(of clock: ObjectIdentifier) -> (rates: Int, operations: Int, isKnown: Bool) {
        let operations = waiters.values.count { waiter in
            waiter.core.use { $0.time.clockIdentity == clock }
        }
        return (clocks[clock]?.rates.count ?? 0, operations, clocks[clock] != nil)
    }

    // MARK: Entries

    private func entry(_ key: Key) -> RateEntry? { clocks[key.clock]?.rates[key.name] }

    private mutating func updatedEntry(
        for rate: Rate, on clock: ObjectIdentifier, at now: Duration, _ conflicts: inout [RateConflict]
    ) -> RateEntry {
        guard let clockRates = clocks[clock] else {
            preconditionFailure("Internal inconsistency: a queue uses a rate before it registers its clock")
        }
        if let entry = clockRates.rates[rate.key] {
            if entry.machine.isUnused(at: now) {
                entry.machine = RateStateMachine(rate.limits, at: now)
                entry.rate = rate
                entry.hasConflict = false
            }
            entry.machine.correct(at: now)
            if entry.machine.noteLimits(rate.limits) {
                if !entry.hasConflict {
                    conflicts.append(RateConflict(rate: rate, other: entry.rate, isOfOneOperation: false))
                }
                entry.hasConflict = true
                if entry.machine.limits == rate.limits { entry.rate = rate }
            }
            return entry
        }
        if clockRates.rates.count >= clockRates.limit {
            clockRates.rates = clockRates.rates.filter { !$0.value.machine.isUnused(at: now) }
            clockRates.limit = max(ClockRates.leastLimit, clockRates.rates.count * 2)
        }
        let entry = RateEntry(rate, at: now)
        clockRates.rates[rate.key] = entry
        return entry
    }
}

extension Unretained<AnyOperation> {
    fileprivate var id: ObjectIdentifier { use { ObjectIdentifier($0) } }
}

/// The timer of a rate. It is replaced whenever the time of the rate's next turn changes, so the table recognizes a
/// timer that fires too late.
final class RateTimer: Sendable {
    let key: RateTable.Key
    /// The clock that measures the rate.
    let time: TimeSource

    init(_ key: RateTable.Key, _ time: TimeSource) {
        self.key = key
        self.time = time
    }

    /// Grants the turns that are due. The caller holds no lock.
    func fire() { RateManager.timerFired(self) }
}
