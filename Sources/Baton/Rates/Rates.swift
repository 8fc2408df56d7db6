/// The rates of the process: ``RateTable`` behind its lock, and what follows from its answers.
enum Rates {
    private static let table = Locked(RateTable())

    // MARK: Starting

    /// Counts a start of the operation in all of these rates, unless one of them does not allow it yet.
    static func start(
        _ operation: Unmanaged<AnyOperation>, _ rates: [Rate], in core: QueueCore
    ) -> RateTable.Answer {
        let clock = core.time.clockIdentity
        let now = now(of: core)
        let (answer, conflicts, changes) = table.withLock { $0.start(operation, rates, on: clock, at: now) }
        perform(changes)
        for conflict in conflicts {
            operation._withUnsafeGuaranteedRef { $0.report(Misuse(conflict, operation: $0.reference)) }
        }
        return answer
    }

    /// The operation has ended between the count and its body.
    static func takeStartBack(_ rates: [Rate], in core: QueueCore) {
        let clock = core.time.clockIdentity
        perform(table.withLock { $0.takeStartBack(rates, on: clock) })
    }

    // MARK: Waiting

    /// The operation waits for its turn, with the reference that is the queue's. The caller does not touch it any more.
    static func wait(_ operation: Unmanaged<AnyOperation>, for rates: [Rate], in core: QueueCore) {
        let clock = core.time.clockIdentity
        let now = now(of: core)
        // It may have its turn, run and be released before this returns.
        let retained = operation.takeUnretainedValue()
        let changes = table.withLock {
            $0.wait(operation, rates, in: .passUnretained(core), on: clock, at: now)
        }
        perform(changes)
        // Its end may have come before it was in the line, where an end that comes later finds it.
        if retained.withLife({ $0.phase == .finishing || $0.phase == .finished }) { leave(retained) }
    }

    /// Its queue has been suspended: whoever comes next has its turn, and it asks again when a worker takes it up.
    static func giveTurnsBack(by operation: AnyOperation) {
        perform(table.withLock { $0.giveTurnsBack(by: .passUnretained(operation)) })
    }

    /// The operation has ended before its run.
    static func leave(_ operation: AnyOperation) {
        let (wasInLine, changes) = table.withLock { $0.leave(.passUnretained(operation)) }
        perform(changes)
        if wasInLine { Unmanaged.passUnretained(operation).release() }
    }

    /// A queue has come, whose clock is not one of the system's. From now on it keeps what other queues have used of
    /// the rates on it.
    static func enter(queue number: UInt32, _ time: TimeSource) {
        _ = table.withLock { $0.enter(queue: number, time) }
    }

    /// The queue has gone, whose clock is not one of the system's.
    static func leave(queue number: UInt32, _ time: TimeSource) {
        let book = table.withLock { $0.leave(queue: number, clock: time.clockIdentity) }
        withExtendedLifetime(book) {}
    }

    /// The clock is the user's, and asked outside the lock.
    private static func now(of core: QueueCore) -> Duration {
        table.withLock { $0.enter(queue: core.number, core.time) }.now
    }

    // MARK: Turns

    static func timeHasCome(_ timer: RateTimer) {
        let now = timer.time.now
        let (turns, held, change) = table.withLock { table in
            let (turns, change) = table.takeTurns(timer, at: now)
            return (turns, turns.map { HeldOperation($0) }, change)
        }
        defer { withExtendedLifetime(held) {} }
        // First: an operation that has its turn may be the last of its queue.
        if let change { perform([change]) }
        for operation in turns {
            let core = operation._withUnsafeGuaranteedRef { operation in
                operation.withLife { $0.phase == .added ? operation.core : nil }
            }
            // Else its end came first.
            if let core {
                operation._withUnsafeGuaranteedRef { if $0.isObserved { $0.tellOfRate(.granted) } }
                core.listAgain(withTurn: operation)
            } else {
                operation.release()
            }
        }
    }

    private static func perform(_ changes: [RateTable.TimerChange]) {
        for change in changes {
            if let former = change.former { former.timerService.remove(former.ticket) }
            guard let next = change.next else { continue }
            let left = max(.zero, next.time - next.timer.time.now)
            let ticket = next.timerService.add(.rate(next.timer), at: next.timerService.now + left)
            // Somebody has set another one in between, or this one has fired.
            if !table.withLock({ $0.note(ticket, of: next.timer) }) { next.timerService.remove(ticket) }
        }
    }

    // MARK: Looking

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

/// What a worker does with an operation whose starts are counted.
extension QueueCore {
    /// Nil: it waits for its turn, or has ended in between, and is not this worker's any more.
    func pace(
        _ operation: Unmanaged<AnyOperation>, _ rates: [Rate], holdsNames: Bool, on worker: Worker
    ) -> Lifecycle.Passage? {
        switch Rates.start(operation, rates, in: self) {
        case .started:
            let passage = operation._withUnsafeGuaranteedRef { operation in
                operation.withLife { $0.passCounted(on: worker) }
            }
            if case .endedBefore = passage { Rates.takeStartBack(rates, in: self) }
            return passage
        case .refused(let rate, let hasWaited):
            // Others may have the names meanwhile. But one that lost its turn while it waited for its names keeps them
            // the next time: else those who use only the names and those who use only the rate could keep it from
            // starting for ever.
            var granted: [AnyOperation] = []
            if holdsNames, !hasWaited {
                let taken = operation._withUnsafeGuaranteedRef { operation -> [AnyOperation]? in
                    operation.withLife { $0.givesNamesBack() } ? ExclusionManager.reclaim(from: operation) : nil
                }
                // An early end has come first, and gives them back itself.
                guard let taken else { return .endedBefore }
                granted = taken
            }
            tell(operation, waitsFor: rate)
            Rates.wait(operation, for: rates, in: self)
            ExclusionManager.handOut(granted)
            return nil
        }
    }

    private func tell(_ operation: Unmanaged<AnyOperation>, waitsFor rate: Rate) {
        operation._withUnsafeGuaranteedRef { if $0.isObserved { $0.tellOfRate(.waitingForRate("\(rate)")) } }
    }

    /// It has its turn, and starts when there is a permit. If it may not start now, the turn goes to the next one, and
    /// so do names.
    func listAgain(withTurn operation: Unmanaged<AnyOperation>) {
        let hasDependencies = hasDependencies(operation)
        switch change({ $0.list(again: operation, hasDependencies) }) {
        case .listed: break
        case .heldBySuspension: ExclusionManager.handOut(listWithoutNames(operation))
        case .stranded(let operation): operation.endBeforeRun(with: .queueReleased)?.settle()
        }
    }
}
