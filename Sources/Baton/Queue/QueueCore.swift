import Synchronization

/// The queue behind its handle: one lock around ``Scheduler`` and ``OperationRegistry``, and the tasks that do as they
/// say.
///
/// It keeps itself alive while an operation of it is unfinished, so the operations can point to it without retaining
/// it, and so the public handle can come and go.
final class QueueCore: Sendable {
    struct State {
        // First what every finish and every turn touch: workers that run beside one another hand it to and fro between
        // their caches.
        var registry = OperationRegistry()
        var scheduler: Scheduler
        var localQueues = LocalQueues()
        var handlerDispatcher = HandlerDispatcher()
        var idleWaiters: [UnsafeContinuation<Void, Never>] = []
        var admission = Admission<Submission>()
        var closing = ShutdownState.not
        var closeWaiters: [UnsafeContinuation<Void, Never>] = []
        /// Those who take elements of sequences, and have not come to an end.
        var deliverers: [ObjectIdentifier: (number: UInt64, listener: any ClosingListener)] = [:]
        var lastDeliverer: UInt64 = 0
        var barriers = Barriers()
        /// What may have closed a cycle, to be looked at.
        var suspects = PendingSuspects()
        /// The last handle has gone.
        var isReleased = false
        /// How often it was suspended or resumed.
        var suspensionCount: UInt64 = 0
        /// It has operations, and keeps itself alive for them.
        var isAwake = false

        /// Whether it is idle when nobody holds an operation of it.
        var hasNothingToDo: Bool { registry.count == 0 && handlerDispatcher.isIdle && suspects.isEmpty }

        /// It would wait for a resumption, and nobody can resume the queue.
        func strands(_ operation: AnyOperation) -> Bool {
            isReleased && scheduler.isSuspended && !operation.goesFirst
        }
    }

    let state: Locked<State>
    /// The workers that run something, and the threads that end something: each may still have to release an operation
    /// that has left the registry. Counted before the operation leaves, so that an idle queue has nothing alive.
    let holders = Atomic<Int>(0)
    /// What ``Scheduler/hint`` was after the last change: lets a worker go on without taking the lock. It may be stale
    /// for the length of a race, which only moves an operation by one place.
    let hint = Atomic<UInt8>(0)
    /// Whether there are any ``middleware``. It only becomes true.
    let hasMiddleware = Atomic<Bool>(false)
    /// Hooks around every body, the outermost first.
    let middleware = Locked<[Middleware]>([])
    /// Where the names of its operations count.
    let scope: Locked<OperationScope>
    /// The task-locals whose values its operations find in their bodies and handlers.
    let taskLocals: [CarriedTaskLocal]
    let name: String?
    let number: UInt32
    /// Of bodies.
    let taskFactory: TaskFactory
    /// Of everything else: handlers, observers, timers.
    let services: TaskFactory
    /// Since the queue was made.
    let time: TimeSource
    /// Its deadlines are on a clock of its own.
    let timerService: TimerService
    /// Seeded schedules count operations; everything else looks at the clock.
    let slicesByCount: Bool
    /// See ``LocalQueue/init(least:)``.
    let leastReach: Int
    /// Those who observe it.
    let hub: EventBroadcaster
    /// Those who want to know when nothing happens in it.
    let stalls = StallWatch()
    let misuseHandler: Locked<(@Sendable (Misuse) -> Void)?>

    init(
        name: String?, width: Int, isSuspended: Bool, executor: (any TaskExecutor)?, priority: TaskPriority? = nil,
        time: TimeSource, taskLocals: [CarriedTaskLocal] = [], onMisuse: (@Sendable (Misuse) -> Void)?,
        probe: (@Sendable (OperationEvent) -> Void)?, leastReach: Int
    ) {
        self.name = name
        self.time = time
        state = Locked(State(scheduler: Scheduler(width: width, isSuspended: isSuspended)))
        taskFactory = TaskFactory(executor: executor, priority: priority)
        services = taskFactory.services
        slicesByCount = executor is any DeterministicTaskExecutor
        timerService = time.isContinuous && !slicesByCount ? .shared : TimerService(time, taskFactory.background)
        misuseHandler = Locked(onMisuse)
        let schedule = executor as? any DeterministicTaskExecutor
        scope = Locked(schedule.flatMap { $0.hasOwnScope ? OperationScope(of: $0) : nil } ?? .process)
        self.taskLocals = taskLocals
        // They are bound around each body.
        hasMiddleware.store(!taskLocals.isEmpty, ordering: .relaxed)
        self.leastReach = leastReach
        number = QueueDirectory.nextNumber()
        hub = EventBroadcaster(
            of: QueueReference(name: name, number: number), isSuspended: isSuspended, services, time, probe: probe)
        QueueDirectory.enter(self)
        if !time.isSystemClock { Rates.enter(queue: number, time) }
    }

    deinit {
        QueueDirectory.leave(number)
        if timerService !== TimerService.shared { timerService.stop() }
        if !time.isSystemClock { Rates.leave(queue: number, time) }
        hub.queueHasGone()
    }

    // MARK: Change, settle, perform

    /// Every change of the scheduler goes through here: under the lock it ends in one decision, which is performed
    /// outside. `startsWorkers`: false if another change follows in a moment, which will.
    @inline(__always)
    func change<Result>(startsWorkers: Bool = true, _ body: (inout State) -> Result) -> Result {
        let (result, action, ended) = state.withLock { state in
            let result = body(&state)
            let action = settle(&state, startsWorkers: startsWorkers)
            let ended = state.scheduler.takeEnded()
            if ended != nil { beginHolding() }
            return (result, action, ended)
        }
        perform(action)
        if let ended {
            IntrusiveList.forEach(from: ended) { $0.release() }
            hasReleased()
        }
        return result
    }

    @inline(__always)
    private func settle(_ state: inout State, startsWorkers: Bool = true) -> Scheduler.Action {
        if !state.localQueues.isEmpty, !state.scheduler.allowsLocalQueues(at: state.localQueues.level) {
            state.reclaimAll()
        }
        let action = state.scheduler.settle(besides: state.localQueues.haveMore, startsWorkers: startsWorkers)
        if !state.admission.isEmpty { return settle(&state, besides: action) }
        let now = state.scheduler.hint
        // Written only when it changes: every worker reads it.
        if hint.load(ordering: .relaxed) != now { hint.store(now, ordering: .relaxed) }
        return action
    }

    /// Somebody waits to submit an operation: workers have to ask, so that whoever begins one lets another in.
    @inline(never)
    private func settle(_ state: inout State, besides action: Scheduler.Action) -> Scheduler.Action {
        hint.store(Scheduler.mustAsk, ordering: .relaxed)
        if case .none = action, let next = state.admit() { return .admit(next) }
        return action
    }

    @inline(__always)
    private func perform(_ action: Scheduler.Action) {
        switch action {
        case .none: break
        case .startWorker: Worker.start(on: self)
        case .resume(let resumption): resume(resumption.takeRetainedValue())
        case .admit(let submission): submission.resume(returning: .admitted)
        }
    }

    /// A permit is booked for the body. When it does not need it any more, the permit goes to the next one.
    @inline(never)
    func resume(_ first: Scheduler.Resumption) {
        var next: Scheduler.Resumption? = first
        while let resumption = next {
            next = nil
            let tookPermit = resumption.resume()
            let action = state.withLock { state in
                if !tookPermit { state.scheduler.releasePermit() }
                return settle(&state)
            }
            if case .resume(let another) = action { next = another.takeRetainedValue() } else { perform(action) }
        }
    }

    // MARK: Entering and leaving

    /// Locked by the caller.
    @inline(__always)
    func enter(_ operation: Unmanaged<AnyOperation>, _ state: inout State) {
        if !state.isAwake {
            state.isAwake = true
            _ = Unmanaged.passRetained(self)
        }
        state.registry.enter(operation)
        if !state.barriers.isEmpty { state.noteEntry(of: operation) }
    }

    /// Locked by the caller, which calls `left` after unlocking and after it has let go of the operation.
    @inline(__always)
    func leave(_ operation: AnyOperation, _ state: inout State) -> Departure {
        state.registry.leave(operation)
        return departure(&state)
    }

    /// As above, of one that has left before: it may have been the last but for those that have left by a worker's
    /// local queue.
    @inline(__always)
    func departure(_ state: inout State) -> Departure {
        if state.registry.count > 0 || !state.isAwake { return .ordinary }
        state.isAwake = false
        let isSwept = state.suspects.lastLeaves()
        return .last(waking: takeIdleWaiters(&state), isSwept: isSwept)
    }

    enum Departure {
        case ordinary
        /// The queue has no operation left.
        case last(waking: [UnsafeContinuation<Void, Never>], isSwept: Bool)
    }

    @inline(__always)
    func left(_ departure: consuming Departure) {
        if case .last(let idleWaiters, let isSwept) = consume departure { lastLeft(idleWaiters, isSwept) }
    }

    @inline(never)
    private func lastLeft(_ idleWaiters: [UnsafeContinuation<Void, Never>], _ isSwept: Bool) {
        if stalls.isWatched { stalls.adjust(on: self) }
        resumeWaiters(idleWaiters)
        if isSwept {
            resumeWaiters(
                state.withLock { state in
                    state.suspects.lastWasReleased()
                    return takeIdleWaiters(&state)
                })
        }
        Unmanaged.passUnretained(self).release()
    }

    @inline(__always)
    func beginHolding() { holders.wrappingAdd(1, ordering: .relaxed) }

    /// One of ``holders`` has released what it held. The queue may be idle by this.
    @inline(__always)
    func hasReleased() {
        let left = holders.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue
        assert(left >= 0, "\(String(describing: name)) has released more than it held")
        if left == 0 { lastHasReleased() }
    }

    @inline(never)
    private func lastHasReleased() { resumeWaiters(state.withLock { takeIdleWaiters(&$0) }) }

    func isIdle(_ state: borrowing State) -> Bool {
        state.hasNothingToDo && holders.load(ordering: .acquiring) == 0
    }

    func takeIdleWaiters(_ state: inout State) -> [UnsafeContinuation<Void, Never>] {
        if !isIdle(state) { return [] }
        let waiters = state.idleWaiters
        state.idleWaiters = []
        return waiters
    }

    func resumeWaiters(_ waiters: [UnsafeContinuation<Void, Never>]) {
        if waiters.isEmpty { return }
        TSanAnnotations.willResume(self)
        for waiter in waiters { waiter.resume() }
    }

    func waitUntilIdle() async {
        await withUnsafeContinuation { continuation in
            let isIdle = state.withLock { (state) -> Bool in
                if self.isIdle(state) { return true }
                state.idleWaiters.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
        TSanAnnotations.didAwait(self)
    }
}
