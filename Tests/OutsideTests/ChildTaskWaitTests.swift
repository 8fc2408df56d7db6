import Baton
import BatonTesting
import Testing

/// A body may wait in a child task with everything around it that decides when operations run: exclusions, barriers,
/// groups, suspended queues and shutdowns. The permit is lent, cycles and deadlocks are found, and explanations and
/// reports of stalls say what to do.
@Suite("Waits in child tasks of a body, with what decides when operations run", .timeLimit(.minutes(10)))
struct ChildTaskWaitTests {
    /// The task of a body in which it waits.
    enum Place: CaseIterable, Sendable {
        case body, asyncLet, taskGroup, discardingTaskGroup, nested, cancellationHandler

        static var childTasks: [Place] { allCases.filter { $0 != .body } }

        func wait(_ wait: @escaping @Sendable () async throws -> Void) async throws {
            switch self {
            case .body: try await wait()
            case .asyncLet:
                async let result: Void = wait()
                try await result
            case .taskGroup:
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await wait() }
                    try await group.waitForAll()
                }
            case .discardingTaskGroup:
                try await withThrowingDiscardingTaskGroup { group in group.addTask { try await wait() } }
            case .nested:
                async let outer: Void = withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        async let inner: Void = wait()
                        try await inner
                    }
                    try await group.waitForAll()
                }
                try await outer
            case .cancellationHandler:
                async let result: Void = withTaskCancellationHandler {
                    try await wait()
                } onCancel: {
                }
                try await result
            }
        }
    }

    /// The call by which a body waits for an operation.
    enum Call: CaseIterable, Sendable {
        case value, queueRun, contextRun

        func wait(for operation: AsyncOperation<Void>, _ queue: AsyncOperationQueue, _ context: OperationContext)
            async throws
        {
            switch self {
            case .value:
                if operation.state == .created { queue.add(operation) }
                try await operation.value
            case .queueRun: try await queue.run(operation)
            case .contextRun: try await context.run(operation)
            }
        }
    }

    /// Returns a name that no other test uses, because exclusions belong to the whole process.
    private func unused(_ name: String) -> String { "\(name) \(UInt64.random(in: 0...(.max)))" }

    /// Makes an operation whose body waits for another one.
    private func waiter(
        _ name: String, _ place: Place, _ call: Call, on queue: AsyncOperationQueue,
        for other: @escaping @Sendable () -> AsyncOperation<Void>
    ) -> AsyncOperation<Void> {
        AsyncOperation(name) { context in
            try await place.wait { try await call.wait(for: other(), queue, context) }
        }
    }

    private func isDeadlock(_ error: OperationError?) -> Bool {
        if case .exclusionDeadlock = error { true } else { false }
    }

    // MARK: Exclusions

    @Test(
        "A child takes the exclusion of the body that runs it in a child task",
        arguments: Place.allCases, [false, true])
    func exclusionOfTheBody(place: Place, isLimited: Bool) async throws {
        let name = unused("own")
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let exclusion: Exclusion = isLimited ? .limited(name, to: 1) : .mutuallyExclusive(name)
            let bodies = (0..<3).map { number in
                waiter("\(number)", place, .contextRun, on: queue) {
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
        arguments: Place.allCases, [Call.value, .queueRun])
    func deadlockWithItself(place: Place, call: Call) async throws {
        let name = unused("own")
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let part = AsyncOperation("part") {}.addCondition(.mutuallyExclusive(name))
            let body = waiter("body", place, call, on: queue) { part }.addCondition(.mutuallyExclusive(name))
            queue.add(body)
            await queue.waitUntilIdle()
            #expect(isDeadlock(part.error), "\(String(describing: part.error))")
            #expect(body.error != nil)
            #expect("\(part.error as Any)".contains("‘body’"))
        }
    }

    @Test(
        "Two bodies whose child tasks need the exclusion of the other body",
        arguments: Place.allCases, Call.allCases)
    func crossedExclusions(place: Place, call: Call) async throws {
        for width in [1, 4] { try await crossedExclusions(place, call, width) }
    }

    private func crossedExclusions(_ place: Place, _ call: Call, _ width: Int) async throws {
        let names = [unused("a"), unused("b")]
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: width)
            let meeting = Meeting(of: 2)
            let bodies = (0..<2).map { number in
                AsyncOperation("body \(number)") { context in
                    try await meeting.join()
                    try await place.wait {
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
        arguments: Place.childTasks, [Call.value, .queueRun])
    func limitedNameThatIsReleased(place: Place, call: Call) async throws {
        let name = unused("limited")
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 3)
            let gate = Gate()
            let holder = AsyncOperation("holder") { await gate.wait() }.addCondition(.limited(name, to: 2))
            queue.add(holder)
            await gate.waitForWaiters(count: 1)
            let part = AsyncOperation("part") {}.addCondition(.limited(name, to: 2))
            let body = waiter("body", place, call, on: queue) { part }.addCondition(.limited(name, to: 2))
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
        arguments: Place.childTasks, [Call.value, .queueRun])
    func limitedNameThatNobodyReleases(place: Place, call: Call) async throws {
        let name = unused("limited")
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 2)
            let parts = (0..<3).map { AsyncOperation("part \($0)") {}.addCondition(.limited(name, to: 3)) }
            let meeting = Meeting(of: 3)
            let bodies = parts.enumerated().map { number, part in
                AsyncOperation("body \(number)") { context in
                    try await meeting.join()
                    try await place.wait { try await call.wait(for: part, queue, context) }
                }.addCondition(.limited(name, to: 3))
            }
            queue.add(bodies)
            await queue.waitUntilIdle()
            // Several cycles share the holders. Two threads that find two of them at the same time end one part each.
            let ended = parts.count { isDeadlock($0.error) }
            #expect(ended == 1 || ended == 2, "\(parts.map { $0.error as Any })")
            #expect(bodies.count { $0.error == nil } == 3 - ended)
        }
    }

    // MARK: Cycles and barriers

    @Test("Bodies that wait for each other in different tasks", arguments: Place.allCases, Place.childTasks)
    func cycleOfBodies(first: Place, second: Place) async throws {
        for width in [1, 4] { try await cycleOfBodies(first, second, width) }
    }

    private func cycleOfBodies(_ first: Place, _ second: Place, _ width: Int) async throws {
        try await within {
            let queues = [
                AsyncOperationQueue(maxConcurrentOperationCount: width),
                AsyncOperationQueue(maxConcurrentOperationCount: width),
            ]
            let places = [first, second, .asyncLet]
            let made = Guarded<[AsyncOperation<Void>]>([])
            let bodies = places.enumerated().map { number, place in
                waiter("body \(number)", place, .value, on: queues[0]) {
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

    @Test("A body waits for an operation behind a barrier that waits for the body", arguments: Place.allCases, [1, 4])
    func cycleThroughABarrier(place: Place, width: Int) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: width)
            let gate = Gate()
            let behind = AsyncOperation("behind") {}
            let body = AsyncOperation("body") {
                await gate.wait()
                try await place.wait { try await behind.value }
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
        arguments: Place.childTasks, [Call.queueRun, .contextRun])
    func childrenBeforeABarrier(place: Place, call: Call) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let log = EventLog<String>()
            let gate = Gate()
            let body = AsyncOperation("body") { context in
                await gate.wait()
                for number in 0..<3 {
                    try await place.wait {
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
        "A body runs a group in a child task", arguments: Place.childTasks, [Call.queueRun, .contextRun])
    func groupInAChildTask(place: Place, call: Call) async throws {
        for groupWidth in [nil, 1] { try await groupInAChildTask(place, call, groupWidth) }
    }

    private func groupInAChildTask(_ place: Place, _ call: Call, _ groupWidth: Int?) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let ran = Counter()
            let bodies = (0..<3).map { number in
                AsyncOperation("body \(number)") { context in
                    try await place.wait {
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

    @Test("A child of a group waits for its group", arguments: Place.allCases)
    func waitForTheOwnGroup(place: Place) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let itself = Guarded<GroupOperation?>(nil)
            let child = AsyncOperation("child") {
                try await place.wait {
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

    @Test("Children of a group wait for later children", arguments: Place.allCases, [1, 4])
    func waitForASibling(place: Place, width: Int) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: width)
            let last = AsyncOperation("last") { await Task.yield() }
            let children = (0..<6).map { number in waiter("\(number)", place, .value, on: queue) { last } }
            try await queue.run(GroupOperation("group", children + [last]))
        }
    }

    /// The width of a group counts children that wait, so this is a deadlock, as with an exclusion.
    @Test("A child of a group of width 1 waits for a later child", arguments: Place.allCases)
    func waitForASiblingInANarrowGroup(place: Place) async throws {
        try await within {
            // With one permit, the first child starts before the last one.
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let last = AsyncOperation("last") {}
            let first = waiter("first", place, .value, on: queue) { last }
            let group = GroupOperation("group", first, last, maxConcurrentOperationCount: 1)
            queue.add(group)
            await queue.waitUntilIdle()
            #expect(isDeadlock(last.error), "\(String(describing: last.error))")
            #expect(first.error != nil && group.error != nil)
        }
    }

    // MARK: Suspended queues

    @Test("The children of a body start while the queue is suspended", arguments: Place.allCases)
    func childrenInASuspendedQueue(place: Place) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let gate = Gate()
            let body = AsyncOperation("body") { context in
                await gate.wait()
                try await place.wait { try await context.run(AsyncOperation("part") {}) }
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
        arguments: Place.allCases, [Call.value, .queueRun])
    func othersInASuspendedQueue(place: Place, call: Call) async throws {
        try await within {
            let queue = AsyncOperationQueue(name: "paused", maxConcurrentOperationCount: 1)
            let gate = Gate()
            let part = AsyncOperation("part") {}
            let body = AsyncOperation("body") { context in
                await gate.wait()
                try await place.wait { try await call.wait(for: part, queue, context) }
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

    @Test("A wait for an operation of a suspended queue says what to do", arguments: Place.childTasks)
    func waitForASuspendedQueue(place: Place) async throws {
        try await within {
            let clock = TestClock()
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1, clock: clock)
            let other = AsyncOperationQueue(name: "other", isSuspended: true)
            let awaited = other.add("awaited") {}
            let reports = EventLog<String>()
            queue.onStall(after: .seconds(4)) { reports($0.description) }
            let body = waiter("body", place, .value, on: queue) { awaited }
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

    // MARK: Cancels and shutdowns

    @Test(
        "Cancelling a body cancels what it runs in a child task", arguments: Place.childTasks,
        [Call.queueRun, .contextRun])
    func cancelledBody(place: Place, call: Call) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let gate = Gate()
            let part = AsyncOperation("part") { try await gate.waitUnlessCancelled() }
            let body = waiter("body", place, call, on: queue) { part }
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
        arguments: Place.childTasks, [Call.queueRun, .contextRun])
    func drain(place: Place, call: Call) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let gate = Gate()
            let ran = Counter()
            let bodies = (0..<3).map { number in
                AsyncOperation("body \(number)") { context in
                    for _ in 0..<2 {
                        try await place.wait {
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
        arguments: Place.childTasks, Call.allCases)
    func shutdown(place: Place, call: Call) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let gate = Gate()
            let bodies = (0..<3).map { number in
                waiter("body \(number)", place, call, on: queue) {
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

    @Test("A child task of a body does not shut down or drain its own queue", arguments: Place.allCases, [false, true])
    func shutdownOfTheOwnQueue(place: Place, drains: Bool) async throws {
        try await within {
            let misuses = EventLog<String>()
            let queue = AsyncOperationQueue(onMisuse: { misuses($0.description) })
            queue.add("body") {
                try await place.wait {
                    if drains { await queue.drain() } else { await queue.shutdown(within: .zero) }
                }
            }
            await queue.waitUntilIdle()
            #expect(misuses.count == 1)
            #expect(!queue.isShuttingDown)
        }
    }

    @Test(
        "A child task of a body shuts down another queue, whose body waits in a child task", arguments: Place.childTasks
    )
    func shutdownOfAnotherQueue(place: Place) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let other = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let begun = Gate()
            // Each body needs the permit of the other queue.
            let inOther = other.add("in other") {
                begun.open()
                try await place.wait { try await queue.run(AsyncOperation("part") {}) }
            }
            await begun.wait()
            let body = queue.add("body") { try await place.wait { await other.drain() } }
            try await body.value
            try await inOther.value
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

    @Test("Nested bodies with names, barriers and groups on one thread", arguments: Place.allCases, [1, 2])
    func everything(place: Place, width: Int) async throws {
        let names = (unused("outer"), unused("inner"), unused("units"))
        try await within {
            let queue = AsyncOperationQueue(
                maxConcurrentOperationCount: width, executor: ThreadExecutor(threads: 1))
            let leaves = Counter()
            @Sendable func body(_ depth: Int) -> AsyncOperation<Void> {
                AsyncOperation("depth \(depth)") { context in
                    guard depth > 0 else { return leaves.increment() }
                    try await place.wait {
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

/// Bodies that wait until all of them have begun. The wait releases their permits, so that all can begin.
private final class Meeting: Sendable {
    private let gate = Gate()
    private let missing: Guarded<Int>
    private let opening: AsyncOperation<Void>

    init(of count: Int) {
        missing = Guarded(count)
        opening = AsyncOperationQueue().add { [gate] in await gate.wait() }
    }

    func join() async throws {
        let isLast = missing.withLock { count in
            count -= 1
            return count == 0
        }
        if isLast { gate.open() }
        try await opening.value
    }
}
