/// One task that runs many operations, one after another, for as long as there is something to run. A worker belongs to
/// one task for ever and is never used again, so that a cancel meant for one operation cannot reach another.
final class Worker: Sendable {
    private struct Link {
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    private let link = Locked(Link())
    /// Of the attempt that it runs, if that has a time limit.
    let watch = Locked(AttemptTimeout())
    let localQueue: LocalQueue

    init(localQueue: LocalQueue = LocalQueue()) { self.localQueue = localQueue }

    /// - Parameter first: An operation that another worker has taken, with the slot of that worker.
    static func start(on core: QueueCore, beginningWith first: Unmanaged<AnyOperation>? = nil) {
        let worker = Worker(localQueue: LocalQueue(least: core.leastReach, isTimed: !core.slicesByCount))
        let task = core.taskFactory.spawn {
            await WorkerTaskContext.run(of: core) { await core.work(on: worker, as: $0, beginningWith: first) }
            worker.takeAlarmOut(of: core.timerService)
        }
        // It runs by now, and may have adopted another one that goes on for it.
        worker.adopt(task, unlessOtherIsKnown: true)
    }

    /// From now on a cancel reaches this task. One may have come before.
    func adopt(_ task: Task<Void, Never>, unlessOtherIsKnown: Bool = false) {
        let wasCancelled = link.withLock { link in
            if !unlessOtherIsKnown || link.task == nil { link.task = task }
            return link.isCancelled
        }
        if wasCancelled { Trampoline.run(.cancelTask(self)) }
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
