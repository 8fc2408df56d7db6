/// A task that runs many operations, one after another, until there is nothing left to run. Its task is never used for
/// another worker, and it is never used again, so that a cancellation meant for one operation cannot reach another.
final class Worker: Sendable {
    private struct Link {
        var task: Task<Void, Never>?
        var isCancelled = false
        var start = Start.none
    }

    /// The start of a spawned task. The task does nothing before its worker knows it. Otherwise a cancellation in
    /// between would reach the task only after the call that cancels has returned.
    private enum Start {
        /// No task waits: the worker knows its task, or has spawned none.
        case none
        case spawned
        /// The task runs, and waits for the thread that has spawned it.
        case waiting(UnsafeContinuation<Void, Never>)
    }

    private let link = Locked(Link())
    /// The timeout of the attempt that the worker runs, if the attempt has a time limit.
    let attemptTimeout = Locked(AttemptTimeout())
    let localQueue: LocalQueue

    init(localQueue: LocalQueue = LocalQueue()) { self.localQueue = localQueue }

    /// Starts a worker.
    ///
    /// - Parameter first: An operation that another worker has taken, together with that worker's permit.
    static func start(on core: QueueCore, beginningWith first: Unmanaged<AnyOperation>? = nil) {
        let worker = Worker(
            localQueue: LocalQueue(initialBatchLimit: core.initialBatchLimit, isTimed: !core.slicesByCount))
        worker.spawn(with: core.taskFactory) {
            await WorkerTaskContext.run(of: core) { await core.work(on: worker, as: $0, beginningWith: first) }
            worker.removeTimer(of: core.timerService)
        }
    }

    /// Spawns a task that a cancellation of the worker reaches from its first step on. Cancellations no longer reach
    /// the previous task of the worker, which has to wait for the new one.
    @discardableResult
    func spawn(with taskFactory: TaskFactory, _ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        link.withLock { link in
            guard case .none = link.start else { preconditionFailure("a worker spawns two tasks at once") }
            link.start = .spawned
        }
        let task = taskFactory.spawn {
            await self.waitUntilKnown()
            await body()
        }
        let (start, wasCancelled) = link.withLock { link in
            link.task = task
            defer { link.start = .none }
            return (link.start, link.isCancelled)
        }
        if wasCancelled { Trampoline.run(.cancelTask(self)) }
        if case .waiting(let task) = start { task.resume() }
        return task
    }

    private func waitUntilKnown() async {
        if case .none = link.withLock({ $0.start }) { return }
        await withUnsafeContinuation { continuation in
            let isKnown = link.withLock { link in
                guard case .spawned = link.start else { return true }
                link.start = .waiting(continuation)
                return false
            }
            if isKnown { continuation.resume() }
        }
    }

    /// Cancels the worker's task. Called with no lock held, because the cancellation runs `onCancel` handlers of the
    /// user.
    func cancelTask() {
        let isKnown = link.withLock { link in
            link.isCancelled = true
            return link.task != nil
        }
        if isKnown { Trampoline.run(.cancelTask(self)) }
    }

    /// Performs the cancellation. Called by ``Trampoline`` only.
    func cancelTaskNow() { link.withLock { $0.task }?.cancel() }
}
