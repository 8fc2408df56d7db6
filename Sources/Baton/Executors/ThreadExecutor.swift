internal import CBaton

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Bionic)
    internal import Bionic
#endif

/// Threads of its own, for bodies that block their thread: synchronous files, databases, C libraries, long computations.
///
/// The global executor has as many threads as the machine has cores: as many bodies that block stop every other task of
/// the process. Bodies on this executor block its threads and nobody else's.
///
/// ```swift
/// let files = AsyncOperationQueue(executor: ThreadExecutor(threads: 4))
/// let text = files.add { try String(contentsOfFile: path, encoding: .utf8) }
/// ```
///
/// **Threads.** They are started when it is made, and wait until there is something to do. Bodies and handlers of a queue
/// on it run on them, and come back to one of them, not always the same, whenever they have suspended. So does what they
/// await, but for the main actor and actors with executors of their own. Several queues may share it.
///
/// **Order.** Jobs, which are tasks from one suspension to the next, begin in the order in which they came, whatever
/// their priority, each as soon as a thread is free. As many bodies can block at a time as there are threads, whatever
/// the width of the queue; if they all wait for a body that has not begun, they wait for ever.
///
/// **Release.** Queues and unfinished tasks on it hold it. When nobody does, its threads end. Nothing waits for that, so
/// it may be released anywhere, also on a thread of its own.
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
///
/// `@unchecked`: `queue` is touched only while `mutex` is locked; the rest never changes.
private final class Crew: @unchecked Sendable {
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

    private var queue = JobQueue<Job>()
    // Allocated, because their addresses must not change.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Touches nothing after the unlock: the job may have run by then, and with it the last who held executor and crew.
    /// Whoever calls this need not hold them.
    func append(_ job: Job) {
        pthread_mutex_lock(mutex)
        if queue.append(job) { pthread_cond_signal(condition) }
        pthread_mutex_unlock(mutex)
    }

    func close() {
        pthread_mutex_lock(mutex)
        queue.close()
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }

    /// What each thread does from its beginning to its end.
    func work() {
        while let job = next() { job.run() }
    }

    /// Blocks until there is one. Nil: the thread ends.
    private func next() -> Job? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            switch queue.nextTurn() {
            case .run(let job): return job
            case .end: return nil
            case .sleep:
                pthread_cond_wait(condition, mutex)
                queue.wokeUp()
            }
        }
    }
}

/// Starts threads that nobody joins.
package enum PosixThread {
    private final class Start {
        let name: String?
        let body: @Sendable () -> Void

        init(_ name: String?, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// What the main thread has. Left to themselves, Darwin gives 512 KB and Musl 128 KB, too little for some C libraries.
    private static let stackSize = 8 << 20

    /// False: the system gives no more threads.
    package static func start(_ name: String?, _ body: @escaping @Sendable () -> Void) -> Bool {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, stackSize)

        #if canImport(Darwin) || canImport(Musl)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let start = Unmanaged.passRetained(Start(name.map(shortened), body))
        let status = pthread_create(
            &thread, &attributes,
            { argument in
                // The C libraries disagree about which pointers may be null. Nobody sees the one that is returned.
                let pointer = (argument as UnsafeMutableRawPointer?)!
                let start = Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue()
                if let name = start.name { baton_name_thread(name) }
                start.body()
                return pointer
            }, start.toOpaque())
        if status != 0 { start.release() }
        return status == 0
    }

    /// At most 15 bytes of it, and no part of a character.
    private static func shortened(_ name: String) -> String {
        var name = name
        while name.utf8.count > 15 { name.removeLast() }
        return name
    }
}
