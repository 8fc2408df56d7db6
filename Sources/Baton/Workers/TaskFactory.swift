/// Creates every task of Baton, on the executor that it was made with. A task that is created elsewhere would escape a
/// seeded scheduler.
package struct TaskFactory: Sendable {
    let executor: (any TaskExecutor)?
    let priority: TaskPriority?

    /// Creates tasks that serve queues and users, and tasks for operations that are in no queue. No body runs on their
    /// threads.
    package static let services = TaskFactory(executor: ServiceExecutor.shared, priority: nil)

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
}

extension AnyOperation {
    /// The factory of tasks that serve this operation.
    package final var services: TaskFactory { core?.services ?? .services }
}
