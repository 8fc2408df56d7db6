import Baton
import BatonTesting
import Testing

/// What `make hunt` has found, made small.
@Suite("What the hunt has found", .timeLimit(.minutes(10)))
struct FoundByTheHunt {
    @Test("One that nobody has added, and that is cancelled, says that it waits for its willFinish handlers")
    func explanationOfOneThatWasNeverAdded() async throws {
        try await within {
            let gate = Gate()
            let operation = AsyncOperation("cancelled") {}.willFinish { _ in await gate.wait() }
            operation.cancel()
            await gate.waitForWaiters(count: 1)
            #expect(operation.explain().description == "‘cancelled’ waits for its willFinish handlers.")
            gate.open()
        }
    }

    @Test("After a body that cancels its own task, a higher priority still comes first")
    func priorityAfterAnOwnCancel() async throws {
        try await exploring(schedules: 300) { scheduler in
            let queue = AsyncOperationQueue(
                maxConcurrentOperationCount: 1, executor: scheduler, clock: scheduler.clock)
            let log = EventLog<String>()
            let first = AsyncOperation("first") { withUnsafeCurrentTask { $0?.cancel() } }
            let urgent = AsyncOperation("urgent") { log("urgent") }
            urgent.priority = .high
            first.didFinish { _ in
                queue.add(urgent)
                log("added")
            }
            queue.add([first, AsyncOperation("next") { log("next") }])
            await queue.waitUntilIdle()
            #expect(log.events != ["added", "next", "urgent"])
        }
    }
}
