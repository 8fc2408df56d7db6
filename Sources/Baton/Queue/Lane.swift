import Synchronization

/// One task that runs many operations, one after another, for as long as there is something to run. A lane belongs to one
/// task for ever and is never used again, so that a cancel meant for one operation cannot reach another.
final class Lane: Sendable {
    private struct Link {
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    private let link = LockedState(Link())

    /// The queue, to be compared and nothing else.
    let queue: ObjectIdentifier

    // Set before the task-local is bound, then constant.
    nonisolated(unsafe) private var ownTask: UnsafeCurrentTask?
    /// Once it is over, another task may have the same address as the lane's had.
    private let isOver = Atomic<Bool>(false)
    // Set and read by the lane's own task alone.
    nonisolated(unsafe) unowned(unsafe) var running: AnyOperation?

    @TaskLocal private static var current: Lane?

    init(of core: QueueCore) { queue = ObjectIdentifier(core) }

    // MARK: Its task

    static func start(on core: QueueCore) {
        let lane = Lane(of: core)
        let task = core.spawner.spawn {
            lane.ownTask = withUnsafeCurrentTask { $0 }
            await Lane.$current.withValue(lane) { await core.work(on: lane) }
            lane.isOver.store(true, ordering: .releasing)
        }
        // A cancel may have come before the task was known here.
        let wasCancelled = lane.link.withLock { link in
            link.task = task
            return link.isCancelled
        }
        if wasCancelled { Trampoline.run(.cancelTask(lane)) }
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

    // MARK: Whose body is this?

    /// The lane of the task that calls, if it is a lane's own: not a child task of a body, nor one that a body has started.
    static var ofThisTask: Lane? {
        guard let lane = current, !lane.isOver.load(ordering: .acquiring) else { return nil }
        return withUnsafeCurrentTask { $0 == lane.ownTask } ? lane : nil
    }
}

/// Makes every task of Baton, with the queue's executor: a task made elsewhere would escape a seeded scheduler.
struct Spawner: Sendable {
    let executor: (any TaskExecutor)?

    @discardableResult
    func spawn(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        if let executor {
            Task.detached(executorPreference: executor) { await body() }
        } else {
            Task.detached { await body() }
        }
    }
}
