import Synchronization

/// Watches a queue for stalls: ``StallStateMachine`` behind its lock, and one timer, which is there while the queue is
/// watched and not empty.
///
/// The queue's lock says whether it is empty, and this one's whether there is a timer. So whoever changes either of
/// them adjusts the timer afterwards, and looks at the queue again when it has done so, until nothing is left to do.
final class StallWatch: Sendable {
    typealias Handler = nonisolated(nonsending) @Sendable (StallReport) async -> Void
    typealias Machine = StallStateMachine<Handler>

    private let machine = Locked(Machine())
    private let watched = Atomic<Bool>(false)

    /// Asked by everybody who adds something, or has brought the last operation to its end. Who begins to watch stores
    /// it before it looks at the queue, so of the two the second sees the first.
    @inline(__always)
    var isWatched: Bool { watched.load(ordering: .relaxed) }

    func add(_ handler: @escaping Handler, after limit: Duration, on core: QueueCore) -> UInt64 {
        let now = core.timerService.now
        let (id, action) = machine.withLock { machine in
            watched.store(true, ordering: .relaxed)
            return machine.add(handler, after: limit, at: now)
        }
        perform(action, on: core)
        adjust(on: core)
        return id
    }

    func remove(_ id: UInt64, on core: QueueCore?) {
        // The handler is released after unlocking.
        let (handler, action) = machine.withLock { machine in
            let removed = machine.remove(id)
            watched.store(machine.isWatched, ordering: .relaxed)
            return removed
        }
        if let core { perform(action, on: core) }
        withExtendedLifetime(handler) {}
    }

    @inline(never)
    func adjust(on core: QueueCore) {
        while true {
            let isEmpty = core.state.withLock { $0.registry.count == 0 && $0.handlerDispatcher.isIdle }
            let action = machine.withLock { $0.adjust(isEmpty: isEmpty) }
            if case .none = action { return }
            perform(action, on: core)
        }
    }

    private func perform(_ action: Machine.Action, on core: QueueCore) {
        switch action {
        case .none: break
        case .removeTimer(let ticket): core.timerService.remove(ticket)
        case .setTimer(let number):
            let now = core.timerService.now
            let signs = core.signs
            guard let time = machine.withLock({ $0.begin(number, at: now, signs: signs) }) else { return }
            let ticket = core.timerService.add(.stall(StallTimer(core: core, number: number)), at: time)
            if !machine.withLock({ $0.wasSet(number, ticket) }) { core.timerService.remove(ticket) }
        }
    }

    fileprivate func timerFired(_ number: UInt64, at now: Duration, on core: QueueCore) {
        let signs = core.signs
        if let call = machine.withLock({ $0.fired(number, at: now, signs: signs) }) { core.tell(call) }
        adjust(on: core)
    }
}

/// What the timer service has of a watch. It does not keep the queue.
final class StallTimer: Sendable {
    private weak let core: QueueCore?
    private let number: UInt64

    init(core: QueueCore, number: UInt64) {
        self.core = core
        self.number = number
    }

    func fire(at now: Duration) {
        if let core { core.stalls.timerFired(number, at: now, on: core) }
    }
}

extension QueueCore {
    fileprivate var signs: StallWatch.Machine.Signs {
        state.withLock { state in
            state.reclaimAll()
            return StallWatch.Machine.Signs(
                added: state.registry.entered, finished: state.registry.left, taken: state.scheduler.taken,
                handlersReturned: state.handlerDispatcher.completed,
                hasOpenHandlers: !state.handlerDispatcher.isIdle)
        }
    }

    private func makeStallReport(after quiet: Duration) -> StallReport? {
        beginHolding()
        defer { hasReleased() }
        return stallReport(after: quiet)
    }

    /// The report is made once, because it takes time in proportion to the queue. The queue goes when it would, however
    /// long the handlers take.
    fileprivate func tell(_ call: StallWatch.Machine.Call) {
        services.spawn { [services, weak self] in
            guard let report = self?.makeStallReport(after: call.quiet) else { return }
            for handler in call.handlers.dropFirst() { services.spawn { await handler(report) } }
            await call.handlers[0](report)
        }
    }
}
