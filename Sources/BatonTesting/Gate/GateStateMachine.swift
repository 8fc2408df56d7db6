internal import Baton

/// The state machine of ``Gate``: whether it is open, the tasks that wait for it to open, and the tasks that watch
/// until enough others wait.
struct GateStateMachine<Waiter> {
    /// Identifies a waiter. Tickets are in the order of arrival.
    typealias Ticket = Int

    private(set) var isOpen: Bool
    private var waiters: [Ticket: Waiter] = [:]
    private var arrivals = 0
    /// The watchers, by the number of waiters that they wait for.
    private var watchers = TimerHeap<Int, Waiter>()
    /// True if a line was written about the gate, because nobody opened it.
    private(set) var hasReportedWaiters = false

    init(isOpen: Bool) {
        self.isOpen = isOpen
    }

    var waiterCount: Int { waiters.count }

    enum ArrivalAction {
        case pass
        case wait(Ticket, wake: [Waiter])
    }

    /// Registers a waiter, unless the gate is open. The action contains the watchers that have waited for it.
    mutating func arrive(_ waiter: Waiter) -> ArrivalAction {
        if isOpen { return .pass }
        arrivals += 1
        waiters[arrivals] = waiter
        return .wait(arrivals, wake: watchers.takeDue(at: waiters.count))
    }

    /// Opens the gate, and returns the waiters in the order of their arrival. No task will wait any more, so the
    /// watchers are returned as well.
    mutating func open() -> [Waiter] {
        isOpen = true
        defer { waiters = [:] }
        return waiters.sorted { $0.key < $1.key }.map(\.value) + watchers.takeDue(at: .max)
    }

    /// Registers a watcher for `count` waiters. Returns nil if there are as many, or if there never will be, because
    /// the gate is open.
    mutating func watch(_ watcher: Waiter, count: Int) -> TimerHeap<Int, Waiter>.Ticket? {
        if isOpen || waiters.count >= count { return nil }
        return watchers.add(watcher, at: count)
    }

    /// Returns the number of waiters that a line about the gate tells. Nil if there was such a line, if no task waits,
    /// or if another line tells it, because a watcher waits for further tasks.
    mutating func reportWaiters() -> Int? {
        if hasReportedWaiters || waiters.isEmpty || watchers.count > 0 { return nil }
        hasReportedWaiters = true
        return waiters.count
    }

    /// Removes a waiter. It is not an error if the waiter has been resumed in the meantime.
    mutating func removeWaiter(_ ticket: Ticket) { waiters[ticket] = nil }

    /// Removes a watcher. It is not an error if the watcher has been resumed in the meantime.
    mutating func removeWatcher(_ ticket: TimerHeap<Int, Waiter>.Ticket) { watchers.remove(ticket) }
}
