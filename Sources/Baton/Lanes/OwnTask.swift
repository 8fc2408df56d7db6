import Synchronization

/// A task of a queue, for whoever asks something of the queue from inside it: a body that awaits another operation lends its
/// slot, and neither a body nor a handler can wait until its own queue is idle.
///
/// Found through a task-local, bound once for each task. Tasks that a body starts inherit it; they are told apart, because
/// one may still run when its body has ended.
final class OwnTask: Sendable {
    /// To be compared and nothing else. Nil: of an operation that is in no queue.
    private let queue: ObjectIdentifier?
    // Set before the task-local is bound, then constant.
    @exclusivity(unchecked) nonisolated(unsafe) private var task: UnsafeCurrentTask?
    /// Once it is over, another task may have the same address.
    private let isOver = Atomic<Bool>(false)
    /// The operation whose body, or whose `willFinish` handlers, run. Set and read by the task itself alone.
    nonisolated(unsafe) unowned(unsafe) var running: AnyOperation?

    @TaskLocal private static var bound: OwnTask?

    private init(of core: QueueCore?) { queue = core.map { ObjectIdentifier($0) } }

    /// Does `work`, which is all that the calling task does.
    static func run(of core: QueueCore?, _ work: (OwnTask) async -> Void) async {
        let own = OwnTask(of: core)
        own.task = withUnsafeCurrentTask { $0 }
        await $bound.withValue(own) { await work(own) }
        own.isOver.store(true, ordering: .releasing)
    }

    /// The calling task, if it is one of a queue.
    static var current: OwnTask? {
        guard let own = bound, !own.isOver.load(ordering: .acquiring) else { return nil }
        return withUnsafeCurrentTask { $0 == own.task } ? own : nil
    }

    /// For the task itself: several times as fast as `Task.isCancelled`.
    var isCancelled: Bool { task?.isCancelled ?? false }

    func belongs(to core: QueueCore) -> Bool { queue == ObjectIdentifier(core) }
}
