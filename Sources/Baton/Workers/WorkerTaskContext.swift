/// Identifies a task of a queue to code that runs on it. With it, a body that awaits another operation releases its
/// permit, and a body or a handler that waits for the idleness of its own queue is detected.
///
/// The context is bound to a task-local, once for each task. Child tasks of a body or a handler, which end before it
/// does, find the value at the same address, so they belong to the task. An unstructured task (`Task { }`) has a copy
/// of the value at another address. It may still run after the body has ended, so it does not belong to the task.
///
/// The task that iterates upstream of a ``ConcurrentMap`` has a context of its own, with which it acts for the body
/// that iterates, until that body has left the loop.
final class WorkerTaskContext: Sendable {
    /// The identity of the queue, used for comparisons only. Nil if the operation is in no queue.
    private let queue: ObjectIdentifier?
    private let task: RunningTask
    private let priority: UInt
    // The flag is set before the call that cancels returns. Loading it takes almost no time, while asking the runtime
    // takes about 6 ns.
    private let wasCancelled = AtomicFlag()
    /// The address at which the task and its child tasks find the bound value.
    private let place = AtomicHint<UInt>(0)
    /// The operation whose body or `willFinish` handlers run.
    private let runningOperation = AtomicReference<AnyOperation>()

    /// The iteration whose upstream the task iterates; nil for all other tasks. The task acts for the body that
    /// iterates, which runs on another task.
    let iteration: (any UpstreamIteration)?

    /// The operation whose body or `willFinish` handlers run, or for whose body the task acts. The task itself sets it,
    /// while it has no child tasks; the task and its child tasks read it.
    @inline(__always)
    var running: AnyOperation? {
        get { if let iteration { iteration.body } else { runningOperation.object } }
        set { runningOperation.object = newValue }
    }

    /// The operation whose body runs on this task or on the task whose child task it is. The body waits if one of these
    /// tasks waits, and releases its permit. A task that acts for the body does not release the permit, because the
    /// body may run meanwhile.
    var holderOfPermit: AnyOperation? { iteration == nil ? running : nil }

    @TaskLocal private static var bound: WorkerTaskContext?

    private init(of core: QueueCore?, _ iteration: (any UpstreamIteration)? = nil) {
        queue = core.map { ObjectIdentifier($0) }
        self.iteration = iteration
        task = RunningTask()
        priority = task.priority
    }

    /// Runs `work`, which must be everything that the calling task does.
    static func run(of core: QueueCore?, _ work: (WorkerTaskContext) async -> Void) async {
        await run(WorkerTaskContext(of: core), work)
    }

    /// Runs `work`, which must be everything that the calling task does, for the body that iterates.
    static func run(upstreamOf iteration: any UpstreamIteration, _ work: () async -> Void) async {
        await run(WorkerTaskContext(of: iteration.body?.coreIfUnderWay, iteration)) { _ in await work() }
    }

    private static func run(_ own: WorkerTaskContext, _ work: (WorkerTaskContext) async -> Void) async {
        await withTaskCancellationHandler {
            await $bound.withValue(own) {
                own.place.value = placeOfBound
                await work(own)
                // Another task may bind a value at the same address, and an unstructured task may still have a copy of
                // this value.
                own.place.value = 0
            }
        } onCancel: {
            own.wasCancelled.isSet = true
        }
    }

    /// The context of the calling task, or of the task whose child task it is. Nil if that is not a task of a queue,
    /// and if the body for which it acts has left its loop.
    static var current: WorkerTaskContext? {
        let place = placeOfBound
        guard place != 0, let own = bound, own.place.value == place else { return nil }
        if let iteration = own.iteration, iteration.body == nil { return nil }
        return own
    }

    /// The address of the bound value, as a number. 0 if nothing is bound.
    private static var placeOfBound: UInt { RunningTask.place(ofValueOf: $bound) }

    /// True if somebody has cancelled the task or raised its priority. Nothing else may run on it then.
    @inline(__always)
    var isTainted: Bool { isCancelled || task.priority != priority }

    @inline(__always)
    var isCancelled: Bool { wasCancelled.isSet }

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
        await (worker?.task.spawn(with: taskFactory, body) ?? taskFactory.spawn(body)).value
        return result.withLock { $0.take() }!
    }
}
