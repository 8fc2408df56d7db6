#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

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
/// An operation that still waits when the closure has returned, perhaps for virtual time, does not fail the run either.
/// Let the closure `await queue.waitUntilIdle()` before it checks anything.
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
///   - jobLimit: The number of jobs after which a run is considered endless and fails; see
///     ``SeededScheduler/init(seed:jobLimit:)``.
///   - body: The closure to run. It runs as a task on the scheduler that is passed to it.
/// - Throws: ``ScheduleFailure`` for the first seed that fails. Let the test throw it, so that it is printed: it says
///   how to run the seed again. ``ScheduleError/malformedSeed(_:)`` if `BATON_SEED` is not a number;
///   ``ScheduleError/noSchedules(_:)`` if `schedules` is less than 1; `CancellationError` if the calling task is
///   cancelled.
public func exploring(
    schedules: Int = 1_000,
    from firstSeed: UInt64 = 1,
    jobLimit: Int = 100_000,
    _ body: @escaping @Sendable (SeededScheduler) async throws -> Void
) async throws {
    try await exploring(schedules: schedules, from: firstSeed, jobLimit: jobLimit, reordersBodies: true, body)
}

/// Runs a closure under many schedules that may leave the order of ready operations as it is.
///
/// - Parameter reordersBodies: See ``SeededScheduler/init(seed:jobLimit:reordersBodies:)``.
package func exploring(
    schedules: Int = 1_000,
    from firstSeed: UInt64 = 1,
    jobLimit: Int = 100_000,
    reordersBodies: Bool,
    _ body: @escaping @Sendable (SeededScheduler) async throws -> Void
) async throws {
    let jobLimit = SeededScheduler.usableJobLimit(jobLimit)
    for seed in try SeedPlan(schedules: schedules, from: firstSeed, chosen: chosenSeed()) {
        let scheduler = SeededScheduler(seed: seed, jobLimit: jobLimit, reordersBodies: reordersBodies)
        try await explore(scheduler, body)
    }
}

/// Runs a closure under one schedule, to repeat a failure.
///
/// The environment variable `BATON_SEED` is ignored.
///
/// - Parameters:
///   - seed: The seed of the schedule.
///   - jobLimit: The number of jobs after which the run is considered endless and fails.
///   - body: The closure to run. It runs as a task on the scheduler that is passed to it.
/// - Throws: ``ScheduleFailure`` if the run fails; `CancellationError` if the calling task is cancelled.
public func exploring(
    seed: UInt64,
    jobLimit: Int = 100_000,
    _ body: @escaping @Sendable (SeededScheduler) async throws -> Void
) async throws {
    try await explore(SeededScheduler(seed: seed, jobLimit: jobLimit), body)
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

// MARK: - Seeds

/// The seeds that an exploration runs.
struct SeedPlan: Equatable, Sequence {
    private let first: UInt64
    private let count: Int

    /// Makes the plan of an exploration.
    ///
    /// - Parameters:
    ///   - schedules: The number of seeds.
    ///   - first: The first seed.
    ///   - chosen: The value of `BATON_SEED`, which is then the only seed, or nil if it is not set.
    /// - Throws: `malformedSeed` if `chosen` is not a number, `noSchedules` if `schedules` is less than 1.
    init(schedules: Int, from first: UInt64, chosen: String?) throws(ScheduleError) {
        guard let chosen, !chosen.isEmpty else {
            if schedules < 1 { throw .noSchedules(schedules) }
            self.first = first
            count = schedules
            return
        }
        let seed = chosen.hasPrefix("0x") ? UInt64(chosen.dropFirst(2), radix: 16) : UInt64(chosen)
        guard let seed else { throw .malformedSeed(chosen) }
        self.first = seed
        count = 1
    }

    /// The seeds wrap around: the greatest seed is followed by 0.
    func makeIterator() -> some IteratorProtocol<UInt64> {
        (0..<count).lazy.map { first &+ UInt64($0) }.makeIterator()
    }
}

/// Returns the value of the environment variable `BATON_SEED`, or nil if it is not set.
func chosenSeed() -> String? {
    getenv("BATON_SEED").map { String(cString: $0) }
}
