/// Operations and waits that may have closed a cycle or a deadlock of exclusions, and that a search could not decide
/// within its budget. Pure.
///
/// While one sweep looks at some, those that come meanwhile gather for the next. So however many operations come one by
/// one, the number of sweeps grows with the time that they take and not with their number.
struct PendingSuspects {
    struct Suspects {
        var cycles: [CycleFinder.Suspect] = []
        var deadlocks: [AnyOperation] = []

        var isEmpty: Bool { cycles.isEmpty && deadlocks.isEmpty }
    }

    private var pending = Suspects()
    private var isSwept = false
    /// The last operation of the queue has left during a sweep, and is about to be let go.
    private var isAwaitingRelease = false

    /// Nothing is held for a sweep, or by one.
    var isEmpty: Bool { !isSwept && pending.isEmpty && !isAwaitingRelease }

    /// The last operation of the queue leaves. True: the caller lets it go and then calls ``lastWasReleased()``,
    /// because the end of the sweep may come in between, and must not call the queue idle.
    mutating func lastLeaves() -> Bool {
        if isSwept { isAwaitingRelease = true }
        return isSwept
    }

    mutating func lastWasReleased() { isAwaitingRelease = false }

    /// True: a sweep has to be started.
    mutating func append(_ suspects: Suspects) -> Bool {
        pending.cycles += suspects.cycles
        pending.deadlocks += suspects.deadlocks
        defer { isSwept = true }
        return !isSwept
    }

    /// For the sweep, which holds none any more. Empty: it ends.
    mutating func take() -> Suspects {
        defer { pending = Suspects() }
        isSwept = !pending.isEmpty
        return pending
    }
}

extension QueueCore {
    /// These were linked by one call, with so many links.
    func lookForCycles(closedBy operations: [AnyOperation], links: Int) {
        let suspects = operations.map { CycleFinder.Suspect(operation: $0) }
        if case .undecided = CycleFinder.search(suspects, budget(links: links)) {
            sweepLater(.init(cycles: suspects))
        }
        if ExclusionManager.mayDeadlock { lookForDeadlocks(closedBy: operations) }
    }

    /// Each search takes a few hundred steps at most, and so for many operations far more than one sweep for all of
    /// them.
    private func lookForDeadlocks(closedBy operations: [AnyOperation]) {
        if operations.count > 4 || state.withLock({ !$0.suspects.isEmpty }) {
            sweepLater(.init(deadlocks: operations))
        } else {
            for operation in operations { Deadlocks.break(through: operation) }
        }
    }

    private func budget(links: Int) -> CycleFinder.Budget {
        // Seeded schedules have no tasks that are not theirs.
        if slicesByCount { return .unlimited }
        return CycleFinder.Budget(links: links, isBehind: state.withLock { !$0.suspects.isEmpty })
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

    /// They are looked at in the background.
    ///
    /// On a seeded executor at once: whether there may be deadlocks is a matter of the whole process, and must not add
    /// a task to a schedule. Cycles are not left to a sweep there.
    func sweepLater(_ suspects: PendingSuspects.Suspects) {
        if slicesByCount {
            assert(suspects.cycles.isEmpty)
            return Deadlocks.sweepAtOnce(suspects.deadlocks)
        }
        if state.withLock({ $0.suspects.append(suspects) }) { taskFactory.background.spawn { await self.sweep() } }
    }

    /// Looks at all suspects together, until no more have come.
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

    /// Returns when it has let go of all operations that it has seen.
    private static func sweep(_ suspects: [CycleFinder.Suspect]) async {
        var mustLook = true
        while mustLook {
            var upstream = WaitExploration(from: suspects.lazy.map(\.operation), .upstreamOfUnadded)
            // So many steps at a time, to leave the thread to others in between.
            while !upstream.run(upTo: upstream.steps + 4_096) { await Task.yield() }
            let result = CycleBreaking(upstream, closedBy: suspects).perform()
            for (wait, path) in result.refusals { wait.refuse(path) }
            mustLook = result.mustLookAgain || !result.refusals.isEmpty
        }
    }
}

extension CycleFinder.Suspect {
    fileprivate func refuse(_ path: [OperationReference]) {
        guard let body, let waiter = operation.removeWaiter(of: body) else { return }
        AnyOperation.finish(groups: waiter.outcomeCame(of: operation, error: .dependencyCycle(path)))
    }
}

extension AnyOperation {
    /// The body of this has begun to wait for `awaited`, and that is visible.
    ///
    /// Operations of a cycle that have not begun fail. If there are none, all are bodies that wait for one another, and
    /// this wait has to be refused by the caller, with the path that this returns.
    final func cycle(closedByWaitFor awaited: AnyOperation) -> [OperationReference]? {
        // Nobody waits for most bodies. One that has ended waits no longer.
        let (mayClose, own) = withLife { life in
            let mayClose = life.canWait && life.mayBeOnCycle
            return (mayClose, mayClose ? self.core : nil)
        }
        let core = own ?? (mayClose ? awaited.withLife { $0.phase == .finished ? nil : awaited.core } : nil)
        let wait = CycleFinder.Suspect(operation: awaited, body: self)
        // Neither was added: such as one that was cancelled before, and whose handlers wait.
        let path = core.map { $0.search(wait) } ?? (mayClose ? CycleFinder.refusal(of: wait) : nil)
        if path == nil, ExclusionManager.mayDeadlock { Deadlocks.break(through: awaited, awaitedBy: self) }
        return path
    }
}
