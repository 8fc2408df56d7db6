internal import CBaton

/// Runs what serves the queues, and what users are told: timers that fire, handlers, observers, stall reports.
///
/// It has threads of its own. Bodies may block every thread of their queue's executor, and they may keep every thread
/// of the global executor busy; a time limit that waits for one of those threads would wait for the very body that it
/// is to cancel.
///
/// What it runs is the user's, and may block, too. So it has a few threads at first, and the timer's thread gives it
/// another one when jobs wait and none has begun for some milliseconds; threads that have nothing to do for some
/// seconds end.
final class ServiceExecutor: TaskExecutor {
    /// For what users are told.
    static let shared = ServiceExecutor()
    /// For timers and searches, which may cancel, but tell nobody anything: so handlers that block every thread that
    /// there may be hold up no time limit.
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

    /// The system gives no more threads. Without any, the global executor is better than nothing.
    private func threadFailed() {
        var stranded: [UnownedJob] = []
        jobs.change { jobs in
            stranded = jobs.threadFailed()
            return .nobody
        }
        for job in stranded { globalConcurrentExecutor.enqueue(job) }
    }

    /// What each thread does from its beginning to its end.
    private func work() {
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Nil: the thread ends.
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

/// The jobs of a ``ServiceExecutor``, and how many threads it has. Pure.
struct ServiceJobs<Job> {
    /// What a thread does next.
    enum ThreadAction {
        case run(Job)
        /// Until it is woken, or for so long; then it says so and asks again.
        case sleep(nanoseconds: Int64?)
        case end
    }

    /// What to do after unlocking.
    struct Action: Equatable {
        var wakesThread = false
        var startsThread = false
        /// ``ServiceJobs/look()`` is to be called in a moment.
        var watches = false
    }

    /// Threads that stay.
    static var least: Int { 2 }
    /// A handler that blocks takes one, and it would be odd if so many did.
    static var most: Int { 512 }
    /// How long a thread that is not needed waits for a job, in nanoseconds.
    static var patience: Int64 { 5_000_000_000 }

    private let processors: Int
    private var jobs = FIFOQueue<Job>()
    private(set) var threadCount = 0
    private var sleeperCount = 0
    /// Jobs that have begun, to see whether the threads get on.
    private var begun = 0
    private var begunAtLastLook = 0
    private var isWatched = false

    init(processors: Int) { self.processors = processors }

    mutating func append(_ job: Job) -> Action {
        jobs.append(job)
        var action = Action(wakesThread: sleeperCount > 0)
        // Each thread that sleeps takes one.
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

    /// A moment after jobs began to wait. Another thread helps if there is a processor for it, or if the others do not
    /// get on.
    mutating func look() -> Action {
        isWatched = false
        var action = Action()
        if jobs.isEmpty { return action }
        if threadCount < processors || begun == begunAtLastLook && threadCount < Self.most { startThread(&action) }
        watch(&action)
        return action
    }

    /// Returns the jobs that no thread will run.
    mutating func threadFailed() -> [Job] {
        threadCount -= 1
        if threadCount > 0 { return [] }
        var stranded: [Job] = []
        while let job = jobs.popFirst() { stranded.append(job) }
        return stranded
    }

    /// - Parameters:
    ///   - sleepStart: When the thread began to wait, if it has waited, in nanoseconds.
    ///   - now: On the same clock.
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
    /// For operations that serve those of others: they do not depend on threads that bodies may block.
    package static func serving(name: String, clock: some Clock<Duration> = ContinuousClock()) -> AsyncOperationQueue {
        AsyncOperationQueue(
            name: name, maxConcurrentOperationCount: unlimited, executor: ServiceExecutor.shared, clock: clock)
    }
}
