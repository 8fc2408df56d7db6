internal import CBaton
import Synchronization

/// Identifies a task of a queue to code that runs on it. With it, a body that awaits another operation releases its
/// permit, and a body or a handler that waits for the idleness of its own queue is detected.
///
/// The context is bound to a task-local, once for each task. Child tasks of a body or a handler, which end before it
/// does, find the value at the same address, so they belong to the task. An unstructured task (`Task { }`) has a copy
/// of the value at another address. It may still run after the body has ended, so it does not belong to the task.
final class WorkerTaskContext: Sendable {
    /// The identity of the queue, used for comparisons only. Nil if the operation is in no queue.
    private let queue: ObjectIdentifier?
    // Safe: the pointer never changes, and only the task itself uses it.
    nonisolated(unsafe) private let task: UnsafeRawPointer
    private let priority: UInt
    // The flag is set before the call that cancels returns. Loading it takes almost no time, while asking the runtime
    // takes about 6 ns.
    private let wasCancelled = Atomic<Bool>(false)
    /// The address at which the task and its child tasks find the bound value.
    private let place = Atomic<UInt>(0)
    /// The operation whose body or `willFinish` handlers run. The task itself sets it, while it has no child tasks; the
    /// task and its child tasks read it.
    nonisolated(unsafe) unowned(unsafe) var running: AnyOperation?

    @TaskLocal private static var bound: WorkerTaskContext?

    private init(of core: QueueCore?, _ task: UnsafeRawPointer) {
        queue = core.map { ObjectIdentifier($0) }
        self.task = task
        priority = swift_task_currentPriority(task)
    }

    /// Runs `work`, which must be everything that the calling task does.
    static func run(of core: QueueCore?, _ work: (WorkerTaskContext) async -> Void) async {
        // Safe: an `UnsafeCurrentTask` is one pointer, and the task lives while it does this work.
        let own = WorkerTaskContext(of: core, withUnsafeCurrentTask { unsafeBitCast($0!, to: UnsafeRawPointer.self) })
        await withTaskCancellationHandler {
            await $bound.withValue(own) {
                own.place.store(placeOfBound, ordering: .relaxed)
                await work(own)
                // Another task may bind a value at the same address, and an unstructured task may still have a copy of
                // this value.
                own.place.store(0, ordering: .relaxed)
            }
        } onCancel: {
            own.wasCancelled.store(true, ordering: .relaxed)
        }
    }

    /// The context of the calling task, or of the task whose child task it is. Nil if that is not a task of a queue.
    static var current: WorkerTaskContext? {
        let place = placeOfBound
        guard place != 0, let own = bound, own.place.load(ordering: .relaxed) == place else { return nil }
        return own
    }

    /// The address of the bound value, as a number. 0 if nothing is bound.
    private static var placeOfBound: UInt {
        UInt(bitPattern: swift_task_localValueGet(Unmanaged.passUnretained($bound).toOpaque()))
    }

    /// True if somebody has cancelled the task or raised its priority. Nothing else may run on it then.
    @inline(__always)
    var isTainted: Bool { isCancelled || swift_task_currentPriority(task) != priority }

    @inline(__always)
    var isCancelled: Bool { wasCancelled.load(ordering: .relaxed) }

    func belongs(to core: QueueCore) -> Bool { queue == ObjectIdentifier(core) }
}

extension QueueCore {
    /// Performs a part of a worker's work on another task, because user code has cancelled the worker's own.
    ///
    /// - Parameter worker: The worker whose cancellation reaches that task, or nil if no cancellation is to reach it.
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
