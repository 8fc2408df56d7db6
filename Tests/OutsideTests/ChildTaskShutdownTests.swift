import Baton
import BatonTesting
import Testing

/// Cancels and shutdowns reach what a body runs and awaits in a child task.
@Suite("Waits in child tasks of a body, with cancels and shutdowns", .timeLimit(.minutes(10)))
struct ChildTaskShutdownTests {
    @Test(
        "Cancelling a body cancels what it runs in a child task", arguments: WaitingTask.childTasks,
        [WaitCall.queueRun, .contextRun])
    func cancelledBody(task: WaitingTask, call: WaitCall) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let gate = Gate()
            let part = AsyncOperation("part") { try await gate.waitUnlessCancelled() }
            let body = waiter("body", task, call, on: queue) { part }
            queue.add(body)
            await gate.waitForWaiters(count: 1)
            body.cancel()
            await queue.waitUntilIdle()
            #expect(part.isCancelled && body.isCancelled)
            #expect(queue.operationCount == 0)
        }
    }

    @Test(
        "A drained queue takes what its bodies run in child tasks, before and after the call",
        arguments: WaitingTask.childTasks, [WaitCall.queueRun, .contextRun])
    func drain(task: WaitingTask, call: WaitCall) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let gate = Gate()
            let ran = Counter()
            let bodies = (0..<3).map { number in
                AsyncOperation("body \(number)") { context in
                    for _ in 0..<2 {
                        try await task.wait {
                            let part = AsyncOperation("part") {
                                await gate.wait()
                                ran.increment()
                            }
                            try await call.wait(for: part, queue, context)
                        }
                    }
                }
            }
            queue.add(bodies)
            await gate.waitForWaiters(count: 1)
            async let drained: Void = queue.drain()
            await eventually { queue.isShuttingDown }
            gate.open()
            await drained
            #expect(ran.value == 6)
            #expect(bodies.allSatisfy { $0.error == nil })
        }
    }

    @Test(
        "A shutdown whose limit is over ends bodies that wait in child tasks",
        arguments: WaitingTask.childTasks, WaitCall.allCases)
    func shutdown(task: WaitingTask, call: WaitCall) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let gate = Gate()
            let bodies = (0..<3).map { number in
                waiter("body \(number)", task, call, on: queue) {
                    AsyncOperation("part") { try await gate.waitUnlessCancelled() }
                }
            }
            queue.add(bodies)
            await gate.waitForWaiters(count: 1)
            await queue.shutdown(within: .zero)
            #expect(bodies.allSatisfy { $0.state == .finished && $0.isCancelled })
            #expect(queue.operationCount == 0)
        }
    }

    @Test(
        "A child task of a body does not shut down or drain its own queue", arguments: WaitingTask.allCases,
        [false, true])
    func shutdownOfTheOwnQueue(task: WaitingTask, drains: Bool) async throws {
        try await within {
            let misuses = EventLog<String>()
            let queue = AsyncOperationQueue(onMisuse: { misuses($0.description) })
            queue.add("body") {
                try await task.wait {
                    if drains { await queue.drain() } else { await queue.shutdown(within: .zero) }
                }
            }
            await queue.waitUntilIdle()
            #expect(misuses.count == 1)
            #expect(!queue.isShuttingDown)
        }
    }

    @Test(
        "A child task of a body shuts down another queue, whose body waits in a child task",
        arguments: WaitingTask.childTasks
    )
    func shutdownOfAnotherQueue(task: WaitingTask) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let other = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let begun = Gate()
            // Each body needs the permit of the other queue.
            let inOther = other.add("in other") {
                begun.open()
                try await task.wait { try await queue.run(AsyncOperation("part") {}) }
            }
            await begun.wait()
            let body = queue.add("body") { try await task.wait { await other.drain() } }
            try await body.value
            try await inOther.value
        }
    }
}
