/// Open or not, and those who wait: the machine of ``Gate``.
struct GateMachine<Waiter: Equatable> {
    private(set) var isOpen: Bool
    private var waiters: [Waiter] = []
    private var watchers = CountWatchers<Waiter>()

    init(isOpen: Bool) {
        self.isOpen = isOpen
    }

    var waiterCount: Int { waiters.count }

    enum ArrivalAction: Equatable {
        case pass
        case wait(wake: [Waiter])
    }

    /// Books one who wants to pass; those who waited for it to wait are told.
    mutating func arrive(_ waiter: Waiter) -> ArrivalAction {
        if isOpen { return .pass }
        waiters.append(waiter)
        return .wait(wake: watchers.take(at: waiters.count))
    }

    /// Opens for good; those who waited pass in order of arrival.
    mutating func open() -> [Waiter] {
        isOpen = true
        defer { waiters = [] }
        return waiters
    }

    /// Books one who wants to know when `count` wait, unless they already do: then false.
    mutating func watch(_ watcher: Waiter, count: Int) -> Bool {
        guard waiters.count < count else { return false }
        watchers.add(watcher, target: count)
        return true
    }

    /// Forgets a waiter or watcher. One that has been let go in the meantime is no longer here; that is no error.
    mutating func remove(_ waiter: Waiter) {
        waiters.removeAll { $0 == waiter }
        watchers.remove(waiter)
    }
}
