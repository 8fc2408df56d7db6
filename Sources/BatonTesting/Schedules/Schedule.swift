/// The jobs that can run, and the dice that choose among them: the machine of ``SeededScheduler``.
struct Schedule<Job> {
    private enum Phase {
        /// Jobs that come are kept for the run.
        case beforeRun
        /// With the thread that drives, nil while none does.
        case run(driver: ThreadIdentity?)
        case afterRun
        /// The run was given up with jobs that would never have come to an end.
        case abandoned
    }

    enum ArrivalAction {
        case none
        case runElsewhere(Job)
    }

    enum Turn {
        case none
        case run(Job)
        case exhausted
    }

    private var phase = Phase.beforeRun
    private var jobs: [Job] = []
    private var dice: SeededGenerator
    private var jobsLeft: Int
    private(set) var jobCount = 0
    private(set) var foreignJobCount = 0

    init(seed: UInt64, jobLimit: Int) {
        dice = SeededGenerator(seed: seed)
        jobsLeft = jobLimit
    }

    var hasJobs: Bool { !jobs.isEmpty }

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
            // A late-comer. It must run, or its task would never end; nobody is left to whom its place matters.
            return .runElsewhere(job)
        }
    }

    /// Begins the run. False if there has been one: a scheduler is one schedule.
    mutating func begin(on thread: ThreadIdentity) -> Bool {
        switch phase {
        case .beforeRun:
            phase = .run(driver: thread)
            return true
        case .run, .afterRun, .abandoned:
            return false
        }
    }

    /// From here to `rest()` what other threads enqueue is foreign.
    mutating func drive(on thread: ThreadIdentity) {
        phase = .run(driver: thread)
    }

    /// The driver is about to suspend: whatever comes now comes from somebody else.
    mutating func rest() {
        phase = .run(driver: nil)
    }

    /// Takes out the job that runs next.
    mutating func next() -> Turn {
        if jobs.isEmpty { return .none }
        if jobsLeft < 1 { return .exhausted }
        jobsLeft -= 1
        jobCount += 1
        jobs.swapAt(dice.next(below: jobs.count), jobs.count - 1)
        return .run(jobs.removeLast())
    }

    /// So many from now on, however many have run.
    mutating func allow(jobs: Int) { jobsLeft = jobs }

    /// Ends the run. False if a job is there, which can only have come from another thread.
    mutating func end() -> Bool {
        guard jobs.isEmpty else { return false }
        phase = .afterRun
        return true
    }

    /// Ends the run in any case; what is left, and what still comes, has to run elsewhere.
    mutating func giveUp() -> [Job] {
        phase = .afterRun
        defer { jobs = [] }
        return jobs
    }

    /// Ends the run of a subject that has no end; what is left, and what still comes, never runs.
    mutating func abandon() {
        phase = .abandoned
    }
}
