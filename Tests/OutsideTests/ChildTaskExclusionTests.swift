import Baton
import BatonTesting
import Testing

/// A body that holds an exclusion may wait in a child task. Deadlocks are found as for a wait of the body itself.
@Suite("Waits in child tasks of a body, with exclusions", .timeLimit(.minutes(10)))
struct ChildTaskExclusionTests {
    @Test(
        "A child takes the exclusion of the body that runs it in a child task",
        arguments: WaitingTask.allCases, [false, true])
    func exclusionOfTheBody(task: WaitingTask, isLimited: Bool) async throws {
        let name = uniqueName("own")
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let exclusion: Exclusion = isLimited ? .limited(name, to: 1) : .mutuallyExclusive(name)
            let bodies = (0..<3).map { number in
                waiter("\(number)", task, .contextRun, on: queue) {
                    AsyncOperation("part") { await Task.yield() }.addCondition(exclusion)
                }.addCondition(exclusion)
            }
            queue.add(bodies)
            for body in bodies { try await body.value }
        }
    }

    /// Only `context.run` makes an operation a child, which shares the exclusions of its parent.
    @Test(
        "A wait for an operation that needs the exclusion of the waiting body ends that operation",
        arguments: WaitingTask.allCases, [WaitCall.value, .queueRun])
    func deadlockWithItself(task: WaitingTask, call: WaitCall) async throws {
        let name = uniqueName("own")
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let part = AsyncOperation("part") {}.addCondition(.mutuallyExclusive(name))
            let body = waiter("body", task, call, on: queue) { part }.addCondition(.mutuallyExclusive(name))
            queue.add(body)
            await queue.waitUntilIdle()
            #expect(part.error?.isDeadlock == true, "\(String(describing: part.error))")
            #expect(body.error != nil)
            #expect("\(part.error as Any)".contains("‘body’"))
        }
    }

    @Test(
        "Two bodies whose child tasks need the exclusion of the other body",
        arguments: WaitingTask.allCases, WaitCall.allCases)
    func crossedExclusions(task: WaitingTask, call: WaitCall) async throws {
        for width in [1, 4] { try await crossedExclusions(task, call, width) }
    }

    private func crossedExclusions(_ task: WaitingTask, _ call: WaitCall, _ width: Int) async throws {
        let names = [uniqueName("a"), uniqueName("b")]
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: width)
            let meeting = MeetingPoint(of: 2)
            let bodies = (0..<2).map { number in
                AsyncOperation("body \(number)") { context in
                    try await meeting.join()
                    try await task.wait {
                        let part = AsyncOperation("part \(number)") {}
                            .addCondition(.mutuallyExclusive(names[1 - number]))
                        try await call.wait(for: part, queue, context)
                    }
                }.addCondition(.mutuallyExclusive(names[number]))
            }
            queue.add(bodies)
            await queue.waitUntilIdle()
            #expect(bodies.count { $0.error == nil } == 1, "\(bodies.map { $0.error as Any })")
        }
    }

    @Test(
        "A limited name that another holder will release is no deadlock",
        arguments: WaitingTask.childTasks, [WaitCall.value, .queueRun])
    func limitedNameThatIsReleased(task: WaitingTask, call: WaitCall) async throws {
        let name = uniqueName("limited")
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 3)
            let gate = Gate()
            let holder = AsyncOperation("holder") { await gate.wait() }.addCondition(.limited(name, to: 2))
            queue.add(holder)
            await gate.waitForWaiters(count: 1)
            let part = AsyncOperation("part") {}.addCondition(.limited(name, to: 2))
            let body = waiter("body", task, call, on: queue) { part }.addCondition(.limited(name, to: 2))
            queue.add(body)
            await eventually { body.explain().waitsFor == [part.reference] && part.explain().waits.count > 0 }
            let text = body.explain().description
            #expect(text.contains("‘body’ waits for ‘part’."), "\(text)")
            #expect(text.contains("‘part’ waits for the exclusion ‘\(name)’, after ‘"), "\(text)")
            gate.open()
            try await body.value
        }
    }

    @Test(
        "Holders of all units of a limited name whose child tasks need one more",
        arguments: WaitingTask.childTasks, [WaitCall.value, .queueRun])
    func limitedNameThatNobodyReleases(task: WaitingTask, call: WaitCall) async throws {
        let name = uniqueName("limited")
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 2)
            let parts = (0..<3).map { AsyncOperation("part \($0)") {}.addCondition(.limited(name, to: 3)) }
            let meeting = MeetingPoint(of: 3)
            let bodies = parts.enumerated().map { number, part in
                AsyncOperation("body \(number)") { context in
                    try await meeting.join()
                    try await task.wait { try await call.wait(for: part, queue, context) }
                }.addCondition(.limited(name, to: 3))
            }
            queue.add(bodies)
            await queue.waitUntilIdle()
            // Several cycles share the holders. Threads that find them at the same time choose the same part.
            #expect(parts.count { $0.error?.isDeadlock == true } == 1, "\(parts.map { $0.error as Any })")
            #expect(bodies.count { $0.error == nil } == 2)
        }
    }
}
