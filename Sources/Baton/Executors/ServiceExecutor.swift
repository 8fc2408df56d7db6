internal import CBaton

/// Runs the tasks that serve queues and their users: timers, handlers, observers and stall reports.
///
/// It has its own threads. Bodies may block every thread of their queue's executor, and may keep every thread of the
/// global executor busy. A time limit that needed one of those threads would wait for the very body that it is meant to
/// cancel.
///
/// The tasks run user code, which may block too. Therefore the executor starts with a few threads. When jobs wait and
/// none has begun for a few milliseconds, the timer thread makes the executor start another thread. Threads that have
/// been idle for a few seconds end.
final class ServiceExecutor: TaskExecutor {
    /// Runs handlers, observers and other code of the user.
    static let shared = ServiceExecutor()
    /// Runs timers and searches. These may cancel operations, but call neither handlers nor observers. So handlers that
    /// block every thread of `shared` delay no time limit.
    static let background = ServiceExecutor()

    private let jobs = Monitor(ServiceJobs<UnownedJob>(processors: Int(baton_processor_count())))

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        change { $0.append(job) }
    }

    private func change(_ body: (inout ServiceJobs<UnownedJob>) -> ServiceJobs<UnownedJob>.Action) {
        var action = ServiceJobs<UnownedJob>.Action()
        jobs.change { jobs in
            action = body(&jobs)
            return action.wakesThread ? .one : .nobody
        }
        if action.startsThread, !PosixThread.start("baton-service", { self.work() }) { threadFailed() }
        if action.watches { TimerThread.shared.call(after: .milliseconds(2)) { self.change { $0.look() } } }
    }

    /// Handles a failure to start a thread. If the executor has no threads at all, its jobs run on the global executor.
    private func threadFailed() {
        var stranded: [UnownedJob] = []
        jobs.change { jobs in
            stranded = jobs.threadFailed()
            return .nobody
        }
        for job in stranded { globalConcurrentExecutor.enqueue(job) }
    }

    /// The body of each thread.
    private func work() {
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Returns the next job, or nil if the thread ends.
    private func next() -> UnownedJob? {
        var sleepStart: Int64?
        return jobs.wait { jobs in
            let now = baton_continuous_time()
            switch jobs.nextAction(since: sleepStart, now: now) {
            case .run(let job): return .done(job)
            case .end: return .done(nil)
            case .sleep(let nanoseconds):
                sleepStart = sleepStart ?? now
                return .wait(nanoseconds: nanoseconds)
            }
        }
    }
}

/// The jobs and the number of threads of a ``ServiceExecutor``. A pure value.
struct ServiceJobs<Job> {
    /// The next action of a thread.
    enum ThreadAction {
        case run(Job)
        /// Sleeps until the thread is woken, or at most for this time. Then the thread asks again.
        case sleep(nanoseconds: Int64?)
        case end
    }

    /// The action to perform after unlocking.
    struct Action: Equatable {
        var wakesThread = false
        var startsThread = false
        /// True if ``ServiceJobs/look()`` is to be called after a short delay.
        var watches = false
    }

    /// The number of threads that never end.
    static var least: Int { 2 }
    /// The maximum number of threads. Each handler that blocks occupies one, and not that many are expected to block at
    /// a time.
    static var most: Int { 512 }
    /// The time for which a thread that is not needed waits for a job, in nanoseconds.
    static var patience: Int64 { 5_000_000_000 }

    private let processors: Int
    private var jobs = FIFOQueue<Job>()
    private(set) var threadCount = 0
    private var sleeperCount = 0
    /// The number of jobs that have begun, which shows whether the threads make progress.
    private var begun = 0
    private var begunAtLastLook = 0
    private var isWatched = false

    init(processors: Int) { self.processors = processors }

    mutating func append(_ job: Job) -> Action {
        jobs.append(job)
        var action = Action(wakesThread: sleeperCount > 0)
        // Each sleeping thread takes one job.
        if jobs.count <= sleeperCount { return action }
        if threadCount < Self.least {
            startThread(&action)
        } else if !isWatched {
            watch(&action)
        }
        return action
    }

    private mutating func startThread(_ action: inout Action) {
        threadCount += 1
        action.startsThread = true
    }

    private mutating func watch(_ action: inout Action) {
        isWatched = true
        begunAtLastLook = begun
        action.watches = true
    }

    /// Checks, a short time after jobs began to wait, whether another thread is needed. One is started if a processor
    /// is free for it, or if the existing threads make no progress.
    mutating func look() -> Action {
        isWatched = false
        var action = Action()
        if jobs.isEmpty { return action }
        if threadCount < processors || begun == begunAtLastLook && threadCount < Self.most { startThread(&action) }
        watch(&action)
        return action
    }

    /// Notes that a thread could not be started. Returns the jobs that no thread will run.
    mutating func threadFailed() -> [Job] {
        threadCount -= 1
        if threadCount > 0 { return [] }
        var stranded: [Job] = []
        while let job = jobs.popFirst() { stranded.append(job) }
        return stranded
    }

    /// Returns the next action of a thread.
    ///
    /// - Parameters:
    ///   - sleepStart: The time at which the thread began to sleep, in nanoseconds. Nil if it has not slept.
    ///   - now: The current time on the same clock.
    mutating func nextAction(since sleepStart: Int64?, now: Int64) -> ThreadAction {
        if sleepStart != nil { sleeperCount -= 1 }
        if let job = jobs.popFirst() {
            begun &+= 1
            return .run(job)
        }
        let isNeeded = threadCount <= Self.least
        let patience = Self.patience - (now - (sleepStart ?? now))
        if !isNeeded, patience <= 0 {
            threadCount -= 1
            return .end
        }
        sleeperCount += 1
        return .sleep(nanoseconds: isNeeded ? nil : patience)
    }
}

extension AsyncOperationQueue {
    /// Makes a queue for operations that serve other operations. They do not depend on threads that bodies may block.
    package static func serving(name: String, clock: some Clock<Duration> = ContinuousClock()) -> AsyncOperationQueue {
        AsyncOperationQueue(
            name: name, maxConcurrentOperationCount: unlimited, executor: ServiceExecutor.shared, clock: clock)
    }
}
