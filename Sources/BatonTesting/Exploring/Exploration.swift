/// Runs a closure under many schedules, each drawn from another seed, until one fails.
///
/// ```swift
/// @Test func bothOrdersGiveTheSameSum() async throws {
///     try await exploring { scheduler in
///         let queue = AsyncOperationQueue(executor: scheduler, clock: scheduler.clock)
///         …
///         try #require(sum == 3)
///     }
/// }
/// ```
///
/// The closure runs once for each seed, one run after the other. Each run has a ``SeededScheduler`` of its own, and the
/// caller's task-local values. A run fails if the closure throws, so write `try #require`. A failed `#expect` is
/// counted for the test, but the exploration cannot observe it: the exploration goes on, and the seed remains unknown.
///
/// The seed decides which task goes on at each suspension, and in which order ready operations begin, as far as the
/// width of their queue lets several of them run. So the exploration finds a missing dependency between operations
/// whose bodies do not suspend. A body that does not suspend runs to its end before another one begins.
///
/// If the environment variable `BATON_SEED` is set, every exploration runs only that seed.
///
/// - Parameters:
///   - schedules: The number of seeds to run.
///   - firstSeed: The first seed. The following seeds are consecutive.
///   - body: The closure to run. It runs as a task on the scheduler that is passed to it.
/// - Throws: ``ScheduleFailure`` for the first seed that fails. Let the test throw it, so that it is printed: it says
///   how to run the seed again. ``ScheduleError/malformedSeed(_:)`` if `BATON_SEED` is not a number;
///   ``ScheduleError/noSchedules(_:)`` if `schedules` is less than 1; `CancellationError` if the calling task is
///   cancelled.
public func exploring(
    schedules: Int = 1_000,
    from firstSeed: UInt64 = 1,
    _ body: @escaping @Sendable (SeededScheduler) async throws -> Void
) async throws {
    try await exploring(schedules: schedules, from: firstSeed, reordersBodies: true, body)
}

/// Runs a closure under many schedules that may leave the order of ready operations as it is.
///
/// - Parameter reordersBodies: See ``SeededScheduler/init(seed:jobLimit:reordersBodies:)``.
package func exploring(
    schedules: Int = 1_000,
    from firstSeed: UInt64 = 1,
    reordersBodies: Bool,
    _ body: @escaping @Sendable (SeededScheduler) async throws -> Void
) async throws {
    for seed in try SeedPlan(schedules: schedules, from: firstSeed, chosen: chosenSeed()) {
        try await explore(SeededScheduler(seed: seed, reordersBodies: reordersBodies), body)
    }
}

/// Runs a closure under one schedule, to repeat a failure.
///
/// The environment variable `BATON_SEED` is ignored.
///
/// - Parameters:
///   - seed: The seed of the schedule.
///   - body: The closure to run. It runs as a task on the scheduler that is passed to it.
/// - Throws: ``ScheduleFailure`` if the run fails; `CancellationError` if the calling task is cancelled.
public func exploring(
    seed: UInt64,
    _ body: @escaping @Sendable (SeededScheduler) async throws -> Void
) async throws {
    try await explore(SeededScheduler(seed: seed), body)
}

private func explore(
    _ scheduler: SeededScheduler, _ body: @escaping @Sendable (SeededScheduler) async throws -> Void
) async throws {
    try Task.checkCancellation()
    do {
        try await scheduler.run(body)
    } catch {
        // An error that a cancelled body throws says nothing about its schedule.
        try Task.checkCancellation()
        throw ScheduleFailure(seed: scheduler.seed, underlying: error, foreignJobCount: scheduler.foreignJobCount)
    }
}
