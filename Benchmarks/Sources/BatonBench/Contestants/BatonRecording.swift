import Baton
import BatonTrace

extension BatonContestant {
    /// The number of events of each operation: added, ready, started, finished.
    static let eventsOfOperation = 4.0

    /// Returns the time from the creation of the operations to their release, while a recorder records their events.
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
