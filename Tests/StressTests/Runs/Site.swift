import Baton
import Synchronization
import BatonTesting

/// The state that the bodies of a round share. It retains no operation.
final class Site: Sendable {
    let recorder: RunRecorder
    let gates: [Gate]
    /// A gate that is never opened.
    let never = Gate()
    /// The gate that opens at the end of the round.
    let end = Gate()
    let observers = ResourceCount()
    /// The time by which drivers have advanced the clock.
    private let passed = Locked(Duration.zero)
    let start: TestClock.Instant
    /// The times at which bodies started, for each rate. Only seeded rounds record them.
    let starts = Locked<[Int: [Duration]]>([:])
    /// The scheduler, or nil if the round runs on threads.
    let scheduler: SeededScheduler?
    let pool: ThreadPool?
    private let handles: Locked<[AsyncOperationQueue?]>
    /// All operations, for the creation of handlers.
    let made = Locked<[Weak]>([])
    /// The prefix that makes the names of this round unique, because names belong to the whole process or to a scope.
    let namePrefix: String
    let scope: OperationScope
    private static let sites = Atomic<Int>(0)
    private let strays = Locked<[Task<Void, Never>]>([])

    struct Weak: Sendable {
        weak let operation: AnyOperation?
    }

    init(_ recorder: RunRecorder, scheduler: SeededScheduler?, pool: ThreadPool?, queues: [AsyncOperationQueue]) {
        self.recorder = recorder
        self.scheduler = scheduler
        self.pool = pool
        start = (scheduler?.clock ?? TestClock()).now
        namePrefix = "stress \(Self.sites.add(1, ordering: .relaxed).newValue)"
        scope = OperationScope(namePrefix)
        gates = (0..<recorder.graph.gateCount).map { _ in Gate() }
        handles = Locked(queues)
    }

    /// Returns the handle of a queue, or nil if it was released.
    func queue(_ index: Int) -> AsyncOperationQueue? { handles.withLock { $0[index] } }

    func letGo(_ index: Int) { handles.withLock { $0[index] = nil } }

    var executor: (any TaskExecutor)? { scheduler ?? pool }

    func task(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task.detached(executorPreference: executor) { await body() }
    }

    /// Starts a task that nothing awaits before the end of the round.
    func stray(_ body: @escaping @Sendable () async -> Void) {
        let task = task(body)
        strays.withLock { $0.append(task) }
    }

    func takeStrays() -> [Task<Void, Never>] {
        strays.withLock { strays in
            defer { strays = [] }
            return strays
        }
    }

    // MARK: Time

    func passTime(_ time: Duration) {
        guard let scheduler else { return }
        passed.withLock { $0 += time }
        scheduler.clock.advance(by: time)
    }

    /// The virtual time that passed because no job could run, or nil if the round runs on threads.
    var timeOfItself: Duration? {
        scheduler.map { start.duration(to: $0.clock.now) - passed.withLock { $0 } }
    }

    // MARK: Cancelling

    /// Cancels an operation, records the reason, and checks the effect.
    ///
    /// - Parameter isNested: True if the caller is an `onCancel` handler. The effects of this cancellation may then be
    /// delayed until the outer cancellation ends.
    func cancel(_ operation: AnyOperation, _ id: Int, because text: String?, isNested: Bool = false) {
        let reason: Outcome.Reason = text.map { .because($0) } ?? .requested
        let record = recorder.nodes[id]
        let before = operation.state
        let hasLastSteps = record.handlers.lastStepsAdded.load(ordering: .relaxed) > 0
        if recorder.isSeeded, hasLastSteps, before == .created { return }
        record.cancels.withLock { $0.append(reason) }
        if recorder.isSeeded, !operation.isCancelled, before != .finished, before != .finishing {
            record.decisiveReason.withLock { $0 = reason }
            if !record.isBetweenRuns { record.attempts.wasCancelled.store(true, ordering: .relaxed) }
        }
        if let text { operation.cancel(reason: .because(text)) } else { operation.cancel() }
        if before == .finished || before == .finishing { return }
        let isEvaluated = before == .evaluating && record.conditions.isAsked.load(ordering: .relaxed)
        let wasRunning = before == .executing || isEvaluated
        recorder.check(
            operation.isCancelled || operation.state == .finished || operation.state == .finishing,
            "G15: cancelling n\(id) had no effect")
        recorder.check(
            !recorder.isSeeded || wasRunning || operation.state == .finished
                || hasLastSteps && operation.state == .finishing,
            "G15: n\(id), cancelled while \(before), is \(operation.state)")
        // Under threads, another cancellation may not have reached the children yet, or a child may be about to report
        // to its parent.
        if isNested || !wasRunning || !recorder.isSeeded { return }
        let group = (recorder.graph.nodes[id].group?.children ?? []).compactMap { id in
            made.withLock { $0[id].operation }
        }
        let children = before == .executing ? record.children.withLock { $0 } + group : []
        for child in children where child.state != .finished && child.state != .finishing {
            recorder.check(child.isCancelled, "n\(id) was cancelled, and \(child), which it runs, was not")
        }
    }
}
