/// An executor with its own threads, for bodies that block: synchronous file access, databases, C libraries, long
/// computations.
///
/// The global executor has as many threads as the machine has cores. If as many bodies block, no other task of the
/// process makes progress. Bodies on a thread executor block its threads only.
///
/// ```swift
/// let files = AsyncOperationQueue(executor: ThreadExecutor(threads: 4))
/// let text = files.add { try String(contentsOfFile: path, encoding: .utf8) }
/// ```
///
/// - **Threads.** The initializer starts the threads, which wait until there is something to do. Bodies and conditions
///   of a queue on this executor run on its threads, and return to one of them, not always the same, after each
///   suspension. Functions that they await also run there, except those of the main actor and of actors with executors
///   of their own. Several queues may share an executor.
/// - **Order.** A job is the part of a task between two suspensions. Jobs begin in the order in which they were
///   enqueued, regardless of their priority, as soon as a thread is free. The number of threads limits how many bodies
///   can block at a time, whatever the width of the queue. If bodies that wait for a body that has not begun block all
///   threads, they wait forever.
/// - **Release.** Queues and unfinished tasks on the executor retain it. When the last reference is gone, its threads
///   end. Nothing waits for their end, so the executor may be released anywhere, even on one of its threads.
public final class ThreadExecutor: TaskExecutor {
    private let threadPool = ThreadPool()
    private let hasThreads: Bool

    /// Makes an executor and starts its threads.
    ///
    /// If the system provides fewer threads, the executor works with those. If it provides none, everything runs on the
    /// global executor, as it would without this one.
    ///
    /// - Parameters:
    ///   - name: The name of the threads in debuggers and in `top -H`. It is cut to 15 bytes, the maximum on Linux.
    ///   - threads: The number of threads, at least 1. A smaller number is ``Misuse``, which is reported on standard
    ///     error, and gives 1 thread.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    public convenience init(
        name: String? = nil, threads: Int, file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(name: name, threads: threads, CallSite(file: file, line: line), start: PosixThread.start)
    }

    /// Makes an executor.
    ///
    /// - Parameter start: Starts a thread with a name that runs the closure. Returns false if the system provides no
    ///   more threads.
    init(
        name: String? = nil, threads: Int, _ callSite: CallSite? = nil,
        onMisuse: (Misuse) -> Void = Misuse.writeToStandardError,
        start: (String?, @escaping @Sendable () -> Void) -> Bool
    ) {
        var count = 0
        // The threads retain the thread pool but not the executor, so that an idle executor can be released.
        while count < max(threads, 1), start(name, { [threadPool] in threadPool.work() }) { count += 1 }
        hasThreads = count > 0
        if threads < 1 { onMisuse(Misuse(.invalidThreadCount(threads), callSite: callSite)) }
    }

    deinit { threadPool.close() }

    /// Enqueues a job. Swift calls this method when a task on this executor can run.
    ///
    /// - Parameter job: The part of the task to run up to its next suspension.
    public func enqueue(_ job: consuming ExecutorJob) {
        if hasThreads {
            threadPool.append(ThreadPool.Job(job, on: self))
        } else {
            globalConcurrentExecutor.enqueue(UnownedJob(job))
        }
    }
}

// MARK: - Threads

/// The threads and the state that they share. Each thread retains the thread pool, so the last one frees it.
private final class ThreadPool: Sendable {
    /// A job that retains its executor until it has run. The job runs with a reference to the executor, but its task
    /// releases the executor when it finishes, and the jobs that Swift enqueues for actors never retain it.
    struct Job {
        private let job: UnownedJob
        private let executor: ThreadExecutor

        init(_ job: consuming ExecutorJob, on executor: ThreadExecutor) {
            self.job = UnownedJob(job)
            self.executor = executor
        }

        /// Runs the job. Must be called once.
        func run() {
            withExtendedLifetime(executor) { job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
        }
    }

    private let queue = Monitor(JobQueue<Job>())

    /// Appends a job. The job may have run before this method returns, and the last reference to the executor and the
    /// thread pool may be gone with it. So the caller need not retain them.
    func append(_ job: Job) { queue.change { $0.append(job) ? .one : .nobody } }

    func close() {
        queue.change { queue in
            queue.close()
            return .everybody
        }
    }

    /// The body of each thread.
    func work() {
        while let job = next() { job.run() }
    }

    /// Blocks until there is a job. Returns nil if the thread ends.
    private func next() -> Job? {
        var isAsleep = false
        return queue.wait { queue in
            if isAsleep { queue.wokeUp() }
            switch queue.nextAction() {
            case .run(let job): return .done(job)
            case .end: return .done(nil)
            case .sleep:
                isAsleep = true
                return .wait(nanoseconds: nil)
            }
        }
    }
}

// MARK: - Jobs

/// The state that the threads of a ``ThreadExecutor`` share: the waiting jobs, and the number of threads that wait for
/// one.
struct JobQueue<Job> {
    /// The next action of a thread.
    enum Action {
        case run(Job)
        /// Sleeps until the thread is woken. Then the thread calls `wokeUp()` and asks again.
        case sleep
        case end
    }

    private var jobs = FIFOQueue<Job>()
    private var sleeperCount = 0
    private var isClosed = false

    /// Appends a job. Returns true if a thread must be woken. If no thread sleeps, the busy ones ask again before they
    /// sleep.
    mutating func append(_ job: Job) -> Bool {
        jobs.append(job)
        return sleeperCount > 0
    }

    mutating func nextAction() -> Action {
        if let job = jobs.popFirst() { return .run(job) }
        if isClosed { return .end }
        sleeperCount += 1
        return .sleep
    }

    /// Notes that a thread woke up. The system may also wake a thread without a reason.
    mutating func wokeUp() {
        assert(sleeperCount > 0)
        sleeperCount -= 1
    }

    /// Closes the queue. Threads end when no job is left. The caller must wake all sleeping threads.
    mutating func close() { isClosed = true }
}
