/// Makes every task of Baton, with the queue's executor: a task made elsewhere would escape a seeded scheduler.
package struct Spawner: Sendable {
    let executor: (any TaskExecutor)?
    let priority: TaskPriority?

    /// For operations that are in no queue.
    package static let anywhere = Spawner(executor: nil, priority: nil)

    @discardableResult
    package func spawn(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        if let executor {
            Task.detached(executorPreference: executor, priority: priority) { await body() }
        } else {
            Task.detached(priority: priority) { await body() }
        }
    }
}
