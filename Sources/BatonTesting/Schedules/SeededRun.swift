internal import Baton

extension SeededScheduler {
    /// Runs the body as a task on this scheduler, and all jobs that come of it, and returns when none is left.
    ///
    /// The jobs run inside the caller's task, off its actor, never two at a time. The body sees the caller's
    /// task-local values, so that what it expects is counted for the caller's test; when the caller is cancelled, so is
    /// the body. A task that still sleeps on ``clock`` when the body has ended and nothing else can run is left asleep.
    /// A run inside the body of another one is as repeatable, unless it has to wait for that: it does so in real time.
    ///
    /// - Throws: the body's error; ``ScheduleError/stuck(seed:waits:)`` or ``ScheduleError/endless(seed:jobs:)`` if the
    ///   run does not end by itself (the body is then cancelled and gets the chance to clean up);
    ///   ``ScheduleError/notDeterministic(seed:foreignJobs:)`` if all went well but jobs came from outside;
    ///   ``ScheduleError/usedTwice(seed:)`` if this scheduler has had its run.
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
        case .exhausted(let bodyHasEnded):
            // What it leaves behind goes on for ever, perhaps because of this.
            if bodyHasEnded, case .failure(let error)? = outcome.result { throw error }
            throw ScheduleError.endless(seed: seed, jobs: jobLimit)
        }
        let value = try outcome.result!.get()
        let foreignJobs = foreignJobCount
        guard foreignJobs == 0 else { throw ScheduleError.notDeterministic(seed: seed, foreignJobs: foreignJobs) }
        return value
    }

    /// Makes the task whose jobs are to be driven, nil if this scheduler has had its run.
    ///
    /// Not detached: it takes the caller's task-local values along, among them which test is running.
    private func start(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never>? {
        guard schedule.withLock({ $0.begin(on: .current()) }) else { return nil }
        return Task(executorPreference: self) { await body() }
    }
}

/// What came of a body, nil until it has ended.
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
