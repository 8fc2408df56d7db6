/// An executor that decides the order of jobs itself, from a seed. A queue on it counts operations where it would
/// otherwise look at the clock, so that nothing but the seed decides.
package protocol DeterministicTaskExecutor: TaskExecutor {
    /// Its queues have an ``OperationScope`` of their own: what runs beside a seeded schedule must not decide what
    /// happens in it.
    var hasOwnScope: Bool { get }
}

/// A clock that stands still until somebody moves it. Its sleeps are not taken in pieces: a wake in between would be
/// for nothing, and one more job of a schedule.
package protocol VirtualClock: Clock {}
