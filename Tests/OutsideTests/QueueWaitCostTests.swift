import Baton
import BatonTesting
import Testing

/// Tests of bodies that wait for other queues. Their number is up to the user, as are the operations of those queues.
@Suite("Many bodies that wait for one queue", .serialized, .timeLimit(.minutes(10)))
struct QueueWaitCostTests {
    /// Returns the processor time until the only deadlock among many waits has ended.
    private func timeOfOneDeadlock(_ count: Int, submitting: Bool) async throws -> Duration {
        let misuses = EventLog<Misuse>()
        let (p, q) = (AsyncOperationQueue(), AsyncOperationQueue { misuses($0) })
        p.maxConcurrentOperationCount = 2 * count
        q.maxConcurrentOperationCount = 2 * count
        let gate = Gate()
        // Operations of q that run, and bodies that wait for q.
        q.add((0..<count).map { _ in AsyncOperation { await gate.wait() } })
        await gate.waitForWaiters(count: count)
        let deadlocked = AsyncOperation("deadlocked") {
            if submitting { try await q.submit(AsyncOperation {}) } else { await q.waitUntilIdle() }
        }
        q.maxWaitingOperationCount = submitting ? 1 : .max
        let needsIt = AsyncOperation("needs it") {}
        needsIt.addDependency(deadlocked)
        q.add(needsIt)
        let start = processorTime
        p.add((0..<count).map { _ in AsyncOperation { await q.waitUntilIdle() } } + [deadlocked])
        _ = try await deadlocked.value
        let time = processorTime - start
        #expect(misuses.events.count == (submitting ? 0 : 1))
        gate.open()
        await p.waitUntilIdle()
        await q.waitUntilIdle()
        return time
    }

    @Test("One search finds the deadlocks of all waits", arguments: [false, true])
    func oneSearch(submitting: Bool) async throws {
        var ratios: [Double] = []
        for _ in 0..<5 {
            let small = try await timeOfOneDeadlock(250, submitting: submitting)
            let large = try await timeOfOneDeadlock(2_000, submitting: submitting)
            let ratio = large / max(small, .milliseconds(5))
            if ratio < 24 { return }
            ratios.append(ratio)
        }
        Issue.record("an eightfold size took \(ratios) times as long")
    }
}
