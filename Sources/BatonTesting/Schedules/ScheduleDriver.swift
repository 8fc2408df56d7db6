internal import Baton

/// Runs the jobs of one scheduler, inside the job of the task that called `run`.
///
/// A job may run inside another one: the runtime restores the outer task afterwards, as it does for `Task.immediate`.
/// So the driver needs no thread of its own, and between two jobs `Task.isCancelled` is that of the caller.
struct ScheduleDriver {
    let scheduler: SeededScheduler
    let subject: Task<Void, Never>
    let hasEnded: @Sendable () -> Bool

    /// The number of jobs with which a run that has reached its limit may clean up.
    private static let maxJobsAfterExhaustion = 10_000

    enum Stop {
        /// The body has ended and no job is left.
        case ended
        /// The body has not ended, no job can run, and no task sleeps on the clock. `waits` says what operations wait
        /// for. It is filled in when the run is abandoned.
        case idle(waits: [String])
        /// As many jobs have run as the limit allows. `waits` is filled in as for ``idle(waits:)``.
        case exhausted(bodyHasEnded: Bool, waits: [String])
    }

    /// Runs jobs until the body has ended and no job is left, or until the run cannot go on.
    func driveToTheEnd() async -> Stop {
        var stop = driveUntilIdle(cancelling: false)
        while case .idle = stop, await isGivenWork() {
            stop = driveUntilIdle(cancelling: false)
        }
        // The explanations are collected before the cancellation, which changes what operations wait for.
        switch stop {
        case .ended: break
        case .idle:
            stop = .idle(waits: scheduler.waitsOfOperations)
            windDown(jobs: scheduler.jobLimit)
        case .exhausted(let bodyHasEnded, _):
            stop = .exhausted(bodyHasEnded: bodyHasEnded, waits: scheduler.waitsOfOperations)
            // An operation that has not finished by now will hardly finish.
            windDown(jobs: min(scheduler.jobLimit, Self.maxJobsAfterExhaustion))
        }
        return stop
    }

    /// Runs jobs, and moves the clock when there are none, until neither is possible.
    ///
    /// The function is synchronous and never inlined, because it must run on one thread from beginning to end.
    @inline(never)
    private func driveUntilIdle(cancelling: Bool) -> Stop {
        scheduler.runningJobs {
            scheduler.schedule.withLock { $0.beginDriving(on: .current()) }
            if cancelling { subject.cancel() }
            return drive()
        }
    }

    private func drive() -> Stop {
        while true {
            if Task.isCancelled, !subject.isCancelled { subject.cancel() }
            switch scheduler.schedule.withLock({ $0.next() }) {
            case .run(let job):
                job.runSynchronously(on: scheduler.asUnownedTaskExecutor())
            case .exhausted:
                return .exhausted(bodyHasEnded: hasEnded(), waits: [])
            case .none:
                if hasEnded() {
                    // A job that was enqueued from outside in the meantime has to run first.
                    if scheduler.schedule.withLock({ $0.end() }) { return .ended }
                } else if let deadline = scheduler.clock.nextDeadline {
                    scheduler.clock.move { _ in deadline }
                } else {
                    scheduler.schedule.withLock { $0.endDriving() }
                    return .idle(waits: [])
                }
            }
        }
    }

    /// Returns true if a job came from outside, or the caller was cancelled, before the scheduler's patience ended.
    private func isGivenWork() async -> Bool {
        let end = ContinuousClock.now + scheduler.patience
        repeat {
            await Task.yield()
            if scheduler.schedule.withLock({ $0.hasJobs }) { return true }
            if Task.isCancelled, !subject.isCancelled { return true }
        } while ContinuousClock.now < end
        return false
    }

    /// Cancels the body and runs jobs again, so that tasks that check for cancellation can clean up. The others stay
    /// suspended.
    private func windDown(jobs: Int) {
        scheduler.schedule.withLock { $0.allow(jobs: jobs) }
        switch driveUntilIdle(cancelling: true) {
        case .ended: break
        case .idle: for job in scheduler.schedule.withLock({ $0.giveUp() }) { scheduler.runElsewhere(job) }
        case .exhausted: scheduler.schedule.withLock { $0.abandon() }
        }
    }
}
