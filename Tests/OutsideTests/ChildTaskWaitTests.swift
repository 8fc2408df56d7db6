import Baton
import BatonTesting
import Testing

/// A body may wait in a child task with everything around it that decides when operations run. The permit is released,
/// and cycles are found.
@Suite("Waits in child tasks of a body, with barriers and groups", .timeLimit(.minutes(10)))
struct ChildTaskWaitTests {
    // MARK: Cycles and barriers

    @Test("Bodies that wait for each other in different tasks", arguments: WaitingTask.allCases, WaitingTask.childTasks)
    func cycleOfBodies(first: WaitingTask, second: WaitingTask) async throws {
        for width in [1, 4] { try await cycleOfBodies(first, second, width) }
    }

    private func cycleOfBodies(_ first: WaitingTask, _ second: WaitingTask, _ width: Int) async throws {
        try await within {
            let queues = [
                AsyncOperationQueue(maxConcurrentOperationCount: width),
                AsyncOperationQueue(maxConcurrentOperationCount: width),
            ]
            let tasks = [first, second, .asyncLet]
            let made = Guarded<[AsyncOperation<Void>]>([])
            let bodies = tasks.enumerated().map { number, task in
                waiter("body \(number)", task, .value, on: queues[0]) {
                    made.withLock { $0[(number + 1) % 3] }
                }
            }
            made.withLock { $0 = bodies }
            for (number, body) in bodies.enumerated() { queues[number % 2].add(body) }
            for queue in queues + queues { await queue.waitUntilIdle() }
            made.withLock { $0 = [] }
            #expect(bodies.contains { "\($0.error as Any)".contains("waits for itself") })
            #expect(bodies.allSatisfy { $0.error != nil })
        }
    }

    @Test(
        "A body waits for an operation behind a barrier that waits for the body", arguments: WaitingTask.allCases,
        [1, 4])
    func cycleThroughABarrier(task: WaitingTask, width: Int) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: width)
            let gate = Gate()
            let behind = AsyncOperation("behind") {}
            let body = AsyncOperation("body") {
                await gate.wait()
                try await task.wait { try await behind.value }
            }
            queue.add(body)
            let barrier = queue.addBarrier("barrier") {}
            queue.add(behind)
            gate.open()
            await queue.waitUntilIdle()
            #expect("\(body.error as Any)".contains("waits for itself"), "\(body.error as Any)")
            #expect(barrier.isOnCycle && behind.isOnCycle)
        }
    }

    @Test(
        "Operations that a body runs come before a barrier that waits for the body",
        arguments: WaitingTask.childTasks, [WaitCall.queueRun, .contextRun])
    func childrenBeforeABarrier(task: WaitingTask, call: WaitCall) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let log = EventLog<String>()
            let gate = Gate()
            let body = AsyncOperation("body") { context in
                await gate.wait()
                for number in 0..<3 {
                    try await task.wait {
                        try await call.wait(for: AsyncOperation { log("part \(number)") }, queue, context)
                    }
                }
            }
            queue.add(body)
            queue.addBarrier("barrier") { log("barrier") }
            queue.add("behind") { log("behind") }
            gate.open()
            await queue.waitUntilIdle()
            #expect(log.events == ["part 0", "part 1", "part 2", "barrier", "behind"])
        }
    }

    // MARK: Groups

    @Test(
        "A body runs a group in a child task", arguments: WaitingTask.childTasks, [WaitCall.queueRun, .contextRun])
    func groupInAChildTask(task: WaitingTask, call: WaitCall) async throws {
        for groupWidth in [nil, 1] { try await groupInAChildTask(task, call, groupWidth) }
    }

    private func groupInAChildTask(_ task: WaitingTask, _ call: WaitCall, _ groupWidth: Int?) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let ran = Counter()
            let bodies = (0..<3).map { number in
                AsyncOperation("body \(number)") { context in
                    try await task.wait {
                        let children = (0..<5).map { _ in AsyncOperation { ran.increment() } }
                        let group = GroupOperation(children, maxConcurrentOperationCount: groupWidth)
                        if call == .queueRun { try await queue.run(group) } else { try await context.run(group) }
                    }
                }
            }
            queue.add(GroupOperation(bodies, maxConcurrentOperationCount: groupWidth))
            await queue.waitUntilIdle()
            #expect(ran.value == 15)
        }
    }

    @Test("A child of a group waits for its group", arguments: WaitingTask.allCases)
    func waitForTheOwnGroup(task: WaitingTask) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let itself = Guarded<GroupOperation?>(nil)
            let child = AsyncOperation("child") {
                try await task.wait {
                    let group = itself.withLock { $0 }
                    try await group?.value
                }
            }
            let group = GroupOperation("group", child)
            itself.withLock { $0 = group }
            queue.add(group)
            await queue.waitUntilIdle()
            itself.withLock { $0 = nil }
            #expect("\(child.error as Any)".contains("waits for itself"), "\(child.error as Any)")
            #expect(group.error != nil)
        }
    }

    @Test("Children of a group wait for later children", arguments: WaitingTask.allCases, [1, 4])
    func waitForASibling(task: WaitingTask, width: Int) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: width)
            let last = AsyncOperation("last") { await Task.yield() }
            let children = (0..<6).map { number in waiter("\(number)", task, .value, on: queue) { last } }
            try await queue.run(GroupOperation("group", children + [last]))
        }
    }

    /// The width of a group counts children that wait, so this is a deadlock, as with an exclusion.
    @Test("A child of a group of width 1 waits for a later child", arguments: WaitingTask.allCases)
    func waitForASiblingInANarrowGroup(task: WaitingTask) async throws {
        try await within {
            // With one permit, the first child starts before the last one.
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let last = AsyncOperation("last") {}
            let first = waiter("first", task, .value, on: queue) { last }
            let group = GroupOperation("group", first, last, maxConcurrentOperationCount: 1)
            queue.add(group)
            await queue.waitUntilIdle()
            #expect(last.error?.isDeadlock == true, "\(String(describing: last.error))")
            #expect(first.error != nil && group.error != nil)
        }
    }

    // MARK: Waits that the queue cannot see

    @Test("A continuation that an operation resumes is explained by the operation and by the report of a stall")
    func continuation() async throws {
        try await within {
            let clock = TestClock()
            let queue = AsyncOperationQueue(name: "narrow", maxConcurrentOperationCount: 1, clock: clock)
            let reports = EventLog<String>()
            queue.onStall(after: .seconds(4)) { reports($0.description) }
            let part = AsyncOperation("part") {}
            let bridge: @Sendable () async -> Void = {
                await withCheckedContinuation { continuation in
                    part.didFinish { _ in continuation.resume() }
                    queue.add(part)
                }
            }
            queue.add("page") {
                async let wait: Void = bridge()
                await wait
            }
            await eventually { part.state == .ready }
            #expect(
                part.explain().description
                    == "‘part’ is ready, and waits for its turn in ‘narrow’, a queue of width 1, where ‘page’ runs.")
            while reports.count == 0 {
                await clock.waitForSleepers(count: 1)
                clock.advance(by: .seconds(1))
                for _ in 0..<10 { await Task.yield() }
            }
            let report = reports.events[0]
            #expect(report.contains("‘page’ has been executing for"), "\(report)")
            #expect(report.contains("await the `value` of the other operation in the body itself or in a child task"))
            // A wider queue ends the stall.
            queue.maxConcurrentOperationCount = 2
            await queue.waitUntilIdle()
        }
    }

    @Test("A continuation in one child task does not keep the permit that a wait in another child task releases")
    func continuationBesideAWait() async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            for _ in 0..<20 {
                let part = AsyncOperation("part") { await Task.yield() }
                let bridge: @Sendable () async -> Void = {
                    await withCheckedContinuation { continuation in
                        part.didFinish { _ in continuation.resume() }
                    }
                }
                queue.add("page") {
                    async let hidden: Void = bridge()
                    async let visible: Void = queue.run(part)
                    _ = await (hidden, try visible)
                }
            }
            await queue.waitUntilIdle()
        }
    }

    // MARK: Everything at once

    @Test("Nested bodies with names, barriers and groups on one thread", arguments: WaitingTask.allCases, [1, 2])
    func everything(task: WaitingTask, width: Int) async throws {
        let names = (uniqueName("outer"), uniqueName("inner"), uniqueName("units"))
        try await within {
            let queue = AsyncOperationQueue(
                maxConcurrentOperationCount: width, executor: ThreadExecutor(threads: 1))
            let leaves = Counter()
            @Sendable func body(_ depth: Int) -> AsyncOperation<Void> {
                AsyncOperation("depth \(depth)") { context in
                    guard depth > 0 else { return leaves.increment() }
                    try await task.wait {
                        let group = GroupOperation(
                            [body(depth - 1), body(depth - 1)], maxConcurrentOperationCount: depth % 2 == 0 ? 1 : nil)
                        // Not a child, and so it must not need the names of this body.
                        try await queue.run(AsyncOperation("before \(depth)") {})
                        try await context.run(group)
                    }
                }.addCondition(.limited(names.2, to: 4))
            }
            for round in 0..<4 {
                let exclusion = Exclusion.mutuallyExclusive(round % 2 == 0 ? names.0 : names.1)
                queue.add(body(3).addCondition(exclusion))
                queue.addBarrier {}
                queue.add(body(2).addCondition(exclusion))
            }
            await queue.waitUntilIdle()
            #expect(leaves.value == 4 * 8 + 4 * 4)
        }
    }
}
