internal import Baton

/// Runs the jobs of one scheduler, inside the job of the task that called `run`.
///
/// A job may run inside another: the runtime puts the outer task back in its place afterwards, as it does for
/// `Task.immediate`. So no thread of our own is needed, and between two jobs `Task.isCancelled` is the caller's.
struct ScheduleDriver {
    let scheduler: SeededScheduler
    let subject: Task<Void, Never>
    let hasEnded: @Sendable () -> Bool

    enum Stop {
        /// The body has ended and no job is left.
        case ended
        /// The body has not ended, no job can run, nobody sleeps. What operations wait for is said when the run is
        /// given up.
        case idle(waits: [String])
        /// As many jobs have run as are allowed.
        case exhausted(bodyHasEnded: Bool)
    }

    /// Drives until the body has ended and no job is left, or until there is no hope of that.
    func driveToTheEnd() async -> Stop {
        var stop = driveUntilIdle(cancelling: false)
        while case .idle = stop, await isGivenWork() {
            stop = driveUntilIdle(cancelling: false)
        }
        // Before the cancel, which changes it.
        if case .idle = stop { stop = .idle(waits: scheduler.waitsOfOperations) }
        switch stop {
        case .ended: break
        case .idle, .exhausted: windDown()
        }
        return stop
    }

    /// Runs jobs, and moves the clock when there are none, until neither can be done.
    ///
    /// Synchronous and never inlined, because the thread must be the same from beginning to end.
    @inline(never)
    private func driveUntilIdle(cancelling: Bool) -> Stop {
        scheduler.schedule.withLock { $0.drive(on: .current()) }
        if cancelling { subject.cancel() }
        while true {
            if Task.isCancelled, !subject.isCancelled { subject.cancel() }
            switch scheduler.schedule.withLock({ $0.next() }) {
            case .run(let job):
                job.runSynchronously(on: scheduler.asUnownedTaskExecutor())
            case .exhausted:
                return .exhausted(bodyHasEnded: hasEnded())
            case .none:
                if hasEnded() {
                    // A job that came from outside just now has to run first.
                    if scheduler.schedule.withLock({ $0.end() }) { return .ended }
                } else if let deadline = scheduler.clock.nextDeadline {
                    scheduler.clock.advance(to: deadline)
                } else {
                    scheduler.schedule.withLock { $0.rest() }
                    return .idle(waits: [])
                }
            }
        }
    }

    /// Whether a job came from outside, or the caller was cancelled, before the scheduler's patience was at an end.
    private func isGivenWork() async -> Bool {
        let end = ContinuousClock.now + scheduler.patience
        repeat {
            await Task.yield()
            if scheduler.schedule.withLock({ $0.hasJobs }) { return true }
            if Task.isCancelled, !subject.isCancelled { return true }
        } while ContinuousClock.now < end
        return false
    }

    /// Whoever heeds cancellation can clean up. Whoever does not stays suspended, in nobody's way.
    private func windDown() {
        scheduler.schedule.withLock { $0.allow(jobs: scheduler.jobLimit) }
        switch driveUntilIdle(cancelling: true) {
        case .ended: break
        case .idle: for job in scheduler.schedule.withLock({ $0.giveUp() }) { scheduler.runElsewhere(job) }
        case .exhausted: scheduler.schedule.withLock { $0.abandon() }
        }
    }
}
