/// Checking the preconditions of an operation, after a worker has taken it up and before its body runs.
extension QueueCore {
    enum PreconditionResult {
        /// The body may run. If `isPlain`, nothing is asked or told around it.
        case toBody(isPlain: Bool)
        /// A precondition kept the body from running, and its error is stored.
        case toEnd
        /// The operation ended while it was ready.
        case endedBefore
        /// The operation does not belong to this worker any more, because it waits for exclusions or was listed again.
        /// The worker continues with this action.
        case away(Scheduler.WorkerAction)
    }

    nonisolated(nonsending) func checkPreconditions(
        of current: Unretained<AnyOperation>, on worker: Worker, as task: WorkerTaskContext
    ) async -> PreconditionResult {
        var action = current.use { $0.nextAction(on: worker) }
        while true {
            switch action {
            case .endedBefore: return .endedBefore
            case .run(let isPlain):
                return current.use { operation in
                    task.running = operation
                    return .toBody(isPlain: isPlain && startsPlainly)
                }
            case .refused(let misuse): return refuse(current, misuse)
            case .request(let exclusions, let holder):
                // Events are told before the request, because an operation that waits may be released at any moment.
                current.use { if $0.isObserved { $0.publishEvents() } }
                switch ExclusionManager.request(exclusions, for: current, inside: holder) {
                case .granted:
                    // If the operation has ended early and given its exclusions back, the next action says so.
                    action = current.use { operation in
                        operation.withLife { life in
                            _ = life.grantExclusions()
                            return life.nextAction(on: worker, isSkipped: false)
                        }
                    }
                case .withdrawn: return .endedBefore
                case .impossible(let misuse):
                    if current.use({ $0.withLife { $0.startRefused(on: worker) } }) {
                        return refuse(current, misuse)
                    }
                    current.use { ExclusionManager.endedInBetween($0) }
                    return .endedBefore
                case .waiting: return .away(change { $0.scheduler.nextAction() })
                }
            case .requestStart(let rates, let holdsExclusions):
                let next = requestStart(of: current, from: rates, holdsExclusions: holdsExclusions, on: worker)
                guard let next else { return .away(change { $0.scheduler.nextAction() }) }
                action = next
            case .evaluate(let optionalState):
                change { $0.scheduler.releasePermit() }
                current.use { operation in
                    if operation.isObserved { operation.publishEvents() }
                    task.running = operation
                }
                let error = await evaluate(conditionsIn: optionalState, of: current.object, on: worker)
                task.running = nil
                // A condition may have cancelled the worker's task. Then the body runs on the task of another worker.
                if error == nil, !task.isTainted, takesPermitAgain(for: current) {
                    action = current.use { operation in
                        let action = operation.withLife { $0.resumeAfterConditions(on: worker) }
                        if operation.isObserved { operation.publishEvents() }
                        return action
                    }
                } else {
                    let isSatisfied = current.use { operation in
                        defer { if operation.isObserved { operation.publishEvents() } }
                        return operation.isSatisfied(unless: error)
                    }
                    return isSatisfied ? .away(listAgain(satisfied: current)) : .toEnd
                }
            case .pause(let delay):
                current.use { if $0.isObserved { $0.publishEvents() } }
                pause(Retained(handedOver: current), for: delay.rest)
                return .away(change { $0.scheduler.nextAction() })
            case .cancelled:
                current.use { $0.bodyFailed(.cancelled(reason: .requested)) }
                return .toEnd
            }
        }
    }

    /// Takes a permit for the operation, unless other operations come first.
    private func takesPermitAgain(for current: Unretained<AnyOperation>) -> Bool {
        let level = current.use { $0.currentPriority }
        return change { $0.scheduler.reacquirePermit(for: level) }
    }

    private func refuse(_ current: Unretained<AnyOperation>, _ misuse: Misuse.Kind) -> PreconditionResult {
        current.use {
            $0.failWithoutRunning(with: .misuse(Misuse(misuse, operation: $0.reference)))
        }
        return .toEnd
    }

    // MARK: Listing again

    /// Lists an operation whose conditions are satisfied. The worker takes a permit again, and continues with the
    /// operation that comes first.
    private func listAgain(satisfied operation: Unretained<AnyOperation>) -> Scheduler.WorkerAction {
        let hasDependencies = hasDependencies(operation)
        let (action, listing) = change { state in
            let listing = state.list(again: operation, hasDependencies)
            if listing == .heldBySuspension { state.scheduler.append(operation) }
            return (state.scheduler.reacquirePermit(), listing)
        }
        switch listing {
        case .listed, .heldBySuspension: break
        case .stranded(let operation): operation.endBeforeRun(with: .queueReleased)?.complete()
        }
        return action
    }

    /// Returns true if the operation has dependencies. Called before the queue is locked, because it takes the lock of
    /// the operation: a thread that ends the operation drops its dependencies.
    func hasDependencies(_ operation: Unretained<AnyOperation>) -> Bool {
        operation.use { operation in
            operation.withLife { $0.phase != .finished && !operation.edges.isEmpty }
        }
    }

    /// Lists an operation that has received its exclusions. They are given back if the operation may not start now.
    ///
    /// - Returns: The operations that receive exclusions as a result. The caller tells them in a loop. If this method
    ///   told them, each queued operation would give back its exclusions inside the call for the previous one, and a
    ///   long wait queue would overflow the stack.
    func listAgain(withExclusions operation: Unretained<AnyOperation>) -> [AnyOperation] {
        let hasDependencies = hasDependencies(operation)
        switch change({ $0.list(again: operation, hasDependencies) }) {
        case .listed: return []
        case .heldBySuspension: return listWithoutExclusions(operation)
        case .stranded(let operation):
            guard var end = operation.endBeforeRun(with: .queueReleased) else { return [] }
            let granted = end.releaseExclusions()
            end.complete()
            return granted
        }
    }

    /// Gives back the exclusions of operations that may not start now, because the queue has been suspended. The
    /// operations ask for them again when a worker takes them up.
    func releaseExclusions(from first: Unretained<AnyOperation>?) {
        IntrusiveList.forEach(from: first) { ExclusionManager.notifyGranted(listWithoutExclusions($0)) }
    }

    /// Lists an operation after it has given back its exclusions. Nobody releases the operation in between, because it
    /// is in no list.
    ///
    /// - Returns: The operations that receive exclusions as a result, for the caller to tell.
    func listWithoutExclusions(_ operation: Unretained<AnyOperation>) -> [AnyOperation] {
        let (granted, isFurtherAttempt) = operation.use { operation in
            let (givesBack, hasRates, isFurtherAttempt) = operation.withLife { life in
                (life.releaseExclusions(), life.optionalState?.preconditions.hasRates ?? false, life.isBetweenAttempts)
            }
            if hasRates { RateManager.returnTurns(by: operation) }
            return (givesBack ? ExclusionManager.releaseReturningGranted(by: operation) : [], isFurtherAttempt)
        }
        change { $0.list(operation, isFurtherAttempt: isFurtherAttempt) }
        return granted
    }
}

enum ListingAgain: Equatable {
    case listed
    /// The operation may not start now, because the queue is suspended.
    case heldBySuspension
    /// The operation is listed as ready, in a suspended queue that nobody can resume.
    case stranded(AnyOperation)
}

extension QueueCore.State {
    mutating func list(again operation: Unretained<AnyOperation>, _ hasDependencies: Bool) -> ListingAgain {
        if scheduler.appendReturning(operation, hasDependencies: hasDependencies) { return .listed }
        guard strands(operation.use { $0 }) else { return .heldBySuspension }
        scheduler.append(operation)
        return .stranded(operation.object)
    }
}

extension AnyOperation {
    /// Returns the first step for an operation that a worker has taken up. If a dependency keeps the body from running,
    /// no precondition is checked.
    fileprivate final func nextAction(on worker: Worker) -> Lifecycle.PreconditionAction {
        withLife { life in
            // The phase is checked first, because a thread that has cancelled the operation drops its inputs after
            // unlocking.
            guard life.phase == .added else { return .endedBefore }
            let isSkipped = !inputsHaveOutputs(life) || life.optionalState?.rare?.hasUnmetPolicy ?? false
            return life.nextAction(on: worker, isSkipped: isSkipped)
        }
    }

    /// Notes the answer of the conditions. Returns false if the operation ends, after storing its error.
    fileprivate final func isSatisfied(unless error: OperationError?) -> Bool {
        if error == nil, withLife({ $0.satisfyConditions() }) { return true }
        bodyFailed(error ?? .cancelled(reason: .requested))
        return false
    }
}
