/// The rates of the process: the driver of ``RateTable``, which it guards with a lock.
enum RateManager {
    private static let table = Locked(RateTable())

    // MARK: Starting

    /// Counts a start of the operation in all of these rates, unless one of them does not allow it yet.
    static func start(
        _ operation: Unretained<AnyOperation>, _ rates: [Rate], in core: QueueCore
    ) -> RateTable.StartResult {
        let clock = core.time.clockIdentity
        let reading = reading(in: core)
        let (result, conflicts, changes) = table.withLock { $0.start(operation, rates, on: clock, at: reading) }
        perform(changes)
        operation.use { report(conflicts, of: $0) }
        return result
    }

    /// Removes the last start, because the operation has ended before its body ran.
    static func undoStart(_ rates: [Rate], in core: QueueCore) {
        let clock = core.time.clockIdentity
        perform(table.withLock { $0.undoStart(rates, on: clock) })
    }

    // MARK: Waiting

    /// Makes the operation wait for its turn. The table takes over the queue's reference to it, so the caller must not
    /// use the operation any more.
    static func wait(_ operation: Unretained<AnyOperation>, for rates: [Rate], in core: QueueCore) {
        let clock = core.time.clockIdentity
        let reading = reading(in: core)
        // Retained, because the operation may have its turn, run and be released before this method returns.
        let retained = operation.object
        let (conflicts, changes) = table.withLock {
            $0.wait(operation, rates, in: Unretained(core), on: clock, at: reading)
        }
        perform(changes)
        // The operation may have ended before the table knew it. A later end finds it in the table.
        if retained.withLifecycle({ $0.phase == .finishing || $0.phase == .finished }) { remove(retained) }
        report(conflicts, of: retained)
    }

    fileprivate static func report(_ conflicts: [RateConflict], of operation: AnyOperation) {
        for conflict in conflicts { operation.report(conflict.misuse(of: operation.reference)) }
    }

    /// Passes the turns of an operation whose queue was suspended to the operations behind it. The operation requests
    /// its rates again when a worker dequeues it.
    static func returnTurns(by operation: AnyOperation) {
        perform(table.withLock { $0.returnTurns(by: Unretained(operation)) })
    }

    /// Removes an operation that has ended before its run.
    static func remove(_ operation: AnyOperation) {
        let (awaitedTurn, changes) = table.withLock { $0.remove(Unretained(operation)) }
        perform(changes)
        if awaitedTurn { Retained(handedOver: operation).release() }
    }

    /// Registers a queue whose clock is not one of the system's. From now on the queue keeps alive what other queues
    /// have used of the rates on that clock.
    static func register(queue number: UInt32, _ time: TimeSource) {
        _ = table.withLock { $0.register(queue: number, time) }
    }

    /// Removes a queue whose clock is not one of the system's.
    static func unregister(queue number: UInt32, _ time: TimeSource) {
        let clockRates = table.withLock { $0.unregister(queue: number, clock: time.clockIdentity) }
        withExtendedLifetime(clockRates) {}
    }

    /// Reads the queue's clock, which is the user's code and therefore read outside the lock.
    private static func reading(in core: QueueCore) -> RateTable.Reading {
        let (time, number) = table.withLock { $0.register(queue: core.number, core.time) }
        return RateTable.Reading(number: number, time: time.now)
    }

    // MARK: Turns

    static func timerFired(_ timer: RateTimer) {
        let number = table.withLock { $0.readingNumber(on: timer.key.clock) }
        let reading = RateTable.Reading(number: number, time: timer.time.now)
        let (turns, held, change) = table.withLock { table in
            let (turns, change) = table.takeTurns(timer, at: reading)
            return (turns, turns.map { HeldOperation($0) }, change)
        }
        defer { withExtendedLifetime(held) {} }
        // The timer is changed first, because an operation that gets its turn may be the last one of its queue, and the
        // timer service would be released with it.
        if let change { perform([change]) }
        for operation in turns {
            let core = operation.use { operation in
                operation.withLifecycle { $0.phase == .added ? operation.core : nil }
            }
            // Otherwise the operation has ended before its turn.
            if let core {
                operation.use { if $0.isObserved { $0.publishRateEvent(.granted) } }
                core.requeue(withTurn: operation)
            } else {
                Retained(handedOver: operation).release()
            }
        }
    }

    private static func perform(_ changes: [RateTable.TimerChange]) {
        for change in changes {
            if let former = change.former { former.timerService.remove(former.ticket) }
            guard let next = change.next else { continue }
            // This time is read first. If the clock is moved in between, the timer fires early and is set again.
            let now = next.timerService.now
            let left = max(.zero, next.time - next.timer.time.now)
            next.timerService.add(.rate(next.timer), at: now + left) { ticket in
                // Another thread has replaced this timer, or it has fired already.
                if !table.withLock({ $0.note(ticket, of: next.timer) }) { next.timerService.remove(ticket) }
            }
        }
    }

    // MARK: Inspection

    /// See ``RateTable/places(of:)``.
    static func places(of operation: AnyOperation) -> [(key: RateTable.Key, rate: Rate, arrival: UInt64)] {
        table.withLock { $0.places(of: operation) }
    }

    /// See ``RateTable/view(of:)``.
    static func view(of key: RateTable.Key) -> RateTable.View? {
        var view = table.withLock { $0.view(of: key) }
        view?.sort()
        return view
    }

    /// For tests: see ``RateTable/counts(of:)``.
    static func counts(of clock: ObjectIdentifier) -> (rates: Int, operations: Int, isKnown: Bool) {
        table.withLock { $0.counts(of: clock) }
    }
}

/// The start of an operation that has rates, on its worker.
extension QueueCore {
    /// Asks the rates of an operation for a start. Returns nil if the operation waits for its turn; the worker must not
    /// use it any more, because it may have run or ended meanwhile.
    func requestStart(
        of operation: Unretained<AnyOperation>, from rates: [Rate], holdsExclusions: Bool, on worker: Worker
    ) -> Lifecycle.PreconditionAction? {
        operation.use { operation in
            let conflicts = operation.withLifecycle { $0.optionalState?.preconditions.takeRateConflicts() ?? [] }
            RateManager.report(conflicts, of: operation)
        }
        switch RateManager.start(operation, rates, in: self) {
        case .started:
            let action = operation.use { operation in
                operation.withLifecycle { $0.resumeAfterRates(on: worker) }
            }
            if case .endedBefore = action { RateManager.undoStart(rates, in: self) }
            return action
        case .refused(let rate, let hasWaited):
            // The exclusions are released, so that others can hold them meanwhile. But an operation that has waited
            // before, and lost its turn while it waited for its exclusions, keeps them this time. Otherwise operations
            // that use only the exclusions and others that use only the rate could keep it from starting forever.
            var granted: [AnyOperation] = []
            if holdsExclusions, !hasWaited {
                let taken = operation.use { operation -> [AnyOperation]? in
                    operation.withLifecycle { $0.releaseExclusions() }
                        ? ExclusionManager.releaseReturningGranted(by: operation) : nil
                }
                // An early end has come first, and releases the exclusions itself.
                guard let taken else { return .endedBefore }
                granted = taken
            }
            operation.use { if $0.isObserved { $0.publishRateEvent(.waitingForRate("\(rate)")) } }
            RateManager.wait(operation, for: rates, in: self)
            ExclusionManager.notifyGranted(granted)
            return nil
        }
    }

    /// Lists an operation that has its turn; it starts when there is a permit. If its queue is suspended, its turns and
    /// exclusions pass to others.
    func requeue(withTurn operation: Unretained<AnyOperation>) {
        let hasDependencies = hasDependencies(operation)
        switch change({ $0.requeue(operation, hasDependencies) }) {
        case .listed: break
        case .heldBySuspension: ExclusionManager.notifyGranted(listWithoutExclusions(operation))
        case .canNeverRun(let operation): operation.endBeforeRun(with: .queueReleased)?.complete()
        }
    }
}
