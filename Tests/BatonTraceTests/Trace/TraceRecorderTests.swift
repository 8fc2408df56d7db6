import Baton
import BatonTesting
import Testing

@testable import BatonTrace

@Suite(.timeLimit(.minutes(10))) struct TraceRecorderTests {
    struct Oops: Error {}

    let clock = TestClock()
    let queue: AsyncOperationQueue

    init() { queue = AsyncOperationQueue(name: "q", clock: clock) }

    @Test func aGraphIsRecordedWithItsEdges() async throws {
        let recorder = TraceRecorder(of: queue)
        let a = AsyncOperation("a") { 1 }
        let b = a.then { $0 + 1 }
        b.name = "b"
        _ = try await queue.run(b)
        let trace = await recorder.trace()
        #expect(Set(trace.operations.map(\.name)) == ["a", "b"])
        #expect(trace.operations.allSatisfy { $0.outcome == .success && $0.started != nil })
        let last = try #require(trace.operations.first { $0.name == "b" })
        #expect(last.edges.map(\.source.name) == ["a"] && last.edges[0].kind == .input)
        #expect(trace.queueName == "q" && trace.eventCount > 6)
    }

    @Test func anUnfinishedOperationContinuesInTheNextTrace() async throws {
        let recorder = TraceRecorder(of: queue)
        let gate = Gate()
        let operation = AsyncOperation("slow") { await gate.wait() }
        queue.add(operation)
        await gate.waitForWaiters(count: 1)
        clock.advance(by: .seconds(3))
        let before = await recorder.trace()
        #expect(before.operations.map(\.outcome) == [nil])
        #expect(before.end == .seconds(3) && before.operations[0].runningTime(until: before.end) == .seconds(3))
        gate.open()
        try await operation.value
        let after = await recorder.trace()
        #expect(after.operations.map(\.outcome) == [.success])
        #expect(after.operations[0].added == before.operations[0].added)
    }

    @Test func eventsFromBeforeTheRecorderAreNotKnown() async throws {
        let gate = Gate()
        let operation = AsyncOperation("old") { await gate.wait() }
        queue.add(operation)
        await gate.waitForWaiters(count: 1)
        clock.advance(by: .seconds(1))
        let recorder = TraceRecorder(of: queue)
        gate.open()
        try await operation.value
        let trace = await recorder.trace()
        #expect(trace.start == .seconds(1))
        #expect(trace.operations.map(\.outcome) == [.success])
        #expect(trace.operations[0].added == nil && trace.operations[0].started == nil)
    }

    @Test func withoutEventsThereIsAnEmptyTrace() async {
        let trace = await TraceRecorder(of: queue).trace()
        #expect(trace.operations.isEmpty && trace.eventCount == 0)
    }

    @Test func childrenAndRetriesAreRecorded() async throws {
        let recorder = TraceRecorder(of: queue)
        let parent = AsyncOperation("parent") { context in
            try await context.run(
                AsyncOperation("child") { context in if context.attempt == 1 { throw Oops() } }
                    .retry(.immediately, attempts: 2))
        }
        try await queue.run(parent)
        let trace = await recorder.trace()
        let child = try #require(trace.operations.first { $0.name == "child" })
        #expect(child.parent?.name == "parent")
        #expect(child.attempts.count == 2 && child.retryCount == 1 && child.attempts[0].error != nil)
    }

    @Test("A recorder does not keep the queue alive")
    func itKeepsTheQueueNotAlive() async {
        weak var weakQueue: AsyncOperationQueue?
        let recorder: TraceRecorder
        do {
            let queue = AsyncOperationQueue()
            weakQueue = queue
            recorder = TraceRecorder(of: queue)
        }
        #expect(weakQueue == nil)
        #expect(await recorder.trace().operations.isEmpty)
    }

    @Test func onceTakenAnErrorIsReleased() async throws {
        final class Witness: Error, Sendable {}
        let recorder = TraceRecorder(of: queue)
        weak var witness: Witness?
        func fail() async {
            let error = Witness()
            witness = error
            let operation = AsyncOperation<Void>("bad") { throw error }
            queue.add(operation)
            try? await operation.value
        }
        await fail()
        await queue.waitUntilIdle()
        let trace = await recorder.trace()
        #expect(trace.operations[0].outcome == .failure && trace.operations[0].error != nil)
        // The task that has passed on the events may not have ended yet.
        while witness != nil { await Task.yield() }
    }

    @Test func manyReadersOfOneRecorderLoseNothing() async throws {
        let recorder = TraceRecorder(of: queue)
        let queue = queue
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<50 {
                        queue.add(AsyncOperation("one") {})
                        _ = await recorder.trace()
                    }
                }
            }
            try await group.waitForAll()
        }
        await queue.waitUntilIdle()
        let trace = await recorder.trace()
        #expect(trace.operations.count == 200)
        #expect(trace.operations.allSatisfy { $0.outcome == .success })
    }
}
