/// The descriptors that somebody waits for, and the thread that waits for them: the machine of ``Poller``.
struct PollTable<Waiter> {
    typealias Ticket = UInt64

    struct Watch: Equatable {
        let ticket: Ticket
        let descriptor: Int32
        let interest: Interest
    }

    enum Interest: Equatable {
        case reading
        case writing
    }

    private var watches: [Ticket: (watch: Watch, waiter: Waiter)] = [:]
    private var lastTicket: Ticket = 0
    /// The thread waits, or is about to, for what it knew of when it last asked.
    private var isAsleep = false
    private var isClosed = false

    var count: Int { watches.count }

    /// Whether the thread must be woken, so that it learns of this one.
    mutating func add(
        _ waiter: Waiter, for interest: Interest, on descriptor: Int32
    ) -> (ticket: Ticket, mustWake: Bool) {
        lastTicket += 1
        watches[lastTicket] = (Watch(ticket: lastTicket, descriptor: descriptor, interest: interest), waiter)
        return (lastTicket, wake())
    }

    /// Nobody waits for it any more. That it has been taken out meanwhile is no error.
    mutating func remove(_ ticket: Ticket) { watches[ticket] = nil }

    /// What the thread waits for next. Nil: it ends.
    mutating func nextRound() -> [Watch]? {
        if isClosed { return nil }
        isAsleep = true
        return watches.values.map(\.watch)
    }

    /// Takes out those whose descriptors are ready. Some may have been removed since the round began.
    mutating func endRound(ready: [Ticket]) -> [Waiter] {
        isAsleep = false
        return ready.compactMap { watches.removeValue(forKey: $0)?.waiter }
    }

    /// Whether the thread must be woken, so that it ends.
    mutating func close() -> Bool {
        isClosed = true
        return wake()
    }

    /// One wake is enough for a round.
    private mutating func wake() -> Bool {
        defer { isAsleep = false }
        return isAsleep
    }
}
