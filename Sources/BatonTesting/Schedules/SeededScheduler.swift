internal import Baton

/// An executor that runs one job at a time, in an order drawn from a seed: the same seed, the same order.
///
/// Concurrent code has as many orders as its tasks can be interleaved in; a test on a thread pool sees one, and another
/// one tomorrow. This executor draws the order, so that a test can go through many (``exploring(schedules:from:_:)``)
/// and repeat the one that failed.
///
/// ```swift
/// try await SeededScheduler(seed: 7).run { scheduler in
///     let queue = AsyncOperationQueue(executor: scheduler, clock: scheduler.clock)
///     …
/// }
/// ```
///
/// Task groups, `async let`, actors and `Task.yield()` stay on the scheduler. To keep the order in the seed's hand,
/// write `Task(executorPreference: scheduler)` for `Task`, sleep on ``clock``, and draw from
/// ``random(in:)-(Range<Int>)``. A real clock, the main actor, a plain `Task` or a continuation resumed by another
/// thread bring jobs from outside: the run counts those that come to it, and fails. What runs elsewhere and wakes
/// nobody here is not noticed.
///
/// The idea is that of deterministic simulation, as in FoundationDB and Rust's `loom` and `shuttle`.
public final class SeededScheduler: TaskExecutor {
    /// The seed that decides everything.
    public let seed: UInt64

    /// Virtual time: when no job can run and somebody sleeps on this clock, it moves to the earliest deadline.
    public let clock = TestClock()

    let jobLimit: Int
    let patience: Duration
    let schedule: Locked<Schedule<UnownedJob>>
    private let choices: Locked<SeededGenerator>

    /// A scheduler for one run; when that has run more jobs than the limit, it is taken to be endless and fails.
    public convenience init(seed: UInt64, jobLimit: Int = 1_000_000) {
        self.init(seed: seed, jobLimit: jobLimit, patience: .milliseconds(200))
    }

    /// `patience` is how long, in real time, a run that can do nothing waits for a job from outside before it is called
    /// stuck. It decides only which error is thrown.
    init(seed: UInt64, jobLimit: Int = 1_000_000, patience: Duration) {
        self.seed = seed
        self.jobLimit = jobLimit
        self.patience = patience
        schedule = Locked(Schedule(seed: seed, jobLimit: jobLimit))
        // Another sequence than the schedule's, so that drawing a number does not change the order.
        choices = Locked(SeededGenerator(seed: ~seed))
    }

    /// How many jobs have been run. A task is one job from one suspension to the next.
    public var jobCount: Int { schedule.withLock { $0.jobCount } }

    /// How many jobs came from outside during the run; above zero, the seed may not repeat it.
    public var foreignJobCount: Int { schedule.withLock { $0.foreignJobCount } }

    /// Takes a job. The Swift runtime calls this; a test has no reason to.
    ///
    /// Before the run jobs are kept for it. After the run they go to Swift's own thread pool, so that no task is lost.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let thread = ThreadIdentity.current()
        switch schedule.withLock({ $0.enqueue(job, from: thread) }) {
        case .none: break
        case .runElsewhere(let job): runElsewhere(job)
        }
    }

    /// On Swift's own thread pool. When the job's task suspends and resumes, it comes back to `enqueue`.
    func runElsewhere(_ job: UnownedJob) {
        globalConcurrentExecutor.enqueue(ExecutorJob(job))
    }

    /// A number for the test's own choices, drawn from the seed: the first call gives the same in every run.
    ///
    /// What is drawn here has no influence on the order of the jobs.
    public func random(in range: Range<Int>) -> Int {
        precondition(!range.isEmpty, "There is no number in an empty range.")
        return random(in: range.lowerBound...(range.upperBound - 1))
    }

    /// A number for the test's own choices, drawn from the seed: the first call gives the same in every run.
    ///
    /// What is drawn here has no influence on the order of the jobs.
    public func random(in range: ClosedRange<Int>) -> Int {
        choices.withLock { $0.next(in: range) }
    }

    /// A generator for `shuffled(using:)` and the like, itself drawn from the seed.
    public func makeGenerator() -> SeededGenerator {
        SeededGenerator(seed: choices.withLock { $0.next() })
    }
}
