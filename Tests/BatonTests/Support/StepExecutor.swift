@testable import Baton

/// Runs jobs on the thread of the test, one at a time, in the order in which they came, and only when the test says so.
///
/// What cannot go on stays where it is, so a test sees it unfinished instead of hanging. A queue on it counts
/// operations where it would look at the clock.
final class StepExecutor: DeterministicTaskExecutor {
    let hasOwnScope = false

    private let jobs = Locked(FIFOQueue<UnownedJob>())

    #if BATON_SANITIZED && !BATON_TSAN
        init() { runAtExit() }
    #endif

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Runs the job that has waited longest. False: there is none.
    @discardableResult
    func step() -> Bool {
        guard let job = jobs.withLock({ $0.popFirst() }) else { return false }
        job.runSynchronously(on: asUnownedTaskExecutor())
        return true
    }

    /// Runs jobs until there are none. Returns how many there were.
    @discardableResult
    func runAll() -> Int {
        var count = 0
        while step() { count += 1 }
        return count
    }

    /// Gives the job that has waited longest to another executor.
    func handOver(to other: any TaskExecutor) {
        if let job = jobs.withLock({ $0.popFirst() }) { other.enqueue(job) }
    }

    /// Begins a task whose jobs are among those to step through.
    @discardableResult
    func task<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Task<Value, Never> {
        Task(executorPreference: self) { await body() }
    }
}

/// Runs every job at once inside the call that enqueues it: whoever resumes a task sees that task go on before the call
/// returns, so a test stands in the middle of a step of the engine.
final class ImmediateExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }
}
