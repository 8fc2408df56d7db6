import Baton
import BatonTesting
import Synchronization

/// Draining and shutting down the queues of a round.
extension Round {
    /// Closes each queue from two tasks at once, while a third task adds operations.
    func end() async {
        if plan.end == .idle { return }
        // A queue that has been drained refuses what bodies of other queues run.
        if graph.isExact, graph.runsInOtherQueues { await idleAtOnce() }
        await withDiscardingTaskGroup { group in
            for index in graph.queues.indices {
                guard let queue = site.queue(index) else { continue }
                if plan.end == .cutOff { site.recorder.queues[index].isCancelled.store(true, ordering: .relaxed) }
                for _ in 0..<2 { group.addTask(executorPreference: site.executor) { await self.close(queue) } }
                group.addTask(executorPreference: site.executor) { await self.addWhileItCloses(queue) }
            }
        }
    }

    private func close(_ queue: AsyncOperationQueue) async {
        let clock = site.scheduler?.clock ?? TestClock()
        switch plan.end {
        case .idle: break
        case .drain: await queue.drain()
        case .shutdown: await queue.shutdown(within: .seconds(1800), clock: clock)
        case .cutOff: await queue.shutdown(within: .zero, clock: clock)
        }
        await mustRefuse(queue, "after the queue had been shut down")
    }

    /// Checks that a queue that has refused an operation accepts no further one.
    private func addWhileItCloses(_ queue: AsyncOperationQueue) async {
        var hasRefused = false
        for _ in 0..<4 {
            let late = AsyncOperation("late") { true }
            queue.add(late)
            do throws(OperationError) {
                _ = try await late.value
                site.recorder.check(!hasRefused, "a queue that had refused one ran another")
            } catch {
                if case .queueShutDown = error { hasRefused = true }
            }
            await Task.yield()
        }
    }

    private func mustRefuse(_ queue: AsyncOperationQueue, _ when: String) async {
        let recorder = site.recorder
        let late = AsyncOperation("late") { recorder.violation("a late one ran \(when)") }
        let calls = Atomic<Int>(0)
        queue.add(late)
        do throws(OperationError) { try await late.value } catch {
            switch error {
            case .queueShutDown: calls.add(1, ordering: .relaxed)
            // The other task that closes the queue cancels every operation that it finds, perhaps this one before it
            // is refused.
            case .cancelled(.queue) where plan.end == .cutOff: calls.add(1, ordering: .relaxed)
            default: break
            }
        }
        do throws(OperationError) { try await queue.submit(AsyncOperation("late") {}) } catch {
            if case .queueShutDown = error { calls.add(1, ordering: .relaxed) }
        }
        let refused = calls.load(ordering: .relaxed)
        recorder.check(refused == 2, "\(refused) of 2 late ones were refused \(when)")
    }
}
