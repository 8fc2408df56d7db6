/// Checking the preconditions of an operation, after a worker has dequeued it and before its body runs.
extension QueueCore {
    enum PreconditionResult {
        /// The body may run. `isPlain` is true if there is nothing else to do around it.
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
            case .refused(let misuse): return refuse(current) { Misuse(misuse, operation: $0.reference) }
            case .request(let exclusions, let holder):
                // Events are published before the request, because an operation that waits may be released at any
                // moment.
                current.use { if $0.isObserved { $0.publishEvents() } }
                switch ExclusionManager.request(exclusions, for: current, inside: holder) {
                case .granted:
                    // If the operation has ended early and released its exclusions, the next action says so.
                    action = current.use { operation in
                        operation.withLifecycle { life in
                            _ = life.grantExclusions()
                            return life.nextAction(on: worker, isSkipped: false)
                        }
                    }
                case .withdrawn: return .endedBefore
                case .impossible(let misuse):
                    if current.use({ $0.withLifecycle { $0.startRefused(on: worker) } }) {
                        return refuse(current) { _ in misuse }
                    }
                    current.use { ExclusionManager.endedInBetween($0) }
                    return .endedBefore
                case .waiting: return .away(change { $0.scheduler.nextAction() })
                }
            case .requestStart(let rates, let holdsExclusions):
                let next = requestStart(of: current, from: rates, holdsExclusions: holdsExclusions, on: worker)
                guard let next else { return .away(change { $0.scheduler.nextAction() }) }
                action = next
            case .admit(let breakers, let rates):
                guard let next = admit(current, by: breakers, countedBy: rates, on: worker) else { return .toEnd }
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
                        let action = operation.withLifecycle { $0.resumeAfterConditions(on: worker) }
                        if operation.isObserved { operation.publishEvents() }
                        return action
                    }
                } else {
                    let isSatisfied = current.use { operation in
                        defer { if operation.isObserved { operation.publishEvents() } }
                        return operation.isSatisfied(unless: error)
                    }
                    return isSatisfied ? .away(requeue(satisfied: current)) : .toEnd
                }
            case .pause(let delay):
                current.use { if $0.isObserved { $0.publishEvents() } }
                let rest = delay.rest(on: timerService)
                pause(Retained(handedOver: current), for: rest.duration, until: rest.end)
                return .away(change { $0.scheduler.nextAction() })
            case .cancelled:
                current.use { $0.bodyFailed(.cancelled(reason: .requested)) }
                return .toEnd
            }
        }
    }

    /// Asks circuit breakers to admit an operation whose body would run next. Returns nil if one of them has refused it
    /// and its error is stored.
    private func admit(
        _ current: Unretained<AnyOperation>, by breakers: [CircuitBreaker], countedBy rates: [Rate], on worker: Worker
    ) -> Lifecycle.PreconditionAction? {
        let action = current.use { operation -> Lifecycle.PreconditionAction? in
            for breaker in breakers {
                guard let refusal = breaker.admit(operation) else { continue }
                // An early end has come first.
                guard operation.withLifecycle({ $0.refuseAdmission(on: worker) }) else { return .endedBefore }
                operation.bodyFailed(.conditionFailed(condition: breaker.name, cause: refusal))
                return nil
            }
            return operation.withLifecycle { $0.nextAction(on: worker, isSkipped: false) }
        }
        if case .run? = action { return action }
        // The body does not run, so its start does not count in the rates.
        if !rates.isEmpty { RateManager.undoStart(rates, in: self) }
        return action
    }

    /// Takes a permit for the operation, unless other operations come first.
    private func takesPermitAgain(for current: Unretained<AnyOperation>) -> Bool {
        let level = current.use { $0.currentPriority }
        return change { $0.scheduler.reacquirePermit(for: level) }
    }

    private func refuse(
        _ current: Unretained<AnyOperation>, _ misuse: (AnyOperation) -> Misuse
    ) -> PreconditionResult {
        current.use { $0.failWithoutRunning(with: .misuse(misuse($0))) }
        return .toEnd
    }

    // MARK: Requeue

    /// Lists an operation whose conditions are satisfied. The worker takes a permit again, and continues with the
    /// operation that comes first.
    private func requeue(satisfied operation: Unretained<AnyOperation>) -> Scheduler.WorkerAction {
        let hasDependencies = hasDependencies(operation)
        let (action, result) = change { state in
            let result = state.requeue(operation, hasDependencies)
            if result == .heldBySuspension { state.scheduler.append(operation) }
            return (state.scheduler.reacquirePermit(), result)
        }
        switch result {
        case .listed, .heldBySuspension: break
        case .canNeverRun(let operation): operation.endBeforeRun(with: .queueReleased)?.complete()
        }
        return action
    }

    /// Returns true if the operation has dependencies. Called before the queue is locked, because it takes the lock of
    /// the operation: a thread that ends the operation drops its dependencies.
    func hasDependencies(_ operation: Unretained<AnyOperation>) -> Bool {
        operation.use { operation in
            operation.withLifecycle { $0.phase != .finished && !operation.edges.isEmpty }
        }
    }

    /// Lists an operation that has received its exclusions. They are released if it may not start now.
    ///
    /// - Returns: The operations that receive exclusions as a result. The caller notifies them in a loop. If this
    ///   method notified them, each queued operation would release its exclusions inside the call for the previous one,
    ///   and a long wait queue would overflow the stack.
    func requeue(withExclusions operation: Unretained<AnyOperation>) -> [AnyOperation] {
        let hasDependencies = hasDependencies(operation)
        switch change({ $0.requeue(operation, hasDependencies) }) {
        case .listed: return []
        case .heldBySuspension: return listWithoutExclusions(operation)
        case .canNeverRun(let operation):
            guard var end = operation.endBeforeRun(with: .queueReleased) else { return [] }
            let granted = end.releaseExclusions()
            end.complete()
            return granted
        }
    }

    /// Releases the exclusions of operations that may not start now, because the queue has been suspended. The
    /// operations request them again when a worker dequeues them.
    func releaseExclusions(from first: Unretained<AnyOperation>?) {
        IntrusiveList.forEach(from: first) { ExclusionManager.notifyGranted(listWithoutExclusions($0)) }
    }

    /// Lists an operation after it has released its exclusions. No other thread releases the operation in between,
    /// because it is in no list.
    ///
    /// - Returns: The operations that receive exclusions as a result, for the caller to notify.
    func listWithoutExclusions(_ operation: Unretained<AnyOperation>) -> [AnyOperation] {
        let (granted, isFurtherAttempt) = operation.use { operation in
            let (releasesExclusions, hasRates, isFurtherAttempt) = operation.withLifecycle { life in
                (life.releaseExclusions(), life.optionalState?.preconditions.hasRates ?? false, life.isBetweenAttempts)
            }
            if hasRates { RateManager.returnTurns(by: operation) }
            return (releasesExclusions ? ExclusionManager.releaseReturningGranted(by: operation) : [], isFurtherAttempt)
        }
        change { $0.list(operation, isFurtherAttempt: isFurtherAttempt) }
        return granted
    }
}

enum RequeueResult: Equatable {
    case listed
    /// The operation may not start now, because the queue is suspended.
    case heldBySuspension
    /// The operation is listed as ready, in a suspended queue that nobody can resume.
    case canNeverRun(AnyOperation)
}

extension QueueCore.State {
    mutating func requeue(_ operation: Unretained<AnyOperation>, _ hasDependencies: Bool) -> RequeueResult {
        if scheduler.append(requeued: operation, hasDependencies: hasDependencies) { return .listed }
        guard canNeverRun(operation.use { $0 }) else { return .heldBySuspension }
        scheduler.append(operation)
        return .canNeverRun(operation.object)
    }
}

extension AnyOperation {
    /// Returns the first step for an operation that a worker has dequeued. If a dependency keeps the body from running,
    /// no precondition is checked.
    fileprivate final func nextAction(on worker: Worker) -> Lifecycle.PreconditionAction {
        withLifecycle { life in
            // The phase is checked first, because a thread that has cancelled the operation drops its inputs after
            // unlocking.
            guard life.phase == .added else { return .endedBefore }
            let isSkipped = !inputsHaveOutputs(life) || life.optionalState?.rare?.hasUnmetPolicy ?? false
            return life.nextAction(on: worker, isSkipped: isSkipped)
        }
    }

    /// Notes the answer of the conditions. Returns false if the operation ends, after storing its error.
    fileprivate final func isSatisfied(unless error: OperationError?) -> Bool {
        if error == nil, withLifecycle({ $0.satisfyConditions() }) { return true }
        bodyFailed(error ?? .cancelled(reason: .requested))
        return false
    }
}
