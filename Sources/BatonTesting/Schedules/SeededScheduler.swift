internal import Baton

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// An executor that runs one job at a time, in an order drawn from a seed: equal seeds give equal orders.
///
/// The tasks of concurrent code can be interleaved in many orders. A test on a thread pool sees one of them, and may
/// see another one in the next run. This executor draws the order from a seed, so that a test can go through many
/// orders (``exploring(schedules:from:jobLimit:_:)``) and repeat the one that failed.
///
/// ```swift
/// try await SeededScheduler(seed: 7).run { scheduler in
///     let queue = AsyncOperationQueue(executor: scheduler, clock: scheduler.clock)
///     …
/// }
/// ```
///
/// The scheduler runs jobs only inside ``run(_:)``, which ``exploring(schedules:from:jobLimit:_:)`` calls. Outside of
/// it, operations of a queue with this executor do not start, and `explain()` says only that they are about to start.
///
/// Task groups, `async let`, actors and `Task.yield()` stay on the scheduler. For the rest, write
/// `Task(executorPreference: scheduler)` for `Task`, sleep on ``clock``, and draw random numbers from
/// ``random(in:)-(Range<Int>)``. A real clock, the main actor, a plain `Task`, or a continuation resumed by another
/// thread bring jobs from outside, and the seed does not decide their order. The run counts the jobs that come to it
/// from outside, and fails if there are any. Work elsewhere that wakes no task on the scheduler is not noticed.
///
/// The design follows deterministic simulation, as in FoundationDB and in Rust's `loom` and `shuttle`.
public final class SeededScheduler: TaskExecutor {
    /// The seed that decides the order of the jobs.
    public let seed: UInt64

    /// The virtual clock. When no job can run and a task sleeps on this clock, it moves to the earliest deadline.
    public let clock = TestClock(watchedBy: nil)

    let jobLimit: Int
    let patience: Duration
    private let reordersBodies: Bool
    let schedule: Locked<ScheduleStateMachine<UnownedJob>>
    private let choices: Locked<SeededGenerator>

    /// Makes a scheduler for one run.
    ///
    /// - Parameters:
    ///   - seed: The seed that decides the order of the jobs.
    ///   - jobLimit: The number of jobs after which the run is considered endless and fails. A limit of less than 1
    ///     counts as 1, and a line on standard error says so.
    public convenience init(seed: UInt64, jobLimit: Int = 1_000_000) {
        self.init(seed: seed, jobLimit: Self.usableJobLimit(jobLimit), reordersBodies: true)
    }

    /// Returns the limit that counts, and reports one that makes no sense.
    static func usableJobLimit(
        _ limit: Int, report: (String) -> Void = { StandardErrorLine.write($0) }
    ) -> Int {
        if limit >= 1 { return limit }
        report("a SeededScheduler cannot have a jobLimit of \(limit); it has 1. Ask for 1 or more")
        return 1
    }

    /// Makes a scheduler that may leave the order of ready operations as it is.
    ///
    /// - Parameter reordersBodies: False if operations begin in the order in which the queue starts them, unless they
    ///   suspend before. For tests of that order.
    package convenience init(seed: UInt64, jobLimit: Int = 1_000_000, reordersBodies: Bool) {
        self.init(seed: seed, jobLimit: jobLimit, patience: .milliseconds(200), reordersBodies: reordersBodies)
    }

    /// Makes a scheduler with a given patience: the real time for which a run that can do nothing waits for a job from
    /// outside before it is considered stuck. The patience decides only which error is thrown.
    init(seed: UInt64, jobLimit: Int = 1_000_000, patience: Duration, reordersBodies: Bool = true) {
        self.seed = seed
        self.jobLimit = jobLimit
        self.patience = patience
        self.reordersBodies = reordersBodies
        schedule = Locked(ScheduleStateMachine(seed: seed, jobLimit: jobLimit))
        // The sequence differs from that of the schedule, so that drawing a number does not change the order of the
        // jobs.
        choices = Locked(SeededGenerator(seed: ~seed))
    }

    /// The number of jobs that have run. A task is one job from one suspension to the next.
    public var jobCount: Int { schedule.withLock { $0.jobCount } }

    /// The number of jobs that came from outside during the run. If it is not zero, the seed may not repeat the run.
    public var foreignJobCount: Int { schedule.withLock { $0.foreignJobCount } }

    /// Enqueues a job. The Swift runtime calls this method; a test need not call it.
    ///
    /// Jobs that are enqueued before the run are kept for it. Jobs that are enqueued after the run go to Swift's own
    /// thread pool, so that their tasks are not lost.
    ///
    /// - Parameter job: The job to run.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let thread = ThreadIdentity.current()
        switch schedule.withLock({ $0.enqueue(job, from: thread) }) {
        case .none: break
        case .runElsewhere(let job): runElsewhere(job)
        }
    }

    /// Runs a job on Swift's own thread pool. When its task suspends and resumes, the task comes back to `enqueue`.
    func runElsewhere(_ job: UnownedJob) {
        globalConcurrentExecutor.enqueue(ExecutorJob(job))
    }

    /// Returns a random number for the test's own choices, drawn from the seed.
    ///
    /// The sequence of numbers is the same in every run with the same seed. Drawing a number does not influence the
    /// order of the jobs.
    ///
    /// - Parameter range: The range of the number. It must not be empty.
    public func random(in range: Range<Int>) -> Int {
        precondition(!range.isEmpty, "There is no number in an empty range.")
        return random(in: range.lowerBound...(range.upperBound - 1))
    }

    /// Returns a random number for the test's own choices, drawn from the seed.
    ///
    /// The sequence of numbers is the same in every run with the same seed. Drawing a number does not influence the
    /// order of the jobs.
    ///
    /// - Parameter range: The range of the number.
    public func random(in range: ClosedRange<Int>) -> Int {
        choices.withLock { $0.next(in: range) }
    }

    /// Returns a generator for `shuffled(using:)` and similar methods, with a seed that is drawn from the scheduler's
    /// seed.
    public func makeGenerator() -> SeededGenerator {
        SeededGenerator(seed: choices.withLock { $0.next() })
    }
}

/// On a deterministic executor, a queue counts operations where it would otherwise read a clock.
extension SeededScheduler: DeterministicTaskExecutor {
    package var hasOwnScope: Bool { true }

    package func yieldsBeforeBody() -> Bool { reordersBodies && schedule.withLock { $0.drawsYield() } }
}

extension SeededScheduler {
    private static let maxExplanations = 10

    /// The explanations of the unfinished operations of the queues on this scheduler, as `explain()` describes them.
    var waitsOfOperations: [String] {
        let (explanations, areMore) = AsyncOperationQueue.explanations(on: self, upTo: Self.maxExplanations)
        return explanations.map(\.description) + (areMore ? ["Other operations have not finished either."] : [])
    }
}

// MARK: - Identity of a thread

/// The identity of a thread, for comparisons.
struct ThreadIdentity: Equatable, Sendable {
    private let value: UInt

    /// Returns the identity of the calling thread.
    ///
    /// The function is never inlined: the optimizer treats `pthread_self` as a constant, but its value may change at an
    /// `await`. Call it in synchronous code only.
    @inline(never)
    static func current() -> ThreadIdentity {
        #if canImport(Darwin)
            ThreadIdentity(value: UInt(bitPattern: pthread_self()))
        #else
            ThreadIdentity(value: UInt(pthread_self()))
        #endif
    }
}
