/// After the lock of the step that published an outcome: everything that follows from it.
extension QueueCore {
    /// Drops what the operation held, releases its dependents, and wakes who waits. The dependents that became ready
    /// are listed, or the caller's if it goes on with them.
    @inline(__always)
    func settle(_ operation: AnyOperation, _ ending: Lifecycle.Ending, continuing: Bool) -> Settled {
        if continuing { operation.dropBodyAndEdges() } else { operation.leaveSources() }
        if ending.hasOptionalState, operation.isObserved { operation.tellFinish(in: self) }
        if ending.claims { ExclusionManager.giveBack(atEndOf: operation) }
        var released = Released(continuing: continuing)
        ending.dependents.visit { countDown($0, &released) }
        if !continuing, let first = released.others.first { list(first) }
        let woken = ending.wakes ? operation.wake(in: self) : .nobody
        return Settled(
            follower: released.follower, others: continuing ? released.others.first : nil,
            handlersAreDue: woken.handlersAreDue, groups: woken.groups)
    }

    struct Settled {
        /// The first dependent that became ready.
        let follower: Unmanaged<AnyOperation>?
        /// The next ones, linked.
        let others: Unmanaged<AnyOperation>?
        /// The caller has them called.
        let handlersAreDue: Bool
        /// That have ended by this, linked. The caller finishes them when this has left its queue.
        let groups: Unmanaged<AnyOperation>?
    }

    private struct Released {
        let continuing: Bool
        var follower: Unmanaged<AnyOperation>?
        var others = IntrusiveList()
    }

    @inline(__always)
    private func countDown(_ dependent: Unmanaged<AnyOperation>, _ released: inout Released) {
        dependent._withUnsafeGuaranteedRef { operation in
            if operation.home?.toOpaque() != Unmanaged.passUnretained(self).toOpaque() {
                return AnyOperation.countDownElsewhere(dependent)
            }
            switch operation.dependencyCounter.countDown() {
            case .waiting: break
            case .ready:
                if operation.isObserved { operation.tellReady() }
                if released.continuing, released.follower == nil {
                    released.follower = dependent
                } else {
                    released.others.append(dependent)
                }
            case .ended: AnyOperation.letGo(ended: dependent)
            }
        }
    }

    /// Lists operations that became ready by the end of another one, given as the first of a chain of links.
    ///
    /// - Parameter passes: These are all of them. Listed one by one they would come in the wrong order if each passed
    ///   the others.
    func list(_ first: Unmanaged<AnyOperation>, passes: Bool = true) {
        change { $0.scheduler.append(released: first, passes: passes) }
    }
}

extension AnyOperation {
    /// Counts down a dependent of another queue. That queue lives while the dependent is unfinished.
    @inline(never)
    static func countDownElsewhere(_ dependent: Unmanaged<AnyOperation>) {
        let core = dependent._withUnsafeGuaranteedRef { operation in
            operation.withLife { $0.phase == .finished ? nil : operation.core }
        }
        switch dependent._withUnsafeGuaranteedRef({ $0.dependencyCounter.countDown() }) {
        case .waiting: break
        case .ready:
            if let fence = dependent._withUnsafeGuaranteedRef({ $0 as? Fence }) { return Trampoline.run(.open(fence)) }
            guard let core else { preconditionFailure("one that has finished is marked as ended") }
            dependent._withUnsafeGuaranteedRef { operation in
                if operation.isObserved { operation.tellReady() }
                operation.link = nil
            }
            core.list(dependent, passes: false)
        case .ended: letGo(ended: dependent)
        }
    }

    /// An end that came before the run, to be settled by the one that brought it, after unlocking.
    struct EarlyEnd {
        let operation: AnyOperation
        /// Nil: `willFinish` handlers come first.
        let ending: Lifecycle.Ending?
        let core: QueueCore?
        /// It stands in line for names, or has them. Its handlers do not keep others from them: they are those of no
        /// run.
        private(set) var claims: Bool
        /// Nobody will run these, and they take no more.
        let groups: [ChildGroup]
        let timers: OperationTimers?
        /// It does not wait for this outcome any more.
        let joined: Joined?
        /// It may wait for the turn that a rate gives it, or have one.
        let isPaced: Bool

        /// Gives back before the rest is settled. Returns who is granted something because of it, for the caller to
        /// tell.
        mutating func takeNames() -> [AnyOperation] {
            if !claims { return [] }
            claims = false
            return ExclusionManager.reclaim(atEndOf: operation)
        }

        /// The user's objects that are released by this may end others in turn.
        func settle() { Trampoline.settle(self) }

        func settleNow() {
            timers?.takeOut(of: operation, from: core)
            if isPaced { Rates.leave(operation) }
            if claims { ExclusionManager.giveBack(atEndOf: operation) }
            joined?.leave(operation)
            for group in groups { group.parentEnded() }
            if let ending { operation.settleOffWorker(ending, core) } else { operation.finishOffWorker(core) }
        }
    }

    /// Ends one that has not begun, and publishes this error. Nil: it has begun or finished, or a thread is still
    /// linking it, which will then find the error and settle the end itself.
    final func endBeforeRun(with error: OperationError) -> EarlyEnd? {
        withLife { endBeforeRun(with: error, &$0) }
    }

    /// As above, but one that has failed and waits for its next attempt goes on.
    final func endUnlessRetried(with error: OperationError) -> EarlyEnd? {
        withLife { life in
            // In this order: it is written while the body runs.
            let triesAgain = life.phase == .added && life.hasBegun && goesFirst
            return triesAgain ? nil : endBeforeRun(with: error, &life)
        }
    }

    /// As ``endBeforeRun(with:)``, locked by the caller.
    final func endBeforeRun(with error: OperationError, _ life: inout Lifecycle) -> EarlyEnd? {
        guard life.phase == .created || life.phase == .added else { return nil }
        if life.phase == .added, dependencyCounter.leaveEndToLinking() {
            let optionalState = life.madeOptionalState()
            if optionalState.endAfterLinking == nil { optionalState.endAfterLinking = error }
            return nil
        }
        return end(with: error, &life)
    }

    /// As ``endBeforeRun(with:)``, with the outcome of the operation that it has joined, which has finished.
    final func endBeforeRun(as original: AnyOperation) -> EarlyEnd? {
        withLife { life in
            guard life.phase == .added, !dependencyCounter.leaveEndToLinking() else { return nil }
            return end(as: original, &life)
        }
    }

    /// From the linking thread, when it found that something came to an end while it was linking.
    final func endAfterLinking() {
        let end = withLife { life -> EarlyEnd? in
            guard life.phase == .added else { return nil }
            if let error = life.optionalState?.endAfterLinking { return self.end(with: error, &life) }
            return life.optionalState?.uniqueness?.joined.map { self.end(as: $0.original, &life) }
        }
        guard let end else { return }
        if case .dependencyCycle? = failure {
            CycleBreak.settle(AnyOperation.endFollowers(of: [self]), around: [self])
        }
        end.settle()
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

    /// Its outcome is stored.
    private final func endUnrun(_ life: inout Lifecycle) -> EarlyEnd {
        let core = life.phase == .added ? core : nil
        let claims = life.endsClaim()
        let groups = life.optionalState?.childGroups ?? []
        let joined = life.optionalState?.uniqueness?.joined.take()
        return EarlyEnd(
            operation: self, ending: life.beginFinishing() ? nil : life.finish(), core: core, claims: claims,
            groups: groups, timers: life.optionalState?.timing?.takeTimers(), joined: joined,
            isPaced: life.optionalState?.preconditions.isPaced ?? false)
    }

    /// For one that ended without having run, or that no worker has run to its end.
    private final func settleOffWorker(_ ending: Lifecycle.Ending, _ core: QueueCore?, lettingGo: () -> Void = {}) {
        AnyOperation.finish(groups: settledOffWorker(ending, core, lettingGo: lettingGo))
    }

    /// As above. Returns groups that have ended by this, for the caller to finish.
    final func settledOffWorker(
        _ ending: Lifecycle.Ending, _ core: QueueCore?, lettingGo: () -> Void
    ) -> Unmanaged<AnyOperation>? {
        guard let core else {
            leaveSources()
            if ending.hasOptionalState, isObserved { tellFinish(in: nil) }
            ending.dependents.visit { AnyOperation.countDownElsewhere($0) }
            let woken = ending.wakes ? wake(in: nil) : .nobody
            if woken.handlersAreDue { deliver(from: nil) }
            lettingGo()
            return woken.groups
        }
        let settled = core.settle(self, ending, continuing: false)
        if settled.handlersAreDue { deliver(from: core) }
        let (departure, wasListed) = core.change { state in
            if ending.hasOpenWaits { state.scheduler.endedWithoutPermit() }
            let wasListed = state.unlist(self)
            core.beginHolding()
            return (core.leave(self, &state), wasListed)
        }
        if wasListed { Unmanaged.passUnretained(self).release() }
        lettingGo()
        core.left(departure)
        core.hasReleased()
        return settled.groups
    }

    /// As above, when its `willFinish` handlers have returned, which run on a task of their own.
    final func finishOffWorker(_ core: QueueCore?, lettingGo: @escaping @Sendable () -> Void = {}) {
        let retained = Unmanaged.passRetained(self)
        services.spawn {
            await retained.takeUnretainedValue().callHandlersBeforeFinish(core)
            let ending = retained._withUnsafeGuaranteedRef { $0.withLife { $0.finish() } }
            // In this order: an idle queue has nothing alive.
            retained._withUnsafeGuaranteedRef { operation in
                operation.settleOffWorker(ending, core) {
                    retained.release()
                    lettingGo()
                }
            }
        }
    }

    /// On a task that no cancel reaches.
    final func callHandlersBeforeFinish(_ core: QueueCore?) async {
        var isDone = false
        await WorkerTaskContext.run(of: core) { task in
            task.running = self
            var isSpent = false
            while !isSpent, !isDone {
                let (next, values) = withLife { life in
                    let optionalState = life.madeOptionalState()
                    return (optionalState.handlers.nextBeforeFinish(), optionalState.taskLocals)
                }
                if let handler = next {
                    if let values { await values.bind { await handler.call(self) } } else { await handler.call(self) }
                    isSpent = task.isSpent
                } else {
                    isDone = true
                }
            }
            task.running = nil
        }
        // A handler has cancelled the task: the next one is not to notice.
        if !isDone { await services.spawn { await self.callHandlersBeforeFinish(core) }.value }
    }

    struct Woken {
        let handlersAreDue: Bool
        /// That have ended by this, linked.
        let groups: Unmanaged<AnyOperation>?

        static var nobody: Woken { Woken(handlersAreDue: false, groups: nil) }
    }

    /// Wakes those who await the outcome.
    @inline(never)
    final func wake(in core: QueueCore?) -> Woken {
        let taken = withLife { life in
            life.borrowedOptionalState?._withUnsafeGuaranteedRef { optionalState in
                Taken(
                    preconditions: optionalState.takePreconditions(), ends: optionalState.takeEnds(),
                    waiters: optionalState.takeWaiters(),
                    actions: reachPast(life, optionalState))
            }
        }
        guard let taken else { return .nobody }
        taken.ends?.tell(of: self, in: core)
        var groups = IntrusiveList()
        if let waiters = taken.waiters {
            for waiter in waiters {
                if let group = waiter.outcomeCame(of: self) { groups.append(group) }
            }
        }
        return Woken(handlersAreDue: taken.actions.isDue, groups: groups.first)
    }

    /// What an end takes from the operation, to be told, or only released, after unlocking.
    private struct Taken {
        let preconditions: Preconditions
        let ends: Ends?
        let waiters: [Waiter]?
        let actions: HandlerList.Actions
    }

    // MARK: Outcome

    /// Called by the one that finishes the operation, before the phase says so.
    final func setFailure(_ error: OperationError) {
        outcome = error.bounded
        outcomeOwns = true
        hasFailed = true
    }

    /// The error, of one that was seen finished.
    @usableFromInline
    final var failure: OperationError? { hasFailed ? outcome as? OperationError : nil }

    final var outcomeKind: OperationOutcome { failure?.outcome ?? .success }

    /// The body threw. On the operation's own task.
    @usableFromInline
    final func bodyThrew(_ error: any Error) { bodyFailed(OperationError(thrownByBody: error)) }

    /// The body ended without an output: with this error, unless somebody had cancelled it.
    @usableFromInline
    final func bodyFailed(_ error: OperationError) {
        let reason = withLife { life in
            life.isCancelled
                ? life.optionalState?.cancellationReason ?? .requested : life.optionalState?.timing?.cutReason
        }
        setFailure(reason?.error ?? error)
    }

    /// A rule or a missing input kept the body from running. On the worker that has taken the operation up.
    @usableFromInline
    final func bodyWasSkipped(_ error: OperationError) {
        withLife { $0.bodyWasSkipped() }
        setFailure(error)
    }
}
