/// A clock that stands still, and those who sleep on it: the machine of ``TestClock``.
struct Sleepers<Sleeper: Equatable> {
    private(set) var now = TestClock.Instant.start

    /// The next to wake comes last. Equal deadlines wake in order of arrival.
    private var entries: [(deadline: TestClock.Instant, sleeper: Sleeper)] = []

    var count: Int { entries.count }
    var nextDeadline: TestClock.Instant? { entries.last?.deadline }

    /// Books a sleeper, unless its time has already come: then false.
    mutating func add(_ sleeper: Sleeper, until deadline: TestClock.Instant) -> Bool {
        guard deadline > now else { return false }
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].deadline > deadline { low = middle + 1 } else { high = middle }
        }
        entries.insert((deadline, sleeper), at: low)
        return true
    }

    /// Forgets a sleeper. One that has been woken in the meantime is no longer here; that is no error.
    mutating func remove(_ sleeper: Sleeper) {
        guard let index = entries.firstIndex(where: { $0.sleeper == sleeper }) else { return }
        entries.remove(at: index)
    }

    /// Moves time forward, never back, and takes out those whose time has come, in the order in which they wake.
    mutating func advance(to instant: TestClock.Instant) -> [Sleeper] {
        now = max(now, instant)
        var woken: [Sleeper] = []
        while let last = entries.last, last.deadline <= now {
            woken.append(last.sleeper)
            entries.removeLast()
        }
        return woken
    }
}
