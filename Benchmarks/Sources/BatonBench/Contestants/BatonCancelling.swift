import Baton

extension BatonContestant {
    /// n operations wait for an operation that never starts. Only their cancellation is timed, until the last one has
    /// finished.
    func cancelling(_ job: Job) async -> Nanoseconds {
        let queue = AsyncOperationQueue(isSuspended: true)
        let first = AsyncOperation {}
        let waiting = (0..<job.count).map { _ in AsyncOperation {}.addDependency(first) }
        queue.add(first)
        queue.add(waiting)
        let stopwatch = Stopwatch()
        for operation in waiting { operation.cancel() }
        first.cancel()
        await queue.waitUntilIdle()
        return stopwatch.nanoseconds
    }
}
