/// Makes every task of Baton, with an executor of its choice: a task made elsewhere would escape a seeded scheduler.
package struct TaskFactory: Sendable {
    let executor: (any TaskExecutor)?
    let priority: TaskPriority?

    /// For what serves queues and users, and for operations that are in no queue: on threads that no body runs on.
    package static let services = TaskFactory(executor: ServiceExecutor.shared, priority: nil)

    /// For timers and searches.
    static let background = TaskFactory(executor: ServiceExecutor.background, priority: nil)

    /// For what serves a queue whose bodies have tasks of this one. A seeded scheduler runs everything itself.
    var services: TaskFactory {
        executor is any DeterministicTaskExecutor
            ? self : TaskFactory(executor: ServiceExecutor.shared, priority: priority)
    }

    /// The same for its timers and searches.
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
    /// For what serves this one.
    package final var services: TaskFactory { core?.services ?? .services }
}
