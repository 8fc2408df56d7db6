/// Operations and waits that may have closed a cycle or a deadlock of exclusions, and that a search could not decide
/// within its budget. A pure value.
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
    /// How often the last operation of the queue has left during a sweep and has not been released yet. Another
    /// operation may come and leave before the thread that removed the first one has released it.
    private var pendingReleases = 0

    /// True if no operation is held for a sweep, or by one.
    var isEmpty: Bool { !isSweepRunning && pending.isEmpty && pendingReleases == 0 }

    /// Called when the last operation leaves the queue. Returns true if the caller has to release the operation and
    /// then call ``lastWasReleased()``: the sweep may end in between, and must not call the queue idle then.
    mutating func lastLeaves() -> Bool {
        if isSweepRunning { pendingReleases += 1 }
        return isSweepRunning
    }

    mutating func lastWasReleased() {
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

    /// Returns the suspects for the sweep, which has released the former ones. The sweep ends if there are none.
    mutating func take() -> Suspects {
        defer { pending = Suspects() }
        isSweepRunning = !pending.isEmpty
        return pending
    }
}
