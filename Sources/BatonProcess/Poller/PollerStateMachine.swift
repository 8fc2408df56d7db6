/// The state machine of ``Poller``: the descriptors that tasks wait for, and the state of the polling thread.
struct PollerStateMachine<Waiter> {
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
    /// True while the thread polls, or is about to poll, the watches that it last asked for.
    private var isAsleep = false
    private var isClosed = false

    var count: Int { watches.count }

    /// Adds a watch. `mustWake` is true if the thread must be woken to learn of it.
    mutating func add(
        _ waiter: Waiter, for interest: Interest, on descriptor: Int32
    ) -> (ticket: Ticket, mustWake: Bool) {
        lastTicket += 1
        watches[lastTicket] = (Watch(ticket: lastTicket, descriptor: descriptor, interest: interest), waiter)
        return (lastTicket, wake())
    }

    /// Removes a watch. It is not an error if it was removed before. Returns true if the thread must be woken, because
    /// it may poll the descriptor: on Linux, the poll would keep the file of a closed descriptor open.
    mutating func remove(_ ticket: Ticket) -> Bool { watches.removeValue(forKey: ticket) != nil && wake() }

    /// Returns the watches that the thread polls next, or nil if the thread is to end.
    mutating func nextRound() -> [Watch]? {
        if isClosed { return nil }
        isAsleep = true
        return watches.values.map(\.watch)
    }

    /// Removes and returns the waiters whose descriptors are ready. Some may have been removed since the round began.
    mutating func endRound(ready: [Ticket]) -> [Waiter] {
        isAsleep = false
        return ready.compactMap { watches.removeValue(forKey: $0)?.waiter }
    }

    /// Closes the machine. Returns true if the thread must be woken so that it ends.
    mutating func close() -> Bool {
        isClosed = true
        return wake()
    }

    /// Returns true for the first wake-up of a round, because one is enough.
    private mutating func wake() -> Bool {
        defer { isAsleep = false }
        return isAsleep
    }
}
