import Baton
import BatonTrace

extension BatonContestant {
    /// Each of the operations tells this many: added, ready, started, finished.
    static let eventsOfOperation = 4.0

    /// From making the operations to letting them go, while a recorder keeps what happens to them.
    func recorded(_ job: Job) async -> Nanoseconds {
        let stopwatch = Stopwatch()
        let queue = AsyncOperationQueue()
        let recorder = TraceRecorder(of: queue)
        var operations = makeGraph(job.graph)
        queue.add(operations)
        await queue.waitUntilIdle()
        operations = []
        let elapsed = stopwatch.nanoseconds
        withExtendedLifetime(recorder) {}
        return elapsed
    }
}
