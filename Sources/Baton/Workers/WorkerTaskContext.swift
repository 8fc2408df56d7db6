internal import CBaton
import Synchronization

/// A task of a queue, for whoever asks something of the queue from inside it: a body that awaits another operation
/// releases its permit, and neither a body nor a handler can wait until its own queue is idle.
///
/// Found through a task-local, bound once for each task. The child tasks of a body or a handler, which end before it
/// does, belong to it as well: they find the very value that the task has bound. An unstructured task (`Task { }`) has
/// a copy of that value, at another address, and may still run when the body has ended: it is a stranger.
final class WorkerTaskContext: Sendable {
    /// To be compared and nothing else. Nil: of an operation that is in no queue.
    private let queue: ObjectIdentifier?
    // Safe: never changes, and is used by the task itself alone.
    nonisolated(unsafe) private let task: UnsafeRawPointer
    private let priority: UInt
    // Set in the call that cancels, before that returns: a load of this takes no time, and asking the runtime some 6
    // ns.
    private let wasCancelled = Atomic<Bool>(false)
    /// Where the task and its child tasks find what is bound.
    private let place = Atomic<UInt>(0)
    /// The operation whose body, or whose `willFinish` handlers, run. Set by the task itself alone, while it has no
    /// child tasks; read by the task and by its child tasks.
    nonisolated(unsafe) unowned(unsafe) var running: AnyOperation?

    @TaskLocal private static var bound: WorkerTaskContext?

    private init(of core: QueueCore?, _ task: UnsafeRawPointer) {
        queue = core.map { ObjectIdentifier($0) }
        self.task = task
        priority = swift_task_currentPriority(task)
    }

    /// Does `work`, which is all that the calling task does.
    static func run(of core: QueueCore?, _ work: (WorkerTaskContext) async -> Void) async {
        // Safe: a task is one word, and lives while it does this work.
        let own = WorkerTaskContext(of: core, withUnsafeCurrentTask { unsafeBitCast($0!, to: UnsafeRawPointer.self) })
        await withTaskCancellationHandler {
            await $bound.withValue(own) {
                own.place.store(placeOfBound, ordering: .relaxed)
                await work(own)
                // Another task may bind a value at the same address, and a stranger may still have a copy of this one.
                own.place.store(0, ordering: .relaxed)
            }
        } onCancel: {
            own.wasCancelled.store(true, ordering: .relaxed)
        }
    }

    /// The task of a queue that the calling task is, or whose child task it is.
    static var current: WorkerTaskContext? {
        let place = placeOfBound
        guard place != 0, let own = bound, own.place.load(ordering: .relaxed) == place else { return nil }
        return own
    }

    /// As a number; 0 if nothing is bound.
    private static var placeOfBound: UInt {
        UInt(bitPattern: swift_task_localValueGet(Unmanaged.passUnretained($bound).toOpaque()))
    }

    /// Somebody has cancelled the task, or raised its priority: nothing else is to run on it.
    @inline(__always)
    var isSpent: Bool { isCancelled || swift_task_currentPriority(task) != priority }

    @inline(__always)
    var isCancelled: Bool { wasCancelled.load(ordering: .relaxed) }

    func belongs(to core: QueueCore) -> Bool { queue == ObjectIdentifier(core) }
}

extension QueueCore {
    /// Does a part of what a worker does for its operation on another task, because something of the user's has
    /// cancelled the worker's own.
    ///
    /// - Parameter worker: A cancel of the operation reaches that task. Nil: none is to reach it.
    nonisolated(nonsending) func onAnotherTask<Result: Sendable>(
        of operation: AnyOperation, on worker: Worker?, _ work: @escaping @Sendable () async -> Result
    ) async -> Result {
        let result = Locked<Result?>(nil)
        let body: @Sendable () async -> Void = {
            await WorkerTaskContext.run(of: self) { task in
                task.running = operation
                let made = await work()
                task.running = nil
                result.withLock { $0 = made }
            }
        }
        await (worker?.spawn(with: taskFactory, body) ?? taskFactory.spawn(body)).value
        return result.withLock { $0.take() }!
    }
}

/// Does something of the user's that others of the same task are not to notice: if it cancels its task, it cancels
/// nothing else. A cancel of the operation reaches it.
func onOwnTask<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
        group.addTask { try await work() }
        return try await group.next()!
    }
}
