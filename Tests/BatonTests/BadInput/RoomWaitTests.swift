import BatonTesting
import Testing

@testable import Baton

/// Bodies that wait until a full queue has room for an operation, and cycles through such waits.
@Suite(.timeLimit(.minutes(10))) struct RoomWaitTests {
    private static func queue(_ name: String, _ misuses: EventLog<Misuse>) -> AsyncOperationQueue {
        AsyncOperationQueue(name: name) { misuses($0) }
    }

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
