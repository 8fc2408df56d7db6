/// Operations and waits that may have closed a cycle or a deadlock of exclusions, which a search could neither confirm
/// nor rule out within its budget. A pure value.
///
/// While a sweep looks at some suspects, those that come meanwhile are collected for the next sweep. So if many
/// operations are added one by one, the number of sweeps grows with the time that they take, and not with the number of
/// operations.
struct PendingSuspects {
    struct Suspects {
        var cycles: [CycleFinder.Suspect] = []
        var deadlocks: [AnyOperation] = []

        var isEmpty: Bool { cycles.isEmpty && deadlocks.isEmpty }
    }

    private var pending = Suspects()
    private var isSweepRunning = false
    /// The number of operations that emptied the queue during a sweep and that the removing thread has not released
    /// yet. Another operation may come and leave before that thread has released the first one.
    private var pendingReleases = 0

    /// True if no sweep is pending or running, and no release is outstanding.
    var isIdle: Bool { !isSweepRunning && pending.isEmpty && pendingReleases == 0 }

    /// Called when the last operation leaves the queue. Returns true if the caller has to release the operation and
    /// then call ``didReleaseLastOperation()``. If the sweep ends before the release, it must not report the queue as
    /// idle.
    mutating func queueDidEmpty() -> Bool {
        if isSweepRunning { pendingReleases += 1 }
        return isSweepRunning
    }

    mutating func didReleaseLastOperation() {
        assert(pendingReleases > 0, "Each release follows the removal of an operation.")
        pendingReleases -= 1
    }

    /// Returns true if a sweep has to be started.
    mutating func append(_ suspects: Suspects) -> Bool {
        pending.cycles += suspects.cycles
        pending.deadlocks += suspects.deadlocks
        defer { isSweepRunning = true }
        return !isSweepRunning
    }

    /// Returns the suspects that have accumulated. Call this after releasing the previous ones. If the result is empty,
    /// the sweep has ended.
    mutating func take() -> Suspects {
        defer { pending = Suspects() }
        isSweepRunning = !pending.isEmpty
        return pending
    }
}
