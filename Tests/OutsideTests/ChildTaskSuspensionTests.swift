import Baton
import BatonTesting
import Testing

/// A body may wait in a child task for operations of a suspended queue. Explanations and reports of stalls say what to
/// do.
@Suite("Waits in child tasks of a body, and suspended queues", .timeLimit(.minutes(10)))
struct ChildTaskSuspensionTests {
    @Test("The children of a body start while the queue is suspended", arguments: WaitingTask.allCases)
    func childrenInASuspendedQueue(task: WaitingTask) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let gate = Gate()
            let body = AsyncOperation("body") { context in
                await gate.wait()
                try await task.wait { try await context.run(AsyncOperation("part") {}) }
            }
            queue.add(body)
            await gate.waitForWaiters(count: 1)
            queue.isSuspended = true
            gate.open()
            try await body.value
            queue.isSuspended = false
            await queue.waitUntilIdle()
        }
    }

    @Test(
        "Operations that are not children wait until the queue is resumed, and the body says so",
        arguments: WaitingTask.allCases, [WaitCall.value, .queueRun])
    func othersInASuspendedQueue(task: WaitingTask, call: WaitCall) async throws {
        try await within {
            let queue = AsyncOperationQueue(name: "paused", maxConcurrentOperationCount: 1)
            let gate = Gate()
            let part = AsyncOperation("part") {}
            let body = AsyncOperation("body") { context in
                await gate.wait()
                try await task.wait { try await call.wait(for: part, queue, context) }
            }
            queue.add(body)
            await gate.waitForWaiters(count: 1)
            queue.isSuspended = true
            gate.open()
            await eventually { body.explain().waitsFor == [part.reference] && part.state == .ready }
            #expect(
                body.explain().description == "‘body’ waits for ‘part’. "
                    + "‘part’ is ready, and its queue ‘paused’ is suspended: set its `isSuspended` to false.")
            queue.isSuspended = false
            try await body.value
        }
    }

    @Test("A wait for an operation of a suspended queue says what to do", arguments: WaitingTask.childTasks)
    func waitForASuspendedQueue(task: WaitingTask) async throws {
        try await within {
            let clock = TestClock()
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1, clock: clock)
            let other = AsyncOperationQueue(name: "other", isSuspended: true)
            let awaited = other.add("awaited") {}
            let reports = EventLog<String>()
            queue.onStall(after: .seconds(4)) { reports($0.description) }
            let body = waiter("body", task, .value, on: queue) { awaited }
            queue.add(body)
            // The permit is lent meanwhile.
            try await queue.run(AsyncOperation("next") {})
            await eventually { body.explain().waitsFor == [awaited.reference] }
            let advice = "‘awaited’ is ready, and its queue ‘other’ is suspended: set its `isSuspended` to false."
            #expect(body.explain().description == "‘body’ waits for ‘awaited’. " + advice)
            while reports.count == 0 {
                await clock.waitForSleepers(count: 1)
                clock.advance(by: .seconds(1))
                for _ in 0..<10 { await Task.yield() }
            }
            let report = reports.events[0]
            #expect(report.contains(advice), "\(report)")
            #expect(!report.contains("‘body’"), "\(report)")
            other.isSuspended = false
            try await body.value
        }
    }

    @Test("Every operation that child tasks wait for is explained")
    func explanationOfManyWaits() async throws {
        try await within {
            let queue = AsyncOperationQueue()
            let gate = Gate()
            let parts = (0..<3).map { number in AsyncOperation("part \(number)") { await gate.wait() } }
            let missing = AsyncOperation("missing") {}
            let body = AsyncOperation("body") {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for part in parts { group.addTask { try await queue.run(part) } }
                    group.addTask { try await missing.value }
                    try await group.waitForAll()
                }
            }
            queue.add(body)
            await eventually { body.explain().waitsFor.count == 4 }
            #expect(Set(body.explain().waitsFor) == Set((parts + [missing]).map(\.reference)))
            #expect(body.explain().roots.count == 4)
            #expect(
                body.explain().description.contains(
                    "‘missing’ was not added to any queue: add it, or use `run` or `add(to:)`."))
            gate.open()
            queue.add(missing)
            try await body.value
            #expect(body.explain().waits.isEmpty)
        }
    }
}
