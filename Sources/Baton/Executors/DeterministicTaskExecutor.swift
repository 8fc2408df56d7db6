/// An executor that orders its jobs by a seed. Queues on it count operations where they would otherwise read the clock,
/// so that the seed alone decides what happens.
package protocol DeterministicTaskExecutor: TaskExecutor {
    /// True if each of its queues has its own ``OperationScope``. Operations outside a seeded schedule must not affect
    /// it.
    var hasOwnScope: Bool { get }
}
