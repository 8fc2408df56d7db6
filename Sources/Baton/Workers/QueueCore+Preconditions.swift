/// What a worker does with an operation that has conditions or exclusions, before its body.
extension QueueCore {
    enum Passage {
        /// The body may run. `plain`: nothing is asked or told around it.
        case toBody(isPlain: Bool)
        /// A rule kept the body from running, and its error is stored.
        case toEnd
        /// Its end came while it was ready.
        case endedBefore
        /// It is not this worker's any more: it waits for names, or was listed again. The worker goes on with this.
        case away(Scheduler.WorkerAction)
    }

    nonisolated(nonsending) func checkPreconditions(
        of current: Unmanaged<AnyOperation>, on worker: Worker, as task: WorkerTaskContext
    ) async -> Passage {
        var passage = current._withUnsafeGuaranteedRef { $0.pass(on: worker) }
        while true {
            switch passage {
            case .endedBefore: return .endedBefore
            case .run(let isPlain):
                return current._withUnsafeGuaranteedRef { operation in
                    task.running = operation
                    return .toBody(isPlain: isPlain && startsPlainly)
                }
            case .refused(let misuse): return refuse(current, misuse)
            case .request(let exclusions, let holder):
                // Before the request: one that waits may be gone at any moment.
                current._withUnsafeGuaranteedRef { if $0.isObserved { $0.tellEvents() } }
                switch ExclusionManager.request(exclusions, for: current, inside: holder) {
                case .granted:
                    // An early end has given them back: the next look at it says so.
                    passage = current._withUnsafeGuaranteedRef { operation in
                        operation.withLife { life in
                            _ = life.namesAreGranted()
                            return life.pass(on: worker, isKept: false)
                        }
                    }
                case .withdrawn: return .endedBefore
                case .impossible(let misuse):
                    if current._withUnsafeGuaranteedRef({ $0.withLife { $0.isRefused(on: worker) } }) {
                        return refuse(current, misuse)
                    }
                    current._withUnsafeGuaranteedRef { ExclusionManager.endedInBetween($0) }
                    return .endedBefore
                case .waiting: return .away(change { state in state.nextAction { $0.nextAction() } })
                }
            case .pace(let rates, let holdsNames):
                let next = pace(current, rates, holdsNames: holdsNames, on: worker)
                guard let next else { return .away(change { state in state.nextAction { $0.nextAction() } }) }
                passage = next
            case .evaluate(let optionalState):
                change { $0.scheduler.releasePermit() }
                current._withUnsafeGuaranteedRef { operation in
                    if operation.isObserved { operation.tellEvents() }
                    task.running = operation
                }
                let error = await evaluate(conditionsIn: optionalState, of: current.takeUnretainedValue(), on: worker)
                task.running = nil
                // A condition may have cancelled the task: then the body runs on that of another worker.
                if error == nil, !task.isSpent, takesPermitAgain(for: current) {
                    passage = current._withUnsafeGuaranteedRef { operation in
                        let passage = operation.withLife { $0.passSatisfied(on: worker) }
                        if operation.isObserved { operation.tellEvents() }
                        return passage
                    }
                } else {
                    let isSatisfied = current._withUnsafeGuaranteedRef { operation in
                        defer { if operation.isObserved { operation.tellEvents() } }
                        return operation.isSatisfied(unless: error)
                    }
                    return isSatisfied ? .away(listAgain(satisfied: current)) : .toEnd
                }
            case .pause(let delay):
                current._withUnsafeGuaranteedRef { if $0.isObserved { $0.tellEvents() } }
                pause(current, for: delay.rest)
                return .away(change { state in state.nextAction { $0.nextAction() } })
            case .cancelled:
                current._withUnsafeGuaranteedRef { $0.bodyFailed(.cancelled(reason: .requested)) }
                return .toEnd
            }
        }
    }

    /// Nothing comes before it.
    private func takesPermitAgain(for current: Unmanaged<AnyOperation>) -> Bool {
        let level = current._withUnsafeGuaranteedRef { $0.level }
        return change { $0.scheduler.reacquirePermit(for: level) }
    }

    private func refuse(_ current: Unmanaged<AnyOperation>, _ misuse: Misuse.Kind) -> Passage {
        current._withUnsafeGuaranteedRef { $0.bodyWasSkipped(.misuse(Misuse(misuse, operation: $0.reference))) }
        return .toEnd
    }

    // MARK: Listing again

    /// Its conditions are satisfied. The worker takes a permit again, and goes on with what comes first.
    private func listAgain(satisfied operation: Unmanaged<AnyOperation>) -> Scheduler.WorkerAction {
        let hasDependencies = hasDependencies(operation)
        let (action, listing) = change { state in
            let listing = state.list(again: operation, hasDependencies)
            if listing == .heldBySuspension { state.scheduler.append(operation) }
            return (state.nextAction { $0.reacquirePermit() }, listing)
        }
        switch listing {
        case .listed, .heldBySuspension: break
        case .stranded(let operation): operation.endBeforeRun(with: .queueReleased)?.settle()
        }
        return action
    }

    /// Before the queue is locked: who ends it meanwhile drops them.
    func hasDependencies(_ operation: Unmanaged<AnyOperation>) -> Bool {
        operation._withUnsafeGuaranteedRef { operation in
            operation.withLife { $0.phase != .finished && !operation.edges.isEmpty }
        }
    }

    /// It has got the names that it had asked for. They are given back if it may not start now.
    ///
    /// Returns who is granted something because of that, for the caller to tell: told from here, each in a line would
    /// give back inside the one before it, and a long line overflow the stack.
    func listAgain(withNames operation: Unmanaged<AnyOperation>) -> [AnyOperation] {
        let hasDependencies = hasDependencies(operation)
        switch change({ $0.list(again: operation, hasDependencies) }) {
        case .listed: return []
        case .heldBySuspension: return listWithoutNames(operation)
        case .stranded(let operation):
            guard var end = operation.endBeforeRun(with: .queueReleased) else { return [] }
            let granted = end.takeNames()
            end.settle()
            return granted
        }
    }

    /// The queue was suspended: whatever has names and may not start now gives them back, and asks anew when it is
    /// taken up.
    func giveNamesBack(from first: Unmanaged<AnyOperation>?) {
        IntrusiveList.forEach(from: first) { ExclusionManager.handOut(listWithoutNames($0)) }
    }

    /// Returns who is granted something because of it. It is in no list, so nobody lets go of it meanwhile.
    func listWithoutNames(_ operation: Unmanaged<AnyOperation>) -> [AnyOperation] {
        let (granted, isFurtherAttempt) = operation._withUnsafeGuaranteedRef { operation in
            let (givesBack, isPaced, isFurtherAttempt) = operation.withLife { life in
                (life.givesNamesBack(), life.optionalState?.preconditions.isPaced ?? false, life.isBetweenAttempts)
            }
            if isPaced { Rates.giveTurnsBack(by: operation) }
            return (givesBack ? ExclusionManager.reclaim(from: operation) : [], isFurtherAttempt)
        }
        change { $0.list(operation, isFurtherAttempt: isFurtherAttempt) }
        return granted
    }
}

enum ListingAgain: Equatable {
    case listed
    /// It may not start now.
    case heldBySuspension
    /// As a ready one, in a queue that nobody can resume.
    case stranded(AnyOperation)
}

extension QueueCore.State {
    mutating func list(again operation: Unmanaged<AnyOperation>, _ hasDependencies: Bool) -> ListingAgain {
        if scheduler.appendReturning(operation, hasDependencies: hasDependencies) { return .listed }
        guard strands(operation._withUnsafeGuaranteedRef { $0 }) else { return .heldBySuspension }
        scheduler.append(operation)
        return .stranded(operation.takeUnretainedValue())
    }
}

extension AnyOperation {
    /// When a worker has taken it up. If a dependency keeps its body from running, no rule is asked.
    fileprivate final func pass(on worker: Worker) -> Lifecycle.Passage {
        withLife { life in
            // One that has been cancelled meanwhile lets its inputs go, outside the lock.
            guard life.phase == .added else { return .endedBefore }
            let isKept = !inputsHaveOutputs(life) || life.optionalState?.rare?.hasUnmetPolicy ?? false
            return life.pass(on: worker, isKept: isKept)
        }
    }

    /// Its conditions have answered. False: its end is decided, and the error stored.
    fileprivate final func isSatisfied(unless error: OperationError?) -> Bool {
        if error == nil, withLife({ $0.conditionsAreSatisfied() }) { return true }
        bodyFailed(error ?? .cancelled(reason: .requested))
        return false
    }
}
