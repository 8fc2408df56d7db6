import BatonTesting
import Testing

@testable import Baton

/// Bodies that wait until a queue is idle, and cycles through such waits.
@Suite(.timeLimit(.minutes(10))) struct IdlenessWaitTests {
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
        let text = "‘a’ waited for the idleness of ‘q’, one of whose operations waits for it: "
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

    @Test("The cycle of a wait for idleness is found through each holder of a limited name", arguments: [false, true])
    func idlenessBehindALimitedName(waiterIsFirst: Bool) async {
        let misuses = EventLog<Misuse>()
        let (p, q, r) = (Self.queue("p", misuses), Self.queue("q", misuses), Self.queue("r", misuses))
        let name = "name \(#function) \(waiterIsFirst)"
        let (first, second, both) = (Gate(), Gate(), Gate())
        // The third unit is free, and two are needed.
        let up = AsyncOperation("up") {}.addCondition(.limited(name, to: 3, weight: 2))
        let runner = AsyncOperation("runner") {
            (waiterIsFirst ? second : first).open()
            await both.wait()
            try await r.run(up)
        }
        let waiter = AsyncOperation("waiter") {
            (waiterIsFirst ? first : second).open()
            await both.wait()
            await q.waitUntilIdle()
        }
        for operation in [runner, waiter] { operation.addCondition(.limited(name, to: 3)) }
        (waiterIsFirst ? p : q).add(waiterIsFirst ? waiter : runner)
        await first.wait()
        (waiterIsFirst ? q : p).add(waiterIsFirst ? runner : waiter)
        await second.wait()
        both.open()
        _ = try? await runner.value
        _ = try? await waiter.value
        #expect([runner.ending, waiter.ending, up.ending] == ["success", "success", "success"])
        #expect(misuses.events.map { $0.operation?.name } == ["waiter"])
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
}
