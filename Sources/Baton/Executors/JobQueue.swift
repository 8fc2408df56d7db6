/// What the threads of a ``ThreadExecutor`` share: the jobs that wait, and how many threads wait for one.
struct JobQueue<Job> {
    /// What a thread does next.
    enum Action {
        case run(Job)
        /// Until it is woken; then it says so and asks again.
        case sleep
        case end
    }

    private var jobs = FIFOQueue<Job>()
    private var sleeperCount = 0
    private var isClosed = false

    /// Whether a thread must be woken. If there is none to wake, those that are busy ask again before they sleep.
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

    /// Also of a thread that nobody woke: the system may do so at any time.
    mutating func wokeUp() { sleeperCount -= 1 }

    /// Threads end when no job is left. All that sleep must be woken.
    mutating func close() { isClosed = true }
}
