internal import CBaton

/// Runs many operations on a task of its own, one after another, until there is nothing left to run. Neither the worker
/// nor its task is used for anything else afterwards, so that a cancellation meant for one operation cannot reach
/// another.
final class Worker: Sendable {
    let task = CancellableTask()
    /// The timeout of the attempt that the worker runs, if the attempt has a time limit.
    let attemptTimeout = Locked(AttemptTimeout())

    /// Starts a worker.
    ///
    /// - Parameter first: An operation that another worker has taken, together with that worker's permit.
    static func start(on core: QueueCore, beginningWith first: Unretained<AnyOperation>? = nil) {
        let worker = Worker()
        worker.task.spawn(with: core.taskFactory) {
            await WorkerTaskContext.run(of: core) { await core.work(on: worker, as: $0, beginningWith: first) }
            worker.removeTimer(of: core.timerService)
        }
    }
}

/// A task that a cancellation reaches from its first step on, even if it comes before the task is spawned.
/// ``spawn(with:_:)`` can replace the task.
final class CancellableTask: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isCancelled = false
        var start = Start.none
    }

    /// The state of a task that is being spawned. The task waits until the spawning thread has stored its handle.
    /// Otherwise a cancellation in between would reach the task only after the call that cancels has returned.
    private enum Start {
        /// The handle of the task is stored, or no task was spawned.
        case none
        case spawned
        /// The task runs, and waits for the thread that has spawned it.
        case waiting(UnsafeContinuation<Void, Never>)
    }

    private let state = Locked(State())

    /// Spawns a task. Cancellations no longer reach the previous task, which has to wait for the new one.
    @discardableResult
    func spawn(with taskFactory: TaskFactory, _ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        state.withLock { state in
            guard case .none = state.start else { preconditionFailure("two tasks are spawned at once") }
            state.start = .spawned
        }
        let task = taskFactory.spawn {
            await self.waitUntilKnown()
            await body()
        }
        let (start, wasCancelled) = state.withLock { state in
            state.task = task
            defer { state.start = .none }
            return (state.start, state.isCancelled)
        }
        if wasCancelled { Trampoline.run(.cancelTask(self)) }
        if case .waiting(let task) = start { task.resume() }
        return task
    }

    private func waitUntilKnown() async {
        if case .none = state.withLock({ $0.start }) { return }
        await withUnsafeContinuation { continuation in
            let isKnown = state.withLock { state in
                guard case .spawned = state.start else { return true }
                state.start = .waiting(continuation)
                return false
            }
            if isKnown { continuation.resume() }
        }
    }

    /// Cancels the task. Called with no lock held, because the cancellation runs `onCancel` handlers of the user.
    func cancel() {
        let isKnown = state.withLock { state in
            state.isCancelled = true
            return state.task != nil
        }
        if isKnown { Trampoline.run(.cancelTask(self)) }
    }

    /// Performs the cancellation. Called by ``Trampoline`` only.
    func cancelNow() {
        let task = state.withLock { $0.task }
        assert(HeldLocks.isEmpty, "The user's `onCancel` handlers are called without a lock.")
        task?.cancel()
    }
}

// MARK: - Time slices

/// The time that a worker keeps its thread before it lets other tasks run.
struct TimeSlice {
    /// The length of a slice, in nanoseconds.
    private static let length: Int64 = 500_000
    private static let longestStride = 32
    private static let firstStride = 4
    private static let stepsWhenCounting = 64

    private let byCount: Bool
    private var start = Int64.zero
    /// The number of operations between two readings of the clock.
    private var stride = firstStride
    /// The number of operations until the next check.
    private var left: Int

    init(byCount: Bool) {
        self.byCount = byCount
        left = byCount ? Self.stepsWhenCounting : stride
        restart()
    }

    mutating func restart() { if !byCount { start = baton_continuous_time() } }

    /// Counts an operation. Returns true if the slice is over.
    @inline(__always)
    mutating func isOver() -> Bool {
        left -= 1
        return left == 0 && sampleClock()
    }

    @inline(never)
    private mutating func sampleClock() -> Bool {
        if byCount {
            left = Self.stepsWhenCounting
            return true
        }
        let used = baton_continuous_time() - start
        let isOver = used >= Self.length
        if isOver {
            stride = max(1, stride / 2)
        } else if used * 2 < Self.length {
            stride = min(Self.longestStride, stride * 2)
        }
        left = stride
        return isOver
    }
}

// MARK: - Tasks

/// Creates every task of Baton, on the executor that it was made with. A task that is created elsewhere would escape a
/// seeded scheduler.
package struct TaskFactory: Sendable {
    let executor: (any TaskExecutor)?
    let priority: TaskPriority?

    /// Creates tasks that serve queues and users. No body runs on their threads.
    package static let services = TaskFactory(executor: ServiceExecutor.shared, priority: nil)

    /// Creates tasks that serve operations that are in no queue, such as the children of a group that was cancelled
    /// before its start. If the caller is part of a seeded schedule, the scheduler runs these tasks, too.
    package static var outsideQueues: TaskFactory {
        guard let executor = ThreadExecutorMark.current else { return .services }
        return TaskFactory(executor: executor, priority: nil)
    }

    /// Creates tasks for timers and searches.
    static let background = TaskFactory(executor: ServiceExecutor.background, priority: nil)

    /// The factory of tasks that serve a queue whose bodies run on tasks of this factory. A seeded scheduler runs all
    /// of them itself.
    var services: TaskFactory {
        executor is any DeterministicTaskExecutor
            ? self : TaskFactory(executor: ServiceExecutor.shared, priority: priority)
    }

    /// The factory of a queue's timers and searches. A seeded scheduler runs all of them itself.
    var background: TaskFactory {
        executor is any DeterministicTaskExecutor
            ? self : TaskFactory(executor: ServiceExecutor.background, priority: priority)
    }

    @discardableResult
    package func spawn(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        if let executor {
            Task.detached(executorPreference: executor, priority: priority) { await body() }
        } else {
            Task.detached(priority: priority) { await body() }
        }
    }

    /// Spawns a task that finds the task-local values of the calling task. It inherits nothing else.
    func spawnWithTaskLocals(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        // The default of a detached task. Without it, the task would inherit the priority of the calling task.
        let priority = priority ?? .medium
        return if let executor {
            Task(executorPreference: executor, priority: priority) { await body() }
        } else {
            Task(priority: priority) { await body() }
        }
    }
}

extension AnyOperation {
    /// The factory of tasks that serve this operation.
    package final var services: TaskFactory { coreIfUnderWay?.services ?? .outsideQueues }
}

/// An executor that orders its jobs by a seed. Queues on it count operations where they would otherwise read the clock,
/// so that the seed alone decides what happens.
package protocol DeterministicTaskExecutor: TaskExecutor {
    /// True if every queue on this executor has an ``OperationScope`` of its own, so that operations outside the seeded
    /// schedule cannot affect those in it.
    var hasOwnScope: Bool { get }

    /// Returns true if a worker is to let other jobs run before it begins the operation that it has taken.
    ///
    /// Operations whose bodies do not suspend would otherwise begin in the order in which they became ready, in every
    /// schedule.
    func yieldsBeforeBody() -> Bool
}

extension DeterministicTaskExecutor {
    package func yieldsBeforeBody() -> Bool { false }

    /// Calls `body`, which runs jobs of this executor on the calling thread. All code that `body` calls is part of the
    /// seeded schedule, also where it deals with operations that are in no queue.
    package func runningJobs<Result>(_ body: () -> Result) -> Result {
        let former = ThreadExecutorMark.current
        ThreadExecutorMark.current = self
        defer { ThreadExecutorMark.current = former }
        return body()
    }
}

extension QueueCore {
    /// See ``DeterministicTaskExecutor/yieldsBeforeBody()``. Not called on other executors.
    @inline(never)
    func yieldsBeforeBody() -> Bool {
        (taskFactory.executor as? any DeterministicTaskExecutor)?.yieldsBeforeBody() ?? false
    }
}
