/// The rates of the process, and the operations that wait for them. Pure but for the references that it keeps;
/// ``Rates`` locks it.
///
/// A waiting operation is in no list of its queue and on no task: its place in the line keeps the reference that is the
/// queue's. Whoever takes it out of the line, with a turn or because it ends, has that reference from then on. Each
/// rate has at most one timer, that of the queue whose operation is first in the line.
struct RateTable {
    /// Rates of one name on different clocks have nothing to do with each other.
    struct Key: Hashable {
        let clock: ObjectIdentifier
        let name: String
    }

    /// The caller does this after unlocking.
    struct TimerChange {
        let former: (sleeper: Sleeper, ticket: Sleeper.Ticket)?
        let next: (sleeper: Sleeper, alarm: RateAlarm, time: Duration)?
    }

    /// All rates on one clock.
    private final class Book {
        let time: TimeSource
        /// The queues that have used one. They are not counted for the clocks of the system, whose rates outlive queues.
        var queues: Set<UInt32> = []
        var rates: [String: Entry] = [:]
        /// When there are so many rates, those that are unused are dropped.
        var limit = Book.leastLimit

        static let leastLimit = 16

        init(_ time: TimeSource) { self.time = time }
    }

    private final class Entry {
        var machine: RateStateMachine<Unmanaged<AnyOperation>>
        var timer: Timer?
        /// Two operations have given it different numbers, and that was reported.
        var hasConflict = false

        init(_ machine: RateStateMachine<Unmanaged<AnyOperation>>) { self.machine = machine }
    }

    private struct Timer {
        /// It lives as long as the operation waits that was first in the line when this was set.
        let sleeper: Unmanaged<Sleeper>
        let alarm: RateAlarm
        let time: Duration
        /// Nil: somebody is about to set it.
        var ticket: Sleeper.Ticket?
    }

    private struct Member {
        enum Standing {
            case inLine(Key, Rate, RateStateMachine<Unmanaged<AnyOperation>>.Ticket)
            case hasTurn(Key)
            /// It is in a suspended queue, and asks again when a worker takes it up.
            case isListed
        }

        /// Its place among all who wait, which it keeps until it starts.
        let arrival: UInt64
        /// It lives as long as the operation has not ended.
        let core: Unmanaged<QueueCore>
        var standing: Standing

        var turn: Key? {
            switch standing {
            case .hasTurn(let key): key
            case .inLine, .isListed: nil
            }
        }
    }

    private var books: [ObjectIdentifier: Book] = [:]
    private var members: [ObjectIdentifier: Member] = [:]
    private var lastArrival: UInt64 = 0

    // MARK: Clocks

    /// The clock by which the rates of this queue's operations are measured.
    mutating func enter(queue number: UInt32, _ time: TimeSource) -> TimeSource {
        let book = books[time.clockIdentity] ?? Book(time)
        books[time.clockIdentity] = book
        if !time.isSystemClock { book.queues.insert(number) }
        return book.time
    }

    /// The queue has gone. Returns what is to be released after unlocking.
    mutating func leave(queue number: UInt32, clock: ObjectIdentifier) -> AnyObject? {
        guard let book = books[clock], book.queues.remove(number) != nil, book.queues.isEmpty else { return nil }
        return books.removeValue(forKey: clock)
    }

    // MARK: Starting

    enum Answer {
        case started
        /// `hasWaited`: it has waited for one of its rates before, and could not use its turn.
        case refused(hasWaited: Bool)
    }

    /// Counts a start in all of these rates, if all allow it.
    mutating func start(
        _ operation: Unmanaged<AnyOperation>, _ rates: [Rate], on clock: ObjectIdentifier, at now: Duration
    ) -> (answer: Answer, conflicts: [Misuse.Kind], changes: [TimerChange]) {
        let member = members[operation.id]
        let arrival = member?.arrival ?? lastArrival + 1
        var conflicts: [Misuse.Kind] = []
        for rate in rates {
            let entry = meet(rate, on: clock, at: now, &conflicts)
            if !entry.machine.admits(arrival, hasTurn: member?.turn?.name == rate.key, at: now) {
                return (.refused(hasWaited: member != nil), conflicts, [])
            }
        }
        for rate in rates {
            entry(Key(clock: clock, name: rate.key))?.machine.start(hasTurn: member?.turn?.name == rate.key, at: now)
        }
        members[operation.id] = nil
        return (.started, conflicts, rates.compactMap { adjustTimer(of: Key(clock: clock, name: $0.key)) })
    }

    /// It has ended between that and its body.
    mutating func takeStartBack(_ rates: [Rate], on clock: ObjectIdentifier) -> [TimerChange] {
        rates.compactMap { rate in
            let key = Key(clock: clock, name: rate.key)
            entry(key)?.machine.takeStartBack()
            return adjustTimer(of: key)
        }
    }

    // MARK: Waiting

    /// Puts it in the line of the first rate that does not let it start, at its old place if it has one.
    mutating func wait(
        _ operation: Unmanaged<AnyOperation>, _ rates: [Rate], in core: Unmanaged<QueueCore>,
        on clock: ObjectIdentifier,
        at now: Duration
    ) -> [TimerChange] {
        var changes = giveTurnBack(by: operation)
        if members[operation.id] == nil { lastArrival += 1 }
        let arrival = members[operation.id]?.arrival ?? lastArrival
        // They have been met in the step before.
        var conflicts: [Misuse.Kind] = []
        for rate in rates { _ = meet(rate, on: clock, at: now, &conflicts) }
        let blocking = rates.first {
            entry(Key(clock: clock, name: $0.key))?.machine.admits(arrival, hasTurn: false, at: now) == false
        }
        // If all would let it start by now, its turn comes at once.
        let rate = blocking ?? rates[0]
        let key = Key(clock: clock, name: rate.key)
        guard let entry = entry(key) else { preconditionFailure("a rate that is used is in the table") }
        let ticket = entry.machine.wait(operation, arrival: arrival)
        members[operation.id] = Member(arrival: arrival, core: core, standing: .inLine(key, rate, ticket))
        if let change = adjustTimer(of: key) { changes.append(change) }
        return changes
    }

    /// The time of a timer has come. Returns who may start, in order.
    mutating func takeTurns(
        _ alarm: RateAlarm, at now: Duration
    ) -> (turns: [Unmanaged<AnyOperation>], change: TimerChange?) {
        guard let entry = entry(alarm.key), entry.timer?.alarm === alarm else { return ([], nil) }
        entry.timer = nil
        entry.machine.correct(at: now)
        var turns: [Unmanaged<AnyOperation>] = []
        while let operation = entry.machine.takeTurn(at: now) {
            members[operation.id]?.standing = .hasTurn(alarm.key)
            turns.append(operation)
        }
        return (turns, adjustTimer(of: alarm.key))
    }

    /// Its queue is suspended: it keeps its place among all, and the turn goes to those behind it.
    mutating func giveTurnBack(by operation: Unmanaged<AnyOperation>) -> [TimerChange] {
        guard let key = members[operation.id]?.turn else { return [] }
        members[operation.id]?.standing = .isListed
        entry(key)?.machine.giveTurnBack()
        return adjustTimer(of: key).map { [$0] } ?? []
    }

    /// It has ended before its run. True: it was in a line, and the caller has the reference that is the queue's.
    mutating func leave(_ operation: Unmanaged<AnyOperation>) -> (wasInLine: Bool, changes: [TimerChange]) {
        guard let member = members[operation.id] else { return (false, []) }
        switch member.standing {
        case .inLine(let key, _, let ticket):
            members[operation.id] = nil
            let wasInLine = entry(key)?.machine.leave(ticket) ?? false
            return (wasInLine, adjustTimer(of: key).map { [$0] } ?? [])
        case .hasTurn, .isListed:
            let changes = giveTurnBack(by: operation)
            members[operation.id] = nil
            return (false, changes)
        }
    }

    // MARK: Timers

    /// False: it is not wanted any more.
    mutating func note(_ ticket: Sleeper.Ticket, of alarm: RateAlarm) -> Bool {
        guard let entry = entry(alarm.key), entry.timer?.alarm === alarm else { return false }
        entry.timer?.ticket = ticket
        return true
    }

    /// After every change of a rate, in the same step: the timer is that of the first in the line.
    private mutating func adjustTimer(of key: Key) -> TimerChange? {
        guard let book = books[key.clock], let entry = book.rates[key.name] else { return nil }
        var wanted: (sleeper: Unmanaged<Sleeper>, time: Duration)?
        if let first = entry.machine.first, let member = members[first.id], let time = entry.machine.turnTime {
            wanted = (.passUnretained(member.core._withUnsafeGuaranteedRef { $0.sleeper }), time)
        }
        let former = entry.timer
        if former?.sleeper.toOpaque() == wanted?.sleeper.toOpaque(), former?.time == wanted?.time { return nil }
        entry.timer = wanted.map {
            Timer(sleeper: $0.sleeper, alarm: RateAlarm(key, book.time), time: $0.time, ticket: nil)
        }
        return TimerChange(
            former: former.flatMap { timer in timer.ticket.map { (timer.sleeper.takeUnretainedValue(), $0) } },
            next: entry.timer.map { ($0.sleeper.takeUnretainedValue(), $0.alarm, $0.time) })
    }

    // MARK: Looking

    /// Holds what an explanation needs to know of one rate.
    struct View {
        let limits: RateLimits
        /// On the rate's clock.
        let turnTime: Duration
        /// The arrival numbers of all who wait, in ascending order once they have been sorted.
        private(set) var arrivals: [UInt64]
        let time: TimeSource

        /// Takes time in proportion to the length of the line, so the caller does it after unlocking.
        mutating func sort() { arrivals.sort() }

        /// When the operation with this arrival number has its turn, if nobody ends, comes back or uses the rate in
        /// between.
        func turn(of arrival: UInt64) -> (time: Duration, behind: Int) {
            // A binary search for the first that did not come earlier.
            var (low, high) = (0, arrivals.count)
            while low < high {
                let middle = (low + high) / 2
                if arrivals[middle] < arrival { low = middle + 1 } else { high = middle }
            }
            let (wait, overflows) = limits.interval.attoseconds.multipliedReportingOverflow(by: Int128(low))
            return (turnTime + Duration(attoseconds: overflows ? .max : wait).bounded, low)
        }
    }

    /// The rate that the operation waits for, and its arrival number; nil: it waits for none.
    func place(of operation: AnyOperation) -> (key: Key, rate: Rate, arrival: UInt64)? {
        guard let member = members[ObjectIdentifier(operation)] else { return nil }
        switch member.standing {
        case .inLine(let key, let rate, _): return (key, rate, member.arrival)
        case .hasTurn, .isListed: return nil
        }
    }

    func view(of key: Key) -> View? {
        guard let book = books[key.clock], let machine = book.rates[key.name]?.machine, let time = machine.turnTime
        else { return nil }
        return View(limits: machine.limits, turnTime: time, arrivals: machine.arrivals, time: book.time)
    }

    /// For tests: how many rates are known of a clock, and how many of its operations wait or have a turn.
    func counts(of clock: ObjectIdentifier) -> (rates: Int, operations: Int, isKnown: Bool) {
        let operations = members.values.count { member in
            member.core._withUnsafeGuaranteedRef { $0.time.clockIdentity == clock }
        }
        return (books[clock]?.rates.count ?? 0, operations, books[clock] != nil)
    }

    // MARK: Entries

    private func entry(_ key: Key) -> Entry? { books[key.clock]?.rates[key.name] }

    private mutating func meet(
        _ rate: Rate, on clock: ObjectIdentifier, at now: Duration, _ conflicts: inout [Misuse.Kind]
    ) -> Entry {
        guard let book = books[clock] else { preconditionFailure("a queue enters its clock before it asks") }
        if let entry = book.rates[rate.key] {
            if entry.machine.isUnused(at: now) {
                entry.machine = RateStateMachine(rate.limits, at: now)
                entry.hasConflict = false
            }
            entry.machine.correct(at: now)
            if entry.machine.meet(rate.limits), !entry.hasConflict {
                entry.hasConflict = true
                conflicts.append(.conflictingRates(name: rate.name))
            }
            return entry
        }
        if book.rates.count >= book.limit {
            book.rates = book.rates.filter { !$0.value.machine.isUnused(at: now) }
            book.limit = max(Book.leastLimit, book.rates.count * 2)
        }
        let entry = Entry(RateStateMachine(rate.limits, at: now))
        book.rates[rate.key] = entry
        return entry
    }
}

extension Unmanaged<AnyOperation> {
    fileprivate var id: ObjectIdentifier { _withUnsafeGuaranteedRef { ObjectIdentifier($0) } }
}

/// The timer of a rate. Another one takes its place whenever its time changes, so one that rings too late is known.
final class RateAlarm: Sendable {
    let key: RateTable.Key
    /// By which the rate is measured.
    let time: TimeSource

    init(_ key: RateTable.Key, _ time: TimeSource) {
        self.key = key
        self.time = time
    }

    /// Outside every lock.
    func ring() { Rates.timeHasCome(self) }
}
