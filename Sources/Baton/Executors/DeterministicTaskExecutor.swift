/// An executor that decides the order of jobs itself, from a seed. A queue on it counts operations where it would otherwise
/// look at the clock, so that nothing but the seed decides.
package protocol DeterministicTaskExecutor: TaskExecutor {
    /// Operations of its queues are unique among themselves: what runs beside a seeded schedule must not decide what happens in it.
    var hasOwnIdentities: Bool { get }
}
