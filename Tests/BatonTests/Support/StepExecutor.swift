@testable import Baton

/// Runs jobs on the thread of the test, one at a time, in the order in which they were enqueued, and only when the
/// test says so.
///
/// A job that cannot continue stays where it is, so a test sees it unfinished instead of hanging. A queue with this
/// executor measures time slices by the number of operations instead of by the clock.
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

    /// Runs the job that has waited longest. Returns false if there is none.
    @discardableResult
    func step() -> Bool {
        guard let job = jobs.withLock({ $0.popFirst() }) else { return false }
        job.runSynchronously(on: asUnownedTaskExecutor())
        return true
    }

    /// Runs jobs until there are none. Returns the number of jobs that it has run.
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

    /// Starts a task whose jobs this executor runs.
    @discardableResult
    func task<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Task<Value, Never> {
        Task(executorPreference: self) { await body() }
    }
}

/// Runs every job inside the call that enqueues it. A task that is resumed continues before that call returns, so a
/// test can act in the middle of a step of the engine.
final class ImmediateExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }
}
