import BatonTesting
import Testing

@testable import Baton

/// Tests of cycles through bodies that wait.
@Suite(.timeLimit(.minutes(10))) struct EndlessWaitTests {
    /// Returns a description of the error that the wait of a body threw, independently of the body's outcome.
    private func thrown(_ wait: @escaping @Sendable () async throws(OperationError) -> Void) async -> String {
        do throws(OperationError) {
            try await wait()
            return "nothing"
        } catch { return error.cycleNames.map { "cycle \($0.joined(separator: " "))" } ?? error.inShort }
    }

    @Test(arguments: [1, 2]) func aChildThatDependsOnItsParent(width: Int) {
        let stage = TestQueue(width: width)
        let child = stage.noting("child")
        let parent = AsyncOperation("parent") { context in
            await self.thrown { () throws(OperationError) in try await context.run(child) }
        }
        child.addDependency(parent)
        stage.run(parent, stage.noting("beside"))
        #expect(try! parent.result?.get() == "cycle child parent")
        #expect(child.failure?.cycleNames == ["child", "parent"])
        #expect(stage.ran == ["beside"])
    }

    @Test func aGrandchildThatDependsOnItsGrandparent() {
        let stage = TestQueue(width: 1)
        let grandchild = stage.noting("grandchild")
        let child = AsyncOperation("child") { context in
            await self.thrown { () throws(OperationError) in try await context.run(grandchild) }
        }
        let parent = AsyncOperation("parent") { context in try await context.run(child) }
        grandchild.addDependency(parent)
        stage.run(parent)
        #expect(try! parent.result?.get() == "cycle child grandchild parent")
        #expect(grandchild.failure?.cycleNames == ["child", "grandchild", "parent"])
    }

    @Test func aBodyThatAwaitsItsOwnValue() {
        let stage = TestQueue(width: 1)
        let itself = AsyncOperation("itself") { context in
            let own = context.operation as! AsyncOperation<String>
            return await self.thrown { () throws(OperationError) in _ = try await own.value }
        }
        stage.run(itself, stage.noting("beside"))
        #expect(try! itself.result?.get() == "cycle itself")
        #expect(stage.ran == ["beside"])
    }

    @Test func aBodyThatRunsItself() {
        let stage = TestQueue(width: 1)
        let itself = AsyncOperation("itself") { context in
            let own = context.operation as! AsyncOperation<String>
            return await self.thrown { () throws(OperationError) in _ = try await context.run(own) }
        }
        stage.run(itself)
        #expect(try! itself.result?.get() == "cycle itself")
    }

    @Test(arguments: [1, 2]) func twoBodiesThatAwaitEachOther(width: Int) {
        let stage = TestQueue(width: width)
        let others = EventLog<AsyncOperation<String>>()
        let operations = (0..<2).map { number in
            AsyncOperation("\(number)") {
                let other = others.events[1 - number]
                return await self.thrown { () throws(OperationError) in _ = try await other.value }
            }
        }
        for operation in operations { others(operation) }
        stage.run(operations[0], operations[1])
        let answers = operations.map { try! $0.result?.get() }
        #expect(Set(answers) == ["nothing", "cycle 0 1"])
    }

    @Test("If bodies await one another on a cycle, at least one wait fails under every schedule")
    func bodiesOnACycle() async throws {
        try await exploring(schedules: 200) { scheduler in
            let count = scheduler.random(in: 2...4)
            let queue = AsyncOperationQueue(
                maxConcurrentOperationCount: scheduler.random(in: 1...4), executor: scheduler)
            let others = EventLog<AsyncOperation<String>>()
            let operations = (0..<count).map { number in
                AsyncOperation("\(number)") {
                    let other = others.events[(number + 1) % count]
                    return await self.thrown { () throws(OperationError) in _ = try await other.value }
                }
            }
            for operation in operations { others(operation) }
            queue.add(operations)
            await queue.waitUntilIdle()
            let refused = operations.filter { (try? $0.result?.get())?.hasPrefix("cycle") == true }
            try #require(refused.count >= 1)
        }
    }

    @Test("A body that awaits an operation which depends on it gets an error")
    func awaitsItsDependent() {
        let stage = TestQueue(width: 1)
        let later = AsyncOperation("later") { 1 }
        let body = AsyncOperation("body") {
            await self.thrown { () throws(OperationError) in _ = try await later.value }
        }
        later.addDependency(body)
        stage.run(body, later)
        #expect(try! body.result?.get() == "cycle body later")
        #expect(later.failure?.cycleNames == ["body", "later"])
    }

    @Test("A cycle through a body that waits says how to do without the wait", arguments: [true, false])
    func wayOutOfCyclesThroughBodies(runsLater: Bool) {
        let stage = TestQueue(width: 1)
        let later = AsyncOperation("later") { 1 }
        let body = AsyncOperation("body") { context in
            _ = try await runsLater ? context.run(later) : later.value
        }
        later.addDependency(body)
        if runsLater { stage.run(body) } else { stage.run(body, later) }
        let text = "\(later.error!)"
        #expect(text.contains("Do not await ‘later’ in the body of ‘body’"))
        #expect(text.contains("an operation that depends on both"))
        #expect(!text.contains("Remove one of these dependencies"))
    }

    @Test("A cycle through a group says to take the child out")
    func wayOutOfCyclesThroughGroups() {
        let stage = TestQueue()
        let child = stage.noting("child")
        let group = GroupOperation("group", child)
        child.addDependency(group)
        stage.run(group)
        #expect("\(child.error!)".contains("Take ‘child’ out of the group ‘group’, or remove a dependency"))
    }

    @Test("A cycle of dependencies says to remove one")
    func wayOutOfCyclesOfDependencies() {
        let stage = TestQueue()
        let (one, other) = (stage.noting("one"), stage.noting("other"))
        one.addDependency(other)
        other.addDependency(one)
        stage.run(one, other)
        #expect("\(one.error!)".hasSuffix(". Remove one of these dependencies"))
    }

    @Test("A cycle of dependencies in an ordered group says to change the order as well")
    func wayOutOfCyclesInOrderedGroups() {
        let stage = TestQueue()
        let (one, other) = (stage.noting("one"), stage.noting("other"))
        one.addDependency(other)
        stage.run(GroupOperation(.ordered, one, other))
        #expect("\(one.error!)".hasSuffix(". Remove one of these dependencies, or change the order of the group"))
    }

    @Test(
        "A cycle through a key says to give one of the operations another key",
        arguments: [UniquenessPolicy.join, .replace])
    func wayOutOfCyclesThroughKeys(policy: UniquenessPolicy) {
        let stage = TestQueue()
        let child = stage.noting("child").unique(by: "\(#function) \(policy)", policy: policy)
        let parent = AsyncOperation("parent") { context in try await context.run(child) }
            .unique(by: "\(#function) \(policy)")
        stage.run(parent)
        let advice = ". ‘child’ has the same key as ‘parent’, and waits for it: give one of them another key"
        #expect("\(child.error!)".hasSuffix(advice))
    }

    @Test("An add can close a cycle through a body that already waits")
    func dependentAddedLater() {
        let stage = TestQueue(width: 1)
        let later = AsyncOperation("later") { 1 }
        let body = AsyncOperation("body") {
            await self.thrown { () throws(OperationError) in _ = try await later.value }
        }
        later.addDependency(body)
        stage.run(body)
        #expect(body.ending == "executing")
        stage.run(later)
        #expect(try! body.result?.get() == "cycle body later")
    }

    @Test("Calling `waitUntilIdle` of its own queue in a body is misuse")
    func waitUntilIdleInABody() {
        let stage = TestQueue(width: 1)
        let body = AsyncOperation("body") { [queue = stage.queue] in await queue.waitUntilIdle() }
        stage.run(body)
        #expect(body.ending == "success")
        #expect(stage.misuseKinds == [.waitedForItsOwnQueue("waitUntilIdle")])
        #expect(stage.misuses.events.map(\.operation) == [body.reference])
    }

    @Test("Calling `waitUntilIdle` of its own queue in a handler is misuse")
    func waitUntilIdleInAHandler() {
        let stage = TestQueue(width: 1)
        let operation = stage.noting("operation")
        operation.didFinish { [queue = stage.queue, log = stage.log] _ in
            await queue.waitUntilIdle()
            log("handler")
        }
        stage.run(operation)
        #expect(stage.ran == ["operation", "handler"])
        #expect(stage.misuseKinds == [.waitedForItsOwnQueue("waitUntilIdle")])
    }

    @Test("A body may call `waitUntilIdle` of another queue")
    func waitUntilIdleOfAnotherQueue() {
        let stage = TestQueue(width: 1)
        let other = TestQueue(width: 1, on: stage.steps)
        let gate = Gate()
        other.run(other.waiting("other", at: gate))
        let body = AsyncOperation("body") { await other.queue.waitUntilIdle() }
        stage.run(body)
        #expect(body.ending == "executing")
        gate.open()
        stage.steps.runAll()
        #expect(body.ending == "success")
        #expect(stage.misuseKinds == [] && other.misuseKinds == [])
    }

    private static func queue(_ name: String, _ misuses: EventLog<Misuse>) -> AsyncOperationQueue {
        AsyncOperationQueue(name: name) { misuses($0) }
    }

    /// The cycles of the path that a misuse names.
    private func cycles(_ misuses: EventLog<Misuse>) -> [[String]] {
        misuses.events.map { misuse in
            if case .idlenessCycle(let path) = misuse.kind { path.map(\.name) } else { ["\(misuse)"] }
        }
    }

    @Test("A wait for the idleness of a queue ends if an operation there waits for the body")
    func idlenessCycle() async {
        let misuses = EventLog<Misuse>()
        let (p, q) = (Self.queue("p", misuses), Self.queue("q", misuses))
        let began = Gate()
        let a = AsyncOperation("a") {
            await began.wait()
            await q.waitUntilIdle()
            return "went on"
        }
        let b = AsyncOperation("b") {
            began.open()
            return try await a.value
        }
        // A body that waits for a queue which is busy for another reason goes on waiting.
        let (r, gate) = (Self.queue("r", misuses), Gate())
        r.add(AsyncOperation("c") { await gate.wait() })
        let d = AsyncOperation("d") { await r.waitUntilIdle() }
        p.add(a, d)
        q.add(b)
        #expect(try! await b.value == "went on")
        #expect(cycles(misuses) == [["idleness of ‘q’", "b", "a"]])
        let text = "‘a’: waited for the idleness of ‘q’, one of whose operations waits for it: "
        #expect("\(misuses.events[0])".hasPrefix(text))
        #expect(d.state == .executing)
        gate.open()
        _ = try? await d.value
        #expect(misuses.events.count == 1)
    }

    @Test("Two bodies that wait for the idleness of each other's queue go on")
    func idlenessOfBoth() async {
        let misuses = EventLog<Misuse>()
        let (p, q) = (Self.queue("p", misuses), Self.queue("q", misuses))
        let both = Gate()
        p.add(
            AsyncOperation("a") {
                both.open()
                await q.waitUntilIdle()
            })
        q.add(
            AsyncOperation("b") {
                await both.wait()
                await p.drain()
            })
        await p.waitUntilIdle()
        await q.waitUntilIdle()
        #expect(misuses.events.count >= 1)
        for cycle in cycles(misuses) { #expect(Set(cycle) == ["a", "b", "idleness of ‘p’", "idleness of ‘q’"]) }
    }

    @Test("An operation that was added after a body began to wait can close a cycle with the wait")
    func idlenessAndALateDependent() async {
        let misuses = EventLog<Misuse>()
        let (p, q) = (Self.queue("p", misuses), Self.queue("q", misuses))
        let (began, gate) = (Gate(), Gate())
        q.add(AsyncOperation("first") { await gate.wait() })
        let body = AsyncOperation("body") {
            began.open()
            await q.waitUntilIdle()
        }
        p.add(body)
        await began.wait()
        let late = AsyncOperation("late") {}
        late.addDependency(body)
        q.add(late)
        gate.open()
        _ = try? await late.value
        #expect(late.ending == "success")
        #expect(cycles(misuses) == [["idleness of ‘q’", "late", "body"]])
    }

    @Test("A wait for the idleness of a queue ends if an operation there waits for an exclusion of the body")
    func idlenessBehindAnExclusion() async {
        let misuses = EventLog<Misuse>()
        let (p, q) = (Self.queue("p", misuses), Self.queue("q", misuses))
        let kitchen = "kitchen \(#function)"
        let (holds, added) = (Gate(), Gate())
        let body = AsyncOperation("body") {
            holds.open()
            await added.wait()
            await q.waitUntilIdle()
            return "went on"
        }
        body.addCondition(.mutuallyExclusive(kitchen))
        p.add(body)
        await holds.wait()
        let waiting = AsyncOperation("waiting") {}
        waiting.addCondition(.mutuallyExclusive(kitchen))
        q.add(waiting)
        added.open()
        #expect(try! await body.value == "went on")
        #expect(cycles(misuses) == [["idleness of ‘q’", "waiting", "body"]])
        await q.waitUntilIdle()
        #expect(waiting.ending == "success")
    }

    @Test("A wait for idleness goes on if another holder of a limited exclusion can make room")
    func idlenessBehindALimit() async {
        let misuses = EventLog<Misuse>()
        let (p, q, r) = (Self.queue("p", misuses), Self.queue("q", misuses), Self.queue("r", misuses))
        let ovens = "ovens \(#function)"
        let gate = Gate()
        let (bodyHolds, otherHolds, added, stopped) = (Gate(), Gate(), Gate(), Gate())
        let other = AsyncOperation("other") {
            otherHolds.open()
            await gate.wait()
        }
        let body = AsyncOperation("body") {
            bodyHolds.open()
            await added.wait()
            await q.waitUntilIdle()
        }
        let waiting = AsyncOperation("waiting") {}
        for operation in [other, body, waiting] { operation.addCondition(.limited(ovens, to: 2)) }
        r.add(other)
        p.add(body)
        await bodyHolds.wait()
        await otherHolds.wait()
        q.add(waiting)
        added.open()
        // A second wait, which is in a deadlock, shows that a search has been made after the first one began.
        let stuck = AsyncOperation("stuck") {
            await q.waitUntilIdle()
            stopped.open()
        }
        p.add(stuck)
        let needsStuck = AsyncOperation("needs stuck") {}
        needsStuck.addDependency(stuck)
        q.add(needsStuck)
        await stopped.wait()
        #expect(misuses.events.map { $0.operation?.name } == ["stuck"])
        gate.open()
        await p.waitUntilIdle()
        #expect(misuses.events.count == 1)
    }

    @Test("An operation that a body waits for goes ahead of a claim that waits for that body")
    func idlenessBehindAWaitQueue() async {
        let misuses = EventLog<Misuse>()
        let (p, q) = (Self.queue("p", misuses), Self.queue("q", misuses))
        let file = "file \(#function)"
        let (holds, added) = (Gate(), Gate())
        let body = AsyncOperation("body") {
            holds.open()
            await added.wait()
            await q.waitUntilIdle()
        }
        body.addCondition(.mutuallyExclusive(file, mode: .shared))
        p.add(body)
        await holds.wait()
        let writer = AsyncOperation("writer") {}.addCondition(.mutuallyExclusive(file))
        p.add(writer)
        let reader = AsyncOperation("reader") {}.addCondition(.mutuallyExclusive(file, mode: .shared))
        q.add(reader)
        added.open()
        await p.waitUntilIdle()
        #expect([body.ending, writer.ending, reader.ending] == ["success", "success", "success"])
        #expect(misuses.events.isEmpty)
    }

    @Test("All deadlocks among many waits for one queue end together")
    func manyWaitsForOneQueue() async {
        let misuses = EventLog<Misuse>()
        let (p, q) = (Self.queue("p", misuses), Self.queue("q", misuses))
        p.maxConcurrentOperationCount = 1_000
        let gate = Gate()
        let all = AsyncOperation("all") {}
        let bodies = (0..<100).map { number in
            AsyncOperation("body \(number)") {
                await gate.wait()
                await q.waitUntilIdle()
            }
        }
        for body in bodies { all.addDependency(body) }
        q.add(all)
        p.add(bodies)
        gate.open()
        await p.waitUntilIdle()
        await q.waitUntilIdle()
        #expect(all.ending == "success")
        #expect(Set(misuses.events.map { $0.operation?.name }).count == bodies.count)
        for path in cycles(misuses) {
            #expect(path.count == 3 && path[0] == "idleness of ‘q’" && path[1] == "all", "\(path)")
        }
    }

    // MARK: Room

    @Test("A body whose queues feed each other is admitted beyond the limit")
    func roomInEachOthersQueue() async {
        let misuses = EventLog<Misuse>()
        let (p, q) = (Self.queue("p", misuses), Self.queue("q", misuses))
        q.maxConcurrentOperationCount = 1
        q.maxWaitingOperationCount = 1
        let late = AsyncOperation("late") {}
        let body = AsyncOperation("body") { try await q.submit(late) }
        let waiting = AsyncOperation("waiting") {}
        waiting.addDependency(body)
        q.add(waiting)
        p.add(body)
        await p.waitUntilIdle()
        await q.waitUntilIdle()
        #expect([body.ending, late.ending, waiting.ending] == ["success", "success", "success"])
        #expect(misuses.events.isEmpty)
    }

    @Test("A submission that waits for another reason is not admitted beyond the limit")
    func roomBehindAGate() async {
        let misuses = EventLog<Misuse>()
        let (p, q) = (Self.queue("p", misuses), Self.queue("q", misuses))
        let (gate, open) = (Gate(), AsyncOperation("gate") {})
        q.maxWaitingOperationCount = 2
        let late = AsyncOperation("late") {}
        let body = AsyncOperation("body") { try await q.submit(late) }
        // One of the two operations in the way waits for the body, and the other one for a gate that nobody has added.
        let waiting = AsyncOperation("waiting") {}
        waiting.addDependency(body)
        let behindGate = AsyncOperation("behind gate") {}
        behindGate.addDependency(open)
        q.add(waiting, behindGate)
        let stuck = AsyncOperation("stuck") {
            await q.waitUntilIdle()
            gate.open()
        }
        let needsStuck = AsyncOperation("needs stuck") {}
        needsStuck.addDependency(stuck)
        p.add(body)
        p.add(stuck)
        q.add(needsStuck)
        await gate.wait()
        #expect(late.state == .created && body.state == .executing)
        p.add(open)
        await p.waitUntilIdle()
        await q.waitUntilIdle()
        #expect([body.ending, late.ending, behindGate.ending] == ["success", "success", "success"])
        #expect(misuses.events.map { $0.operation?.name } == ["stuck"])
    }

    @Test("An operation that an added one depends on is admitted at once", arguments: [false, true])
    func submissionOfADependency(inABody: Bool) async throws {
        let misuses = EventLog<Misuse>()
        let (p, q) = (Self.queue("p", misuses), Self.queue("q", misuses))
        q.maxWaitingOperationCount = 1
        let (first, middle, last) = (AsyncOperation("first") {}, AsyncOperation("middle") {}, AsyncOperation("last") {})
        last.addDependency(middle)
        middle.addDependency(first)
        @Sendable func submit() async throws {
            for operation in [last, middle, first] { try await q.submit(operation) }
        }
        if inABody { try await p.run(AsyncOperation("body") { try await submit() }) } else { try await submit() }
        await q.waitUntilIdle()
        #expect([first.ending, middle.ending, last.ending] == ["success", "success", "success"])
        #expect(misuses.events.isEmpty)
    }

    @Test("A submission that an operation which was added later depends on is admitted beyond the limit")
    func submissionOfALateDependency() async {
        let misuses = EventLog<Misuse>()
        let (p, q) = (Self.queue("p", misuses), Self.queue("q", misuses))
        q.maxWaitingOperationCount = 1
        let (first, dependent) = (AsyncOperation("first") {}, AsyncOperation("dependent") {})
        let filler = AsyncOperation("filler") {}
        dependent.addDependency(first)
        filler.addDependency(dependent)
        q.add(filler)
        let began = Gate()
        p.add(
            AsyncOperation("body") {
                began.open()
                try await q.submit(first)
            })
        await began.wait()
        q.add(dependent)
        await p.waitUntilIdle()
        await q.waitUntilIdle()
        #expect([first.ending, dependent.ending, filler.ending] == ["success", "success", "success"])
    }

    @Test("All submissions of one deadlock are admitted together")
    func manySubmissions() async {
        let misuses = EventLog<Misuse>()
        let (p, q) = (Self.queue("p", misuses), Self.queue("q", misuses))
        p.maxConcurrentOperationCount = 1_000
        q.maxWaitingOperationCount = 1
        let late = (0..<100).map { AsyncOperation("late \($0)") {} }
        let all = AsyncOperation("all") {}
        let bodies = late.map { operation in AsyncOperation { try await q.submit(operation) } }
        for body in bodies { all.addDependency(body) }
        q.add(all)
        p.add(bodies)
        await p.waitUntilIdle()
        await q.waitUntilIdle()
        #expect(late.allSatisfy { $0.ending == "success" } && all.ending == "success")
        #expect(misuses.events.isEmpty)
    }

    @Test("A body that is cancelled while a queue is full does not submit")
    func cancelledWhileTheQueueIsFull() async {
        let misuses = EventLog<Misuse>()
        let (p, q) = (Self.queue("p", misuses), Self.queue("q", misuses))
        q.maxWaitingOperationCount = 1
        let (open, late) = (AsyncOperation("gate") {}, AsyncOperation("late") {})
        let behindGate = AsyncOperation("behind gate") {}
        behindGate.addDependency(open)
        q.add(behindGate)
        let began = Gate()
        let body = AsyncOperation("body") {
            began.open()
            try await q.submit(late)
        }
        p.add(body)
        await began.wait()
        body.cancel()
        await p.waitUntilIdle()
        #expect([body.ending, late.ending] == ["cancelled on request", "cancelled with the task that awaited it"])
        q.add(open)
        await q.waitUntilIdle()
    }
}
