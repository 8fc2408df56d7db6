/// The consequences of a published outcome, after the lock of the step that published it has been released.
extension QueueCore {
    /// Drops what the operation held, counts its dependents down, and wakes its waiters. The dependents that became
    /// ready are listed, or returned if the caller goes on with them.
    ///
    /// - Parameter continuing: True if the caller is a worker that goes on with the dependents.
    @inline(__always)
    func complete(_ operation: AnyOperation, _ action: Lifecycle.FinishAction, continuing: Bool) -> Completion {
        if continuing {
            assert(operation.dependencyCounter.isZero, "A worker runs an operation when nothing is left to wait for.")
            // An operation that has run no longer keeps its sources alive.
            operation.body = nil
            operation.edges.drop()
            TSanAnnotations.willResume(operation)
        } else {
            operation.unlinkFromSources()
        }
        if action.hasOptionalState, operation.isObserved { operation.publishFinished(in: self) }
        if action.hasClaim { ExclusionManager.release(atEndOf: operation) }
        var released = Released(continuing: continuing)
        action.dependents.visit { countDown($0, &released) }
        if !continuing, let first = released.othersReady.first { list(first) }
        let woken = action.wakes ? operation.wake(in: self) : .nobody
        return Completion(
            firstReady: released.firstReady, othersReady: continuing ? released.othersReady.first : nil,
            handlersAreDue: woken.handlersAreDue, groups: woken.groups)
    }

    struct Completion {
        /// The first dependent that became ready, if the caller goes on with it.
        let firstReady: Unretained<AnyOperation>?
        /// The other dependents that became ready, linked.
        let othersReady: Unretained<AnyOperation>?
        /// True if the caller has to have handlers called.
        let handlersAreDue: Bool
        /// The groups that have ended because of this outcome, linked. The caller finishes them when the operation has
        /// left its queue.
        let groups: Unretained<AnyOperation>?
    }

    private struct Released {
        let continuing: Bool
        var firstReady: Unretained<AnyOperation>?
        var othersReady = IntrusiveList()
    }

    @inline(__always)
    private func countDown(_ dependent: Unretained<AnyOperation>, _ released: inout Released) {
        dependent.use { operation in
            if operation.unretainedCore != Unretained(self) {
                return AnyOperation.countDownElsewhere(dependent)
            }
            switch operation.dependencyCounter.countDown() {
            case .waiting: break
            case .ready:
                if operation.isObserved { operation.publishReady() }
                if released.continuing, released.firstReady == nil {
                    released.firstReady = dependent
                } else {
                    released.othersReady.append(dependent)
                }
            case .ended: AnyOperation.releaseAfterEarlyEnd(Retained(handedOver: dependent))
            }
        }
    }

    /// Lists operations that became ready when another one finished, given as the first of a chain of links.
    ///
    /// - Parameter passes: True if the chain contains all of them, so they may pass operations that wait. If they were
    ///   listed one at a time, and each passed the others, they would come in the wrong order.
    func list(_ first: Unretained<AnyOperation>, passes: Bool = true) {
        change { $0.scheduler.append(released: first, passes: passes) }
    }
}

extension AnyOperation {
    /// Counts down a dependent of another queue, which lives as long as the dependent is unfinished.
    @inline(never)
    static func countDownElsewhere(_ dependent: Unretained<AnyOperation>) {
        let core = dependent.use { operation in
            operation.withLifecycle { $0.phase == .finished ? nil : operation.core }
        }
        switch dependent.use({ $0.dependencyCounter.countDown() }) {
        case .waiting: break
        case .ready:
            if let fence = dependent.use({ $0 as? Fence }) { return Trampoline.run(.open(fence)) }
            guard let core else { preconditionFailure("An operation that has finished is marked as ended.") }
            dependent.use { operation in
                if operation.isObserved { operation.publishReady() }
                operation.next = nil
            }
            core.list(dependent, passes: false)
        case .ended: releaseAfterEarlyEnd(Retained(handedOver: dependent))
        }
    }

    /// An end that came before the run. The code that has brought it about completes it after unlocking.
    struct EarlyEnd {
        let operation: AnyOperation
        /// Nil if `willFinish` handlers have to be called first.
        let finishAction: Lifecycle.FinishAction?
        let core: QueueCore?
        /// True if the operation holds exclusions, or waits for them. They are released before the operation's handlers
        /// are called, because these do not belong to a run.
        private(set) var hasClaim: Bool
        /// Groups that will not run. They refuse further children.
        let groups: [ChildGroup]
        /// True if the groups cancel all of their children, and not only those that nobody has added.
        let cancelsChildren: Bool
        let timers: OperationTimers?
        /// The operation's place among those that share the outcome of another one, which it leaves.
        let joined: Joined?
        /// True if the operation may wait for a rate, or may have a start that the rate has counted.
        let hasRates: Bool

        /// Releases the exclusions before the rest is completed. Returns the operations that are granted exclusions
        /// because of that, for the caller to notify.
        mutating func releaseExclusions() -> [AnyOperation] {
            if !hasClaim { return [] }
            hasClaim = false
            return ExclusionManager.releaseReturningGranted(atEndOf: operation)
        }

        /// Completes the end through the trampoline: the user's objects that are released may end other operations in
        /// turn.
        func complete() { Trampoline.complete(self) }

        func completeNow() {
            timers?.takeOut(of: operation, from: core)
            if hasRates { RateManager.remove(operation) }
            if hasClaim { ExclusionManager.release(atEndOf: operation) }
            joined?.leave(operation)
            for group in groups { group.parentEnded(cancelsChildren: cancelsChildren) }
            guard let finishAction else { return operation.finishOffWorker(core) }
            AnyOperation.finish(groups: operation.completeOffWorker(finishAction, core))
        }
    }

    /// Ends an operation that has not begun, and publishes this error. Returns nil if the operation has begun or
    /// finished, or if a thread is still linking it. That thread then finds the error and completes the end itself.
    final func endBeforeRun(with error: OperationError) -> EarlyEnd? {
        withLifecycle { endBeforeRun(with: error, &$0) }
    }

    /// Like ``endBeforeRun(with:)``, but an operation that has failed and waits for its next attempt goes on.
    final func endUnlessRetried(with error: OperationError) -> EarlyEnd? {
        withLifecycle { life in
            // `goesFirst` is read last, because the worker writes it before the operation becomes `added` again.
            let triesAgain = life.phase == .added && life.hasBegun && goesFirst
            return triesAgain ? nil : endBeforeRun(with: error, &life)
        }
    }

    /// Like ``endBeforeRun(with:)``, for a caller that holds the lock.
    final func endBeforeRun(with error: OperationError, _ life: inout Lifecycle) -> EarlyEnd? {
        guard life.phase == .created || life.phase == .added else { return nil }
        if life.phase == .added, dependencyCounter.leaveEndToLinking() {
            let optionalState = life.ensureOptionalState()
            if optionalState.endAfterLinking == nil { optionalState.endAfterLinking = error }
            return nil
        }
        return end(with: error, &life)
    }

    /// Like ``endBeforeRun(with:)``, with the outcome of the operation that this one has joined, which has finished.
    final func endBeforeRun(as original: AnyOperation) -> EarlyEnd? {
        withLifecycle { life in
            guard life.phase == .added, !dependencyCounter.leaveEndToLinking() else { return nil }
            return end(as: original, &life)
        }
    }

    /// Called by the thread that has linked the operation, when it finds that the operation ended meanwhile.
    final func endAfterLinking() {
        let end = withLifecycle { life -> EarlyEnd? in
            guard life.phase == .added else { return nil }
            if let error = life.optionalState?.endAfterLinking { return self.end(with: error, &life) }
            return life.optionalState?.uniqueness?.joined.map { self.end(as: $0.original, &life) }
        }
        guard let end else { return }
        if case .dependencyCycle? = failure {
            CycleBreak.complete(AnyOperation.endFollowers(of: [self]), around: [self])
        }
        end.complete()
    }

    private final func end(with error: OperationError, _ life: inout Lifecycle) -> EarlyEnd {
        setFailure(error)
        return endUnrun(&life)
    }

    private final func end(as original: AnyOperation, _ life: inout Lifecycle) -> EarlyEnd {
        outcome = original.outcome
        outcomeOwns = original.outcomeOwns
        hasFailed = original.hasFailed
        return endUnrun(&life)
    }

    /// Ends an operation whose outcome is stored and that has not run.
    private final func endUnrun(_ life: inout Lifecycle) -> EarlyEnd {
        let core = life.phase == .added ? core : nil
        let hasClaim = life.takeExclusionClaim()
        let groups = life.optionalState?.childGroups ?? []
        let joined = life.optionalState?.uniqueness?.joined.take()
        return EarlyEnd(
            operation: self, finishAction: life.beginFinishing() ? nil : life.finish(), core: core, hasClaim: hasClaim,
            groups: groups, cancelsChildren: !groups.isEmpty && cancelsPlannedChildren(life),
            timers: life.optionalState?.timing?.takeTimers(), joined: joined,
            hasRates: life.optionalState?.preconditions.hasRates ?? false)
    }

    /// Completes an operation that ended without having run, or that no worker has run to its end. Returns the groups
    /// that have ended because of this outcome, for the caller to finish.
    final func completeOffWorker(
        _ action: Lifecycle.FinishAction, _ core: QueueCore?, lettingGo: () -> Void = {}
    ) -> Unretained<AnyOperation>? {
        guard let core else {
            unlinkFromSources()
            if action.hasOptionalState, isObserved { publishFinished(in: nil) }
            action.dependents.visit { AnyOperation.countDownElsewhere($0) }
            let woken = action.wakes ? wake(in: nil) : .nobody
            if woken.handlersAreDue { callDueHandlers(from: nil) }
            lettingGo()
            return woken.groups
        }
        let completion = core.complete(self, action, continuing: false)
        if completion.handlersAreDue { callDueHandlers(from: core) }
        let (removal, wasListed) = core.change { state in
            if action.hasOpenWaits { state.scheduler.endedWithoutPermit() }
            let wasListed = state.scheduler.remove(Unretained(self))
            core.holds.begin()
            return (core.remove(self, &state), wasListed)
        }
        if wasListed { Retained(handedOver: self).release() }
        lettingGo()
        core.didRemove(removal)
        core.endHold()
        return completion.groups
    }

    /// Calls the `willFinish` handlers on a task of their own, then publishes the outcome and completes the operation.
    final func finishOffWorker(_ core: QueueCore?, lettingGo: @escaping @Sendable () -> Void = {}) {
        let retained = Retained(self).handOver()
        services.spawn {
            await retained.object.callHandlersBeforeFinish(core)
            let action = retained.use { $0.withLifecycle { $0.finish() } }
            // The operation is released before the queue can be idle, because nothing is alive in an idle queue (G31).
            retained.use { operation in
                let groups = operation.completeOffWorker(action, core) {
                    Retained(handedOver: retained).release()
                    lettingGo()
                }
                AnyOperation.finish(groups: groups)
            }
        }
    }

    /// Calls the `willFinish` handlers, on a task that nobody cancels from outside.
    final func callHandlersBeforeFinish(_ core: QueueCore?) async {
        var isDone = false
        await WorkerTaskContext.run(of: core) { task in
            task.running = self
            var isTainted = false
            while !isTainted, !isDone {
                let (next, values) = withLifecycle { life in
                    let optionalState = life.ensureOptionalState()
                    return (optionalState.handlers.nextBeforeFinish(), optionalState.taskLocals)
                }
                if let handler = next {
                    if let values { await values.bind { await handler.call(self) } } else { await handler.call(self) }
                    isTainted = task.isTainted
                } else {
                    isDone = true
                }
            }
            task.running = nil
        }
        // If a handler has cancelled the task, the next one runs on another task, so that it does not notice.
        if !isDone { await services.spawn { await self.callHandlersBeforeFinish(core) }.value }
    }

    struct Woken {
        let handlersAreDue: Bool
        /// The groups that have ended because of this outcome, linked.
        let groups: Unretained<AnyOperation>?

        static var nobody: Woken { Woken(handlersAreDue: false, groups: nil) }
    }

    /// Wakes the tasks, groups and iterations that await the outcome.
    @inline(never)
    final func wake(in core: QueueCore?) -> Woken {
        let taken = withLifecycle { life in
            life.borrowedOptionalState?.use { optionalState in
                // First, because the task-local values are kept for the handlers that are due.
                let actions = makePassedPhasesDue(life, optionalState)
                return Taken(
                    preconditions: optionalState.takePreconditions(), effects: optionalState.takeFinishEffects(),
                    waiters: optionalState.takeWaiters(), actions: actions)
            }
        }
        guard let taken else { return .nobody }
        taken.effects?.notifyFinished(self, in: core)
        var groups = IntrusiveList()
        if let waiters = taken.waiters {
            for waiter in waiters {
                if let group = waiter.outcomeCame(of: self) { groups.append(group) }
            }
        }
        return Woken(handlersAreDue: taken.actions.isDue, groups: groups.first)
    }

    /// The state that a finish takes from the operation, to be notified, or only released, after unlocking.
    private struct Taken {
        let preconditions: Preconditions
        let effects: FinishEffects?
        let waiters: [Waiter]?
        let actions: HandlerList.Actions
    }
}
