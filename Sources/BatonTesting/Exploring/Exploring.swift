/// Runs the body under many schedules, each drawn from another seed, until one fails.
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
/// The body runs once for a seed, from `firstSeed` upwards, one run after the other, each on a ``SeededScheduler`` of
/// its own and with the caller's task-local values. It fails by throwing: write `try #require`. A failed `#expect` is
/// counted for the test, but nobody can tell from outside that it failed, so the exploration goes on and the seed
/// remains unknown.
///
/// A seed draws which task goes on at each suspension. Operations whose bodies do not suspend begin in the order in
/// which they became ready, in every schedule: put an `await Task.yield()` at the beginning of a body whose order is to
/// be drawn, for example to find a dependency that is missing.
///
/// The environment variable `BATON_SEED`, if set, is the only seed that is run, in every exploration.
/// - Throws: ``ScheduleFailure`` for the first seed that fails, which says how to run it again; let the test throw it,
///   so that it is printed; ``ScheduleError/malformedSeed(_:)``; ``ScheduleError/noSchedules(_:)`` for less than 1;
///   `CancellationError` if the caller is cancelled.
public func exploring(
    schedules: Int = 1_000,
    from firstSeed: UInt64 = 1,
    _ body: @escaping @Sendable (SeededScheduler) async throws -> Void
) async throws {
    for seed in try SeedPlan(schedules: schedules, from: firstSeed, chosen: chosenSeed()) {
        try await exploring(seed: seed, body)
    }
}

/// Runs the body under one schedule only: the way to repeat a failure.
///
/// `BATON_SEED` has no influence.
/// - Throws: ``ScheduleFailure`` if it fails; `CancellationError` if the caller is cancelled.
public func exploring(
    seed: UInt64,
    _ body: @escaping @Sendable (SeededScheduler) async throws -> Void
) async throws {
    try Task.checkCancellation()
    let scheduler = SeededScheduler(seed: seed)
    do {
        try await scheduler.run(body)
    } catch {
        // Whatever a cancelled body throws says nothing about its schedule.
        try Task.checkCancellation()
        throw ScheduleFailure(seed: seed, underlying: error, foreignJobCount: scheduler.foreignJobCount)
    }
}
