import Synchronization

/// Watches a queue for stalls. Drives a ``StallStateMachine`` with one timer, which is set while the queue is watched
/// and not empty.
///
/// The queue's lock guards whether the queue is empty, and the lock of the watch whether there is a timer. A thread
/// that has changed either of them therefore adjusts the timer and then checks the queue again, until the two agree.
final class StallWatch: Sendable {
    typealias Handler = nonisolated(nonsending) @Sendable (StallReport) async -> Void
    typealias Machine = StallStateMachine<Handler>

    private let machine = Locked(Machine())
    private let watched = Atomic<Bool>(false)

    /// Read by each thread that adds operations or completes the last one, after it has released the queue's lock.
    /// `add` stores true before it takes that lock, so of two such threads the one that takes the lock second sees what
    /// the other one has done.
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
        // Releases the handler after unlocking.
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
            let counters = core.counters
            guard let time = machine.withLock({ $0.begin(number, at: now, counters: counters) }) else { return }
            let ticket = core.timerService.add(.stall(StallTimer(core: core, number: number)), at: time)
            if !machine.withLock({ $0.wasSet(number, ticket) }) { core.timerService.remove(ticket) }
        }
    }

    fileprivate func timerFired(_ number: UInt64, at now: Duration, on core: QueueCore) {
        let counters = core.counters
        if let call = machine.withLock({ $0.timerFired(number, at: now, counters: counters) }) { core.report(call) }
        adjust(on: core)
    }
}

/// The entry of a stall watch in the timer service. It does not retain the queue.
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
    fileprivate var counters: StallWatch.Machine.Counters {
        state.withLock { state in
            state.reclaimAll()
            return StallWatch.Machine.Counters(
                added: state.registry.insertedCount, finished: state.registry.removedCount,
                taken: state.scheduler.dequeuedCount,
                handlersReturned: state.handlerDispatcher.completedCount,
                hasOpenHandlers: !state.handlerDispatcher.isIdle)
        }
    }

    private func makeStallReport(after quiet: Duration) -> StallReport? {
        addHolder()
        defer { removeHolder() }
        return stallReport(after: quiet)
    }

    /// Makes one report for all handlers, because that takes time proportional to the size of the queue. The tasks do
    /// not retain the queue, so slow handlers do not keep it alive.
    fileprivate func report(_ call: StallWatch.Machine.Call) {
        services.spawn { [services, weak self] in
            guard let report = self?.makeStallReport(after: call.quiet) else { return }
            for handler in call.handlers.dropFirst() { services.spawn { await handler(report) } }
            await call.handlers[0](report)
        }
    }
}
