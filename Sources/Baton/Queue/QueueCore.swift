/// The queue behind its public handle: one lock around a ``Scheduler`` and an ``OperationRegistry``, and the code that
/// performs what they decide.
///
/// A queue retains itself while it has unfinished operations. Therefore operations refer to their queue without
/// retaining it, and the public handle can be released at any time.
final class QueueCore: Sendable {
    struct State {
        // The fields that every finish and every scheduling decision touch come first, because workers that run in
        // parallel pass their cache lines back and forth.
        var registry = OperationRegistry()
        var scheduler: Scheduler
        var handlerDispatcher = HandlerDispatcher()
        var idleWaiters: [UnsafeContinuation<Void, Never>] = []
        var admission = Admission<Submission>()
        var shutdownState = ShutdownState.running
        var closeWaiters: [UnsafeContinuation<Void, Never>] = []
        /// The iterations over sequences that add an operation for each element and have not ended, numbered in order
        /// of arrival.
        var shutdownListeners: ShutdownListeners = [:]
        var lastShutdownListener: UInt64 = 0
        var barriers = Barriers()
        /// Operations that may have closed a cycle, kept for a sweep.
        var suspects = PendingSuspects()
        /// True if the last handle has been released.
        var isReleased = false
        /// The number of times that the queue was suspended or resumed.
        var suspensionCount: UInt64 = 0
        /// The queue itself while it has operations, nil otherwise.
        var itself: QueueCore?

        /// True if the queue is idle as soon as ``holds`` is zero.
        var hasNothingToDo: Bool { registry.count == 0 && handlerDispatcher.isIdle && suspects.isIdle }

        /// True if the operation would wait for the queue to be resumed although nobody can resume it any more.
        func canNeverRun(_ operation: AnyOperation) -> Bool {
            isReleased && scheduler.isSuspended && !operation.goesFirst
        }
    }

    let state: Locked<State>
    /// The number of workers and other threads that may still have to release an operation which is not in the registry
    /// any more. A thread counts itself before it removes the operation, so that no operation is alive when the queue
    /// is idle (G31).
    let holds = HoldCounter()
    /// The value of ``Scheduler/hint`` after the last change, which lets a worker go on without the lock. A worker may
    /// read a stale value while another thread changes the queue. Then one operation starts one position too early or
    /// too late.
    let hint = AtomicHint<UInt8>(0)
    /// True once the queue has ``middleware`` or carries task-locals. It never becomes false again.
    let hasMiddleware = AtomicFlag()
    /// The hooks around every body, the outermost first.
    let middleware = Locked<[Middleware]>([])
    /// The scope within which the queue's exclusions apply.
    let scope: Locked<OperationScope>
    /// The task-locals whose values the bodies and handlers of the queue's operations see.
    let taskLocals: [CarriedTaskLocal]
    let name: String?
    let number: UInt32
    /// Makes the tasks of bodies.
    let taskFactory: TaskFactory
    /// Makes the tasks that serve the queue's users, such as those that call handlers and observers.
    let services: TaskFactory
    /// The queue's clock, which counts from the creation of the queue.
    let time: TimeSource
    /// Fires the queue's timers. All queues on the continuous clock share one, except those with a seeded schedule.
    let timerService: TimerService
    /// True if workers measure a time slice in operations and not in time, which a seeded schedule requires.
    let slicesByCount: Bool
    /// Numbers the queue's events and passes them on to observers and event streams.
    let broadcaster: EventBroadcaster
    /// Reports to its subscribers when nothing happens in the queue.
    let stalls = StallWatch()
    let misuseHandler: Locked<(@Sendable (Misuse) -> Void)?>

    init(
        name: String?, width: Int, isSuspended: Bool, executor: (any TaskExecutor)?, priority: TaskPriority? = nil,
        time: TimeSource, taskLocals: [CarriedTaskLocal] = [], onMisuse: (@Sendable (Misuse) -> Void)?,
        probe: (@Sendable (OperationEvent) -> Void)?
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
        // The hooks bind the task-locals around each body.
        hasMiddleware.isSet = !taskLocals.isEmpty
        number = QueueDirectory.nextNumber()
        broadcaster = EventBroadcaster(
            of: QueueReference(name: name, number: number), isSuspended: isSuspended, services, time, probe: probe)
        QueueDirectory.register(self)
        if !time.isSystemClock { RateManager.register(queue: number, time) }
    }

    deinit {
        QueueDirectory.unregister(number)
        if timerService !== TimerService.shared { timerService.stop() }
        if !time.isSystemClock { RateManager.unregister(queue: number, time) }
        broadcaster.queueWasReleased()
    }

    // MARK: Changing the scheduler

    /// Makes one change of the scheduler. Every change ends in one decision, which is made under the lock and performed
    /// after unlocking.
    ///
    /// - Parameter startsWorkers: False if the caller makes another change right away, which then starts the worker.
    @inline(__always)
    func change<Result>(startsWorkers: Bool = true, _ body: (inout State) -> Result) -> Result {
        let (result, action, ended) = state.withLock { state in
            let result = body(&state)
            let action = assignPermit(&state, startsWorkers: startsWorkers)
            let ended = state.scheduler.takeEnded()
            if ended != nil { holds.begin() }
            return (result, action, ended)
        }
        perform(action)
        if let ended {
            IntrusiveList.forEach(from: ended) { Retained(handedOver: $0).release() }
            endHold()
        }
        return result
    }

    @inline(__always)
    private func assignPermit(_ state: inout State, startsWorkers: Bool = true) -> Scheduler.Action {
        let action = state.scheduler.assignPermit(startsWorkers: startsWorkers)
        if !state.admission.isEmpty { return admitSubmission(&state, unless: action) }
        let now = state.scheduler.hint
        // The hint is written only when it changes, because every worker reads its cache line.
        if hint.value != now { hint.value = now }
        return action
    }

    /// Decides while a submission waits. Workers must take the lock before they go on, because each operation that
    /// begins may admit a submission.
    @inline(never)
    private func admitSubmission(_ state: inout State, unless action: Scheduler.Action) -> Scheduler.Action {
        hint.value = Scheduler.mustAsk
        if case .none = action, let next = state.admit() { return .admit(next) }
        return action
    }

    @inline(__always)
    private func perform(_ action: Scheduler.Action) {
        switch action {
        case .none: break
        case .startWorker: Worker.start(on: self)
        case .resume(let resumption): resume(resumption)
        case .admit(let submission): submission.resume(returning: .admitted)
        }
    }

    /// Resumes a body for which a permit is booked. If the body does not take the permit, the permit goes to the next
    /// resumption, in a loop.
    @inline(never)
    func resume(_ first: Scheduler.Resumption) {
        var next: Scheduler.Resumption? = first
        while let resumption = next {
            next = nil
            let tookPermit = resumption.resume()
            let action = state.withLock { state in
                if !tookPermit { state.scheduler.releasePermit() }
                return assignPermit(&state)
            }
            if case .resume(let another) = action { next = another } else { perform(action) }
        }
    }

    // MARK: Inserting into the registry and removing from it

    /// Inserts an operation into the registry. The caller holds the queue's lock.
    @inline(__always)
    func insert(_ operation: Unretained<AnyOperation>, _ state: inout State) {
        if state.itself == nil { state.itself = self }
        state.registry.insert(operation)
        if !state.barriers.isEmpty { state.noteEntry(of: operation) }
    }

    /// Removes an operation from the registry. The caller holds the queue's lock. After unlocking it releases the
    /// operation and then calls ``didRemove(_:)``.
    @inline(__always)
    func remove(_ operation: AnyOperation, _ state: inout State) -> RemovalResult {
        state.registry.remove(operation)
        guard state.registry.count == 0, let itself = state.itself.take() else { return .othersRemain }
        let isSweepRunning = state.suspects.queueDidEmpty()
        return .becameEmpty(itself, waking: takeIdleWaiters(&state), isSweepRunning: isSweepRunning)
    }

    enum RemovalResult {
        case othersRemain
        /// The queue has no operation left, and no longer retains itself. `isSweepRunning` is true if a sweep for
        /// cycles is running, which must not find the queue idle before the last operation is released.
        case becameEmpty(QueueCore, waking: [UnsafeContinuation<Void, Never>], isSweepRunning: Bool)
    }

    /// Acts on a removal, after the caller has unlocked the queue and released the operation.
    @inline(__always)
    func didRemove(_ removal: consuming RemovalResult) {
        if case .becameEmpty(let itself, let idleWaiters, let isSweepRunning) = consume removal {
            // The queue may be released after this call.
            withExtendedLifetime(itself) { didBecomeEmpty(idleWaiters, isSweepRunning) }
        }
    }

    @inline(never)
    private func didBecomeEmpty(_ idleWaiters: [UnsafeContinuation<Void, Never>], _ isSweepRunning: Bool) {
        if stalls.isWatched { stalls.adjust(on: self) }
        resumeWaiters(idleWaiters)
        if isSweepRunning {
            resumeWaiters(
                state.withLock { state in
                    state.suspects.didReleaseLastOperation()
                    return takeIdleWaiters(&state)
                })
        }
    }

    /// Ends one hold of ``holds``, after the caller has released the operations that it held. The queue may be idle
    /// from then on.
    @inline(__always)
    func endHold() {
        if holds.end() { lastHoldEnded() }
    }

    /// Calls `body`, which may retain operations of the queue. The queue is not idle before `body` has returned and has
    /// released them.
    func holding<Result>(_ body: () -> Result) -> Result {
        holds.begin()
        defer { endHold() }
        return body()
    }

    @inline(never)
    private func lastHoldEnded() { resumeWaiters(state.withLock { takeIdleWaiters(&$0) }) }

    func isIdle(_ state: borrowing State) -> Bool {
        state.hasNothingToDo && holds.isZero
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

// MARK: - Handle

/// The release of the last handle.
extension QueueCore {
    /// Ends the operations that nobody can start any more, because the last handle of the queue was released while the
    /// queue was suspended.
    func lastHandleWasReleased() {
        let operations = state.withLock { state in
            state.isReleased = true
            return state.registry.members().filter { state.canNeverRun($0) }
        }
        for operation in operations { operation.endUnlessRetried(with: .queueReleased)?.complete() }
    }
}

// MARK: - Directory

/// Finds a queue by its number. An operation that has finished no longer points to its queue, but handlers that are
/// added late and reports of misuse still need it.
enum QueueDirectory {
    private struct Entry: Sendable {
        weak let core: QueueCore?
    }

    private static let numbers = NumberGenerator()
    private static let entries = Locked<[UInt32: Entry]>([:])

    static func nextNumber() -> UInt32 { UInt32(truncatingIfNeeded: numbers.next()) }

    static func register(_ core: QueueCore) { entries.withLock { $0[core.number] = Entry(core: core) } }

    static func unregister(_ number: UInt32) { entries.withLock { _ = $0.removeValue(forKey: number) } }

    static var all: [QueueCore] {
        entries.withLock { Array($0.values) }.compactMap(\.core).sorted { $0.number < $1.number }
    }

    static func find(_ number: UInt32) -> QueueCore? { entries.withLock { $0[number]?.core } }
}
