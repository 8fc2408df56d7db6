internal import Baton

extension SeededScheduler {
    /// Runs a closure as a task on this scheduler, together with all jobs that result from it.
    ///
    /// The method returns when no job is left. The jobs run inside the caller's task, off its actor, one at a time. The
    /// closure sees the caller's task-local values, so its expectations are counted for the caller's test. When the
    /// calling task is cancelled, the task of the closure is cancelled as well.
    ///
    /// A task that still sleeps on ``clock`` when the closure has returned and no other job can run is left suspended.
    /// A run that is started inside another run is as repeatable, unless the outer one has to wait for it, which takes
    /// real time.
    ///
    /// - Parameter body: The closure to run. The scheduler is passed to it.
    /// - Returns: The value that the closure returns.
    /// - Throws: The error of the closure. ``ScheduleError/stuck(seed:waits:)`` or
    ///   ``ScheduleError/endless(seed:jobs:waits:)`` if the run does not end by itself; the task of the closure is then
    ///   cancelled, and can clean up. ``ScheduleError/notDeterministic(seed:foreignJobs:)`` if the closure succeeded
    ///   but jobs came from outside. ``ScheduleError/usedTwice(seed:)`` if this scheduler was used before.
    @concurrent
    public func run<R: Sendable>(
        _ body: @escaping @Sendable (SeededScheduler) async throws -> R
    ) async throws -> R {
        let outcome = Outcome<R>()
        guard let subject = start({ await outcome.record { try await body(self) } }) else {
            throw ScheduleError.usedTwice(seed: seed)
        }
        let driver = ScheduleDriver(scheduler: self, subject: subject, hasEnded: { outcome.result != nil })

        switch await driver.driveToTheEnd() {
        case .ended: break
        case .idle(let waits): throw ScheduleError.stuck(seed: seed, waits: waits)
        case .exhausted(let bodyHasEnded, let waits):
            // The tasks that the body left behind go on forever, perhaps because of this error.
            if bodyHasEnded, case .failure(let error)? = outcome.result { throw error }
            throw ScheduleError.endless(seed: seed, jobs: jobLimit, waits: waits)
        }
        let value = try outcome.result!.get()
        let foreignJobs = foreignJobCount
        guard foreignJobs == 0 else { throw ScheduleError.notDeterministic(seed: seed, foreignJobs: foreignJobs) }
        return value
    }

    /// Makes the task whose jobs are to be run, or returns nil if this scheduler was used before.
    ///
    /// The task is not detached, so it inherits the caller's task-local values, among them the test that is running.
    private func start(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never>? {
        guard schedule.withLock({ $0.begin(on: .current()) }) else { return nil }
        return Task(executorPreference: self) { await body() }
    }
}

/// The outcome of a body, or nil until it has ended.
private final class Outcome<R: Sendable>: Sendable {
    private let state = Locked<Result<R, any Error>?>(nil)

    var result: Result<R, any Error>? { state.withLock { $0 } }

    func record(_ body: () async throws -> R) async {
        let result: Result<R, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        state.withLock { $0 = result }
    }
}
