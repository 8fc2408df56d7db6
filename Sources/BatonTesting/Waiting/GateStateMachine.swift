internal import Baton

/// Open or not, those who wait for it to open, and those who watch until enough wait: the machine of ``Gate``.
struct GateStateMachine<Waiter> {
    /// Names a waiter in order of arrival.
    typealias Ticket = Int

    private(set) var isOpen: Bool
    private var waiters: [Ticket: Waiter] = [:]
    private var arrivals = 0
    /// At the number that they want to see.
    private var watchers = TimerHeap<Int, Waiter>()

    init(isOpen: Bool) {
        self.isOpen = isOpen
    }

    var waiterCount: Int { waiters.count }

    enum ArrivalAction {
        case pass
        case wait(Ticket, wake: [Waiter])
    }

    /// Books one who wants to pass; those who watched for it are told.
    mutating func arrive(_ waiter: Waiter) -> ArrivalAction {
        if isOpen { return .pass }
        arrivals += 1
        waiters[arrivals] = waiter
        return .wait(arrivals, wake: watchers.takeDue(at: waiters.count))
    }

    /// Opens for good; those who waited pass in order of arrival. Nobody will wait any more, so those who watch go on,
    /// too.
    mutating func open() -> [Waiter] {
        isOpen = true
        defer { waiters = [:] }
        return waiters.sorted { $0.key < $1.key }.map(\.value) + watchers.takeDue(at: .max)
    }

    /// Books one who wants to know when `count` wait. Nil: they do, or never will, because the gate is open.
    mutating func watch(_ watcher: Waiter, count: Int) -> TimerHeap<Int, Waiter>.Ticket? {
        if isOpen || waiters.count >= count { return nil }
        return watchers.add(watcher, at: count)
    }

    /// Forgets a waiter. One that has been let go in the meantime is no longer here; that is no error.
    mutating func removeWaiter(_ ticket: Ticket) { waiters[ticket] = nil }

    /// Forgets a watcher, in the same way.
    mutating func removeWatcher(_ ticket: TimerHeap<Int, Waiter>.Ticket) { watchers.remove(ticket) }
}
