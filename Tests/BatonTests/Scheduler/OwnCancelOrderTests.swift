import Baton
import BatonTesting
import Testing

/// Bodies that cancel their own task, so that the queue replaces the worker.
@Suite(.timeLimit(.minutes(10)))
struct OwnCancelOrderTests {
    @Test("After a body that cancels its own task, a higher priority still comes first")
    func priorityAfterAnOwnCancel() async throws {
        try await exploring(schedules: tries(300), reordersBodies: false) { scheduler in
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
