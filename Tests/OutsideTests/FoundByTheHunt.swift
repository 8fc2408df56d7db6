import Baton
import BatonTesting
import Testing

/// Regression tests for faults that `make hunt` has found, reduced to small programs.
@Suite("Faults that the hunt has found", .timeLimit(.minutes(10)))
struct FoundByTheHunt {
    @Test("A cancelled operation that was never added explains that it waits for its willFinish handlers")
    func explanationOfOneThatWasNeverAdded() async throws {
        try await within {
            let gate = Gate()
            let operation = AsyncOperation("cancelled") {}.willFinish { _ in await gate.wait() }
            operation.cancel()
            await gate.waitForWaiters(count: 1)
            #expect(
                operation.explain().description == "‘cancelled’ waits for its willFinish handlers: "
                    + "one of them has not returned. It was cancelled, and finishes when these handlers have returned.")
            gate.open()
        }
    }

    @Test("Two queues that submit to each other continue, and explain what they wait for", arguments: [1, 4])
    func submittingToEachOther(width: Int) async throws {
        try await within {
            let (a, b) = (AsyncOperationQueue(name: "a"), AsyncOperationQueue(name: "b"))
            let gate = Gate()
            for queue in [a, b] {
                queue.maxConcurrentOperationCount = width
                queue.maxWaitingOperationCount = 1
            }
            let count = Guarded(0)
            for _ in 0..<20 {
                for (queue, other) in [(a, b), (b, a)] {
                    queue.add {
                        await gate.wait()
                        for _ in 0..<3 { try await other.submit(AsyncOperation { count.withLock { $0 += 1 } }) }
                    }
                }
            }
            gate.open()
            await a.waitUntilIdle()
            await b.waitUntilIdle()
            await a.waitUntilIdle()
            #expect(count.withLock { $0 } == 120)
        }
    }

    @Test("A body that waits in submit of another queue has released its permit, and explains its wait")
    func waitingInSubmit() async throws {
        try await within {
            let (narrow, full) = (
                AsyncOperationQueue(maxConcurrentOperationCount: 1), AsyncOperationQueue(name: "full")
            )
            full.isSuspended = true
            full.maxWaitingOperationCount = 1
            full.add {}
            let producer = narrow.add("producer") { try await full.submit(AsyncOperation {}) }
            try await narrow.add {}.value
            #expect(producer.explain().description.contains("‘room in “full”’"))
            producer.cancel()
            await narrow.waitUntilIdle()
            #expect(producer.isCancelled)
            full.isSuspended = false
            await full.waitUntilIdle()
        }
    }

    @Test("A context that is kept from an earlier attempt has no effect in the next one", arguments: [false, true])
    func contextOfAnEarlierAttempt(repeats: Bool) async throws {
        struct Again: Error {}
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let kept = Guarded<OperationContext?>(nil)
            let refused = Guarded<[String]>([])
            let operation = AsyncOperation("operation") { context in
                guard let former = kept.withLock({ $0 }) else {
                    kept.withLock { $0 = context }
                    if repeats { return }
                    throw Again()
                }
                #expect(former.attempt == 1)
                do { try await former.run(AsyncOperation {}) } catch { refused.withLock { $0.append("run: \(error)") } }
                do { try former.produce(AsyncOperation {}) } catch {
                    refused.withLock { $0.append("produce: \(error)") }
                }
                do { try await former.sleep(for: .zero) } catch { refused.withLock { $0.append("sleep: \(error)") } }
                try await context.run(AsyncOperation {})
            }
            if repeats { operation.repeat(every: .zero, count: 2) } else { operation.retry(.immediately, attempts: 2) }
            queue.add(operation)
            await queue.waitUntilIdle()
            kept.withLock { $0 = nil }
            #expect(operation.error == nil)
            #expect(refused.withLock { $0.count } == 3)
        }
    }
}
