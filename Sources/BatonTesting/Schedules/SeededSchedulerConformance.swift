internal import Baton

/// A queue on a seeded scheduler counts operations where it would otherwise read a clock.
extension SeededScheduler: DeterministicTaskExecutor {}
