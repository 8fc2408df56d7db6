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
