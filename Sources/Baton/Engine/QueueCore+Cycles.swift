extension QueueCore {
    /// Searches for cycles and deadlocks that one add may have closed. A search for each operation would walk the same
    /// graph repeatedly.
    ///
    /// - Parameters:
    ///   - operations: The operations that the add has linked.
    ///   - links: The number of their edges.
    func lookForCycles(closedBy operations: [AnyOperation], links: Int) {
        let suspects = operations.map { CycleFinder.Suspect(operation: $0) }
        if case .undecided = CycleFinder.search(suspects, budget(links: links)) {
            sweepLater(.init(cycles: suspects))
        }
        if ExclusionManager.mayDeadlock { lookForDeadlocks(closedBy: operations) }
    }

    /// Each search takes a few hundred steps at most, so for many operations one sweep takes far less than a search for
    /// each.
    private func lookForDeadlocks(closedBy operations: [AnyOperation]) {
        if operations.count > 4 || state.withLock({ !$0.suspects.isIdle }) {
            sweepLater(.init(deadlocks: operations))
        } else {
            for operation in operations { Deadlocks.break(through: operation) }
        }
    }

    private func budget(links: Int) -> CycleFinder.Budget {
        // On a seeded executor a sweep would be a task that the schedule does not know.
        if slicesByCount { return .unlimited }
        return CycleFinder.Budget(links: links, hasPostponedSearch: state.withLock { !$0.suspects.isIdle })
    }

    fileprivate func search(_ wait: CycleFinder.Suspect) -> [OperationReference]? {
        switch CycleFinder.search([wait], budget(links: 0)) {
        case .free: return nil
        case .refused(let path): return path
        case .undecided:
            sweepLater(.init(cycles: [wait]))
            return nil
        }
    }

    /// Leaves the suspects to a sweep in the background.
    ///
    /// On a seeded executor the search is made at once. Whether there may be deadlocks depends on the whole process,
    /// and must not add a task to a schedule. Cycles are not left to a sweep there.
    func sweepLater(_ suspects: PendingSuspects.Suspects) {
        if slicesByCount {
            assert(suspects.cycles.isEmpty)
            return Deadlocks.sweepAtOnce(suspects.deadlocks)
        }
        if state.withLock({ $0.suspects.append(suspects) }) { taskFactory.background.spawn { await self.sweep() } }
    }

    /// Searches from all suspects together, until there are no more.
    private func sweep() async {
        while true {
            let (suspects, idleWaiters) = state.withLock { state in
                let suspects = state.suspects.take()
                return (suspects, takeIdleWaiters(&state))
            }
            resumeWaiters(idleWaiters)
            if suspects.isEmpty { return }
            if !suspects.cycles.isEmpty { await Self.sweep(suspects.cycles) }
            if !suspects.deadlocks.isEmpty { await Deadlocks.sweep(suspects.deadlocks) }
        }
    }

    /// Returns when it has released all operations that it has seen.
    private static func sweep(_ suspects: [CycleFinder.Suspect]) async {
        var mustLook = true
        while mustLook {
            var upstream = WaitExploration(from: suspects.lazy.map(\.operation), .upstreamOfUnadded)
            // The task yields its thread after this number of steps.
            while !upstream.run(upTo: upstream.steps + 4_096) { await Task.yield() }
            let result = CycleBreaker(upstream, closedBy: suspects).perform()
            for (wait, path) in result.refusals { wait.refuse(path) }
            mustLook = result.mustLookAgain || !result.refusals.isEmpty
        }
    }
}

extension CycleFinder.Suspect {
    /// Ends the wait with the error of this cycle, unless the outcome has come.
    func refuse(_ path: [OperationReference]) {
        guard let body, let waiter = operation.removeWaiter(of: body) else { return }
        AnyOperation.finish(groups: waiter.outcomeCame(of: operation, error: .dependencyCycle(path)))
    }
}

extension AnyOperation {
    /// Called when the body of this operation has begun to wait for `awaited`, and other threads can see the wait.
    ///
    /// Operations on the cycle that have not begun fail. If there are none, all members are bodies that wait for one
    /// another. Then the method returns the cycle, and the caller has to refuse this wait.
    final func cycle(closedByWaitFor awaited: AnyOperation) -> [OperationReference]? {
        // This is false for most bodies, because nobody waits for them. A body that has ended does not wait any more.
        let (mayClose, own) = withLifecycle { life in
            let mayClose = life.canWait && life.mayBeOnCycle
            return (mayClose, mayClose ? self.core : nil)
        }
        let core = own ?? (mayClose ? awaited.withLifecycle { $0.phase == .finished ? nil : awaited.core } : nil)
        let wait = CycleFinder.Suspect(operation: awaited, body: self)
        // There is no queue if neither has been added, for example if an operation was cancelled before the add and its
        // handlers wait.
        let path = core.map { $0.search(wait) } ?? (mayClose ? CycleFinder.refusal(of: wait) : nil)
        if path == nil, ExclusionManager.mayDeadlock { Deadlocks.break(through: awaited, awaitedBy: self) }
        return path
    }
}

// MARK: - Suspects that a sweep examines

/// Operations and waits that may have closed a cycle or a deadlock of exclusions, which a search could neither confirm
/// nor rule out within its budget. A pure value.
///
/// While a sweep examines some suspects, those that come meanwhile are collected for the next sweep. So if many
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
