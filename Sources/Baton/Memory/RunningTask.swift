internal import CBaton

/// The task that creates this value, for what Swift's own API does not say about a task.
///
/// It is `@unchecked Sendable`, because the pointer never changes. It is valid as long as the task runs, so only the
/// task itself and its child tasks use it.
struct RunningTask: @unchecked Sendable {
    private let pointer: UnsafeRawPointer

    /// Identifies the calling task. The caller has to be on a task.
    init() {
        // Safe: an `UnsafeCurrentTask` is one pointer, and a task exists while it runs.
        pointer = withUnsafeCurrentTask { unsafeBitCast($0!, to: UnsafeRawPointer.self) }
    }

    /// The priority of the task: the one that it was created with, unless somebody has raised it.
    @inline(__always)
    var priority: UInt { swift_task_currentPriority(pointer) }

    /// The address at which the calling task and its child tasks find the value of a task-local, as a number. 0 if
    /// nothing is bound. An unstructured task finds a copy at another address.
    static func place<Value>(ofValueOf local: TaskLocal<Value>) -> UInt {
        UInt(bitPattern: swift_task_localValueGet(Unretained(local).address))
    }
}

// MARK: - Threads

/// The executor whose seeded schedule the calling thread runs.
enum ThreadExecutorMark {
    /// Nil on all other threads. The thread that runs the schedule keeps the executor alive.
    static var current: (any DeterministicTaskExecutor)? {
        get {
            guard let address = baton_thread_executor() else { return nil }
            return Unretained<AnyObject>(address: address).object as? any DeterministicTaskExecutor
        }
        set { baton_set_thread_executor(newValue.map { Unretained<AnyObject>($0).address }) }
    }
}
