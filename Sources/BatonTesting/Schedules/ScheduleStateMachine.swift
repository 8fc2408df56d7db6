/// The state machine of ``SeededScheduler``: the jobs that can run, and the random generator that chooses among them.
struct ScheduleStateMachine<Job> {
    private enum Phase {
        /// Jobs that are enqueued are kept for the run.
        case beforeRun
        /// The run, with the thread that runs jobs, or nil while no thread does.
        case run(driver: ThreadIdentity?)
        case afterRun
        /// The run was abandoned, because its jobs would never have ended. Jobs that are enqueued are kept and never
        /// run.
        case abandoned
    }

    enum ArrivalAction {
        case none
        case runElsewhere(Job)
    }

    enum Action {
        case none
        case run(Job)
        case exhausted
    }

    private var phase = Phase.beforeRun
    private var jobs: [Job] = []
    private var generator: SeededGenerator
    private var jobsLeft: Int
    private(set) var jobCount = 0
    private(set) var foreignJobCount = 0

    init(seed: UInt64, jobLimit: Int) {
        generator = SeededGenerator(seed: seed)
        jobsLeft = jobLimit
    }

    var hasJobs: Bool { !jobs.isEmpty }

    private var isRunning: Bool { if case .run = phase { true } else { false } }

    mutating func enqueue(_ job: Job, from thread: ThreadIdentity) -> ArrivalAction {
        switch phase {
        case .beforeRun, .abandoned:
            jobs.append(job)
            return .none
        case .run(let driver):
            if driver != thread { foreignJobCount += 1 }
            jobs.append(job)
            return .none
        case .afterRun:
            // The job must run, or its task would never end. The run is over, so its order does not matter.
            return .runElsewhere(job)
        }
    }

    /// Starts the run. Returns false if there has been one already: a scheduler is one schedule.
    mutating func begin(on thread: ThreadIdentity) -> Bool {
        switch phase {
        case .beforeRun:
            phase = .run(driver: thread)
            return true
        case .run, .afterRun, .abandoned:
            return false
        }
    }

    /// Notes the thread that runs jobs. Until ``endDriving()``, jobs that other threads enqueue are foreign.
    mutating func beginDriving(on thread: ThreadIdentity) {
        precondition(isRunning, "Internal inconsistency: a thread runs jobs outside of the run")
        phase = .run(driver: thread)
    }

    /// Notes that the driver is about to suspend. Every job that is enqueued now comes from outside.
    mutating func endDriving() {
        precondition(isRunning, "Internal inconsistency: the driver suspends outside of the run")
        phase = .run(driver: nil)
    }

    /// Removes and returns the job that runs next.
    mutating func next() -> Action {
        if jobs.isEmpty { return .none }
        if jobsLeft < 1 { return .exhausted }
        jobsLeft -= 1
        jobCount += 1
        jobs.swapAt(generator.next(below: jobs.count), jobs.count - 1)
        return .run(jobs.removeLast())
    }

    /// Draws whether a worker lets other jobs run before it begins an operation. After the run it does not.
    mutating func drawsYield() -> Bool { isRunning && generator.next(below: 2) == 0 }

    /// Sets the number of further jobs that may run, whatever number has run already.
    mutating func allow(jobs: Int) { jobsLeft = jobs }

    /// Ends the run. Returns false if there is a job, which can only have come from another thread.
    mutating func end() -> Bool {
        precondition(isRunning, "Internal inconsistency: the end of a run that is not going on")
        guard jobs.isEmpty else { return false }
        phase = .afterRun
        return true
    }

    /// Ends the run and returns the remaining jobs, also those of an abandoned run. They, and jobs that are enqueued
    /// later, have to run elsewhere.
    mutating func giveUp() -> [Job] {
        switch phase {
        case .run, .abandoned: phase = .afterRun
        case .beforeRun, .afterRun:
            preconditionFailure("Internal inconsistency: a run is abandoned that is not in progress")
        }
        defer { jobs = [] }
        return jobs
    }

    /// Ends a run that would never end by itself. The remaining jobs, and jobs that are enqueued later, never run.
    mutating func abandon() {
        precondition(isRunning, "Internal inconsistency: a run is abandoned that is not going on")
        phase = .abandoned
    }
}
