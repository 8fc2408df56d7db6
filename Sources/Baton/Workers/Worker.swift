/// One task that runs many operations, one after another, for as long as there is something to run. A worker belongs to
/// one task for ever and is never used again, so that a cancel meant for one operation cannot reach another.
final class Worker: Sendable {
    private struct Link {
        var task: Task<Void, Never>?
        var isCancelled = false
        var start = Start.none
    }

    /// Of a task that has been spawned. It does nothing before its worker knows it: else a cancel in between would
    /// reach it only later, when the call that cancels has returned.
    private enum Start {
        /// Nobody waits: the task is known, or none has been spawned.
        case none
        case spawned
        /// The task runs, and waits for the thread that has spawned it.
        case waiting(UnsafeContinuation<Void, Never>)
    }

    private let link = Locked(Link())
    /// Of the attempt that it runs, if that has a time limit.
    let watch = Locked(AttemptTimeout())
    let localQueue: LocalQueue

    init(localQueue: LocalQueue = LocalQueue()) { self.localQueue = localQueue }

    /// - Parameter first: An operation that another worker has taken, with the permit of that worker.
    static func start(on core: QueueCore, beginningWith first: Unmanaged<AnyOperation>? = nil) {
        let worker = Worker(localQueue: LocalQueue(least: core.leastReach, isTimed: !core.slicesByCount))
        worker.spawn(with: core.taskFactory) {
            await WorkerTaskContext.run(of: core) { await core.work(on: worker, as: $0, beginningWith: first) }
            worker.removeTimer(of: core.timerService)
        }
    }

    /// Spawns a task that a cancel of the worker reaches from its first step on, and the one before it no more.
    ///
    /// The worker's own task, or the last that it has spawned, has to wait for this one.
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

    /// Called with no lock held: cancelling a task runs the user's `onCancel` handlers at once.
    func cancelTask() {
        let isKnown = link.withLock { link in
            link.isCancelled = true
            return link.task != nil
        }
        if isKnown { Trampoline.run(.cancelTask(self)) }
    }

    /// For ``Trampoline`` only.
    func cancelTaskNow() { link.withLock { $0.task }?.cancel() }
}
