/// Threads of its own, for bodies that block their thread: synchronous files, databases, C libraries, long
/// computations.
///
/// The global executor has as many threads as the machine has cores: as many bodies that block stop every other task of
/// the process. Bodies on this executor block its threads and nobody else's.
///
/// ```swift
/// let files = AsyncOperationQueue(executor: ThreadExecutor(threads: 4))
/// let text = files.add { try String(contentsOfFile: path, encoding: .utf8) }
/// ```
///
/// **Threads.** They are started when it is made, and wait until there is something to do. Bodies and conditions of a
/// queue on it run on them, and come back to one of them, not always the same, whenever they have suspended. So does
/// what they await, but for the main actor and actors with executors of their own. Several queues may share it.
///
/// **Order.** Jobs, which are tasks from one suspension to the next, begin in the order in which they came, whatever
/// their priority, each as soon as a thread is free. As many bodies can block at a time as there are threads, whatever
/// the width of the queue; if they all wait for a body that has not begun, they wait for ever.
///
/// **Release.** Queues and unfinished tasks on it hold it. When nobody does, its threads end. Nothing waits for that,
/// so it may be released anywhere, also on a thread of its own.
public final class ThreadExecutor: TaskExecutor {
    private let crew = Crew()
    private let hasThreads: Bool

    /// Makes an executor and starts its threads.
    ///
    /// If the system gives fewer threads, it works with those; if it gives none at all, everything runs on the global
    /// executor, as it would without this one.
    ///
    /// - Parameters:
    ///   - name: What debuggers and `top -H` call its threads. Cut to 15 bytes, the most that Linux takes.
    ///   - threads: How many, at least 1. Less is ``Misuse``, reported on standard error, and gives 1.
    public convenience init(name: String? = nil, threads: Int) {
        self.init(name: name, threads: threads, onMisuse: Misuse.complain, start: PosixThread.start)
    }

    /// `start` begins a thread with a name that runs the closure, and says whether it could.
    init(
        name: String? = nil, threads: Int, onMisuse: (Misuse) -> Void = Misuse.complain,
        start: (String?, @escaping @Sendable () -> Void) -> Bool
    ) {
        var count = 0
        // The threads hold the crew only, so that an idle executor can be released.
        while count < max(threads, 1), start(name, { [crew] in crew.work() }) { count += 1 }
        hasThreads = count > 0
        if threads < 1 { onMisuse(Misuse(.invalidThreadCount(threads))) }
    }

    deinit { crew.close() }

    /// Called by Swift when a task on this executor can run.
    public func enqueue(_ job: consuming ExecutorJob) {
        if hasThreads {
            crew.append(Crew.Job(job, on: self))
        } else {
            globalConcurrentExecutor.enqueue(UnownedJob(job))
        }
    }
}

// MARK: - The threads

/// The threads and what they share. Each thread holds it, so the last one frees it.
private final class Crew: Sendable {
    /// A job, and a retain of its executor until it has run: the job runs under the executor's name, but its task lets
    /// go of the executor when it finishes, and Swift's own jobs for actors never held it.
    struct Job {
        private let job: UnownedJob
        private let executor: Unmanaged<ThreadExecutor>

        init(_ job: consuming ExecutorJob, on executor: ThreadExecutor) {
            self.job = UnownedJob(job)
            self.executor = .passRetained(executor)
        }

        /// To be called once.
        func run() {
            withExtendedLifetime(executor.takeRetainedValue()) { executor in
                job.runSynchronously(on: executor.asUnownedTaskExecutor())
            }
        }
    }

    private let queue = Monitor(JobQueue<Job>())

    /// The job may have run when this returns, and with it the last who held executor and crew: whoever calls this need
    /// not hold them.
    func append(_ job: Job) { queue.change { $0.append(job) ? .one : .nobody } }

    func close() {
        queue.change { queue in
            queue.close()
            return .everybody
        }
    }

    /// What each thread does from its beginning to its end.
    func work() {
        while let job = next() { job.run() }
    }

    /// Blocks until there is one. Nil: the thread ends.
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
