import BatonTesting
import Testing

@testable import Baton

/// Durations that mean "no limit", and that would overflow if they were added to a time.
@Suite(.timeLimit(.minutes(10))) struct EndlessDurationTests {
    private static let endless: [Duration] = [.seconds(Int64.max), Duration(attoseconds: .max)]

    @Test(arguments: endless) func aLimitOfThemNeverEndsAnything(limit: Duration) {
        let stage = TestQueue()
        let gate = Gate()
        let operation = stage.waiting("patient", at: gate).timeout(limit).timeout(waiting: limit)
            .retry(.immediately, attempts: 2, deadline: limit)
        stage.run(operation)
        stage.advance(by: .seconds(1_000_000))
        gate.open()
        stage.steps.runAll()
        #expect(operation.ending == "success")
    }

    @Test(arguments: endless) func aDelayOfThemCanBeCancelled(delay: Duration) {
        let stage = TestQueue()
        let operations: [AnyOperation] = [
            AsyncOperation<Void>.delay(delay), AsyncOperation { 1 }.delayed(by: delay),
            AsyncOperation { 1 }.delayed(untilAtLeast: delay), AsyncOperation {}.delay(asking: { delay }),
            AsyncOperation { 1 }.repeat(every: delay),
            AsyncOperation { throw Oops() }.retry(.immediately.honoring { _ in delay }, attempts: 2),
            AsyncOperation { throw Oops() }.retry(.constant(delay), attempts: 2),
        ]
        for operation in operations { operation.add(to: stage.queue) }
        stage.steps.runAll()
        stage.advance(by: .seconds(1_000_000))
        #expect(operations.map(\.state) == Array(repeating: .waiting, count: operations.count))
        stage.queue.cancelAll()
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
    }

    @Test func aRetryWithADeadlineDoesNotWaitForThem() {
        let stage = TestQueue()
        let operation = AsyncOperation { throw Oops() }
            .retry(
                .immediately.honoring { _ in Duration(attoseconds: .max) }, attempts: 2,
                deadline: Duration(attoseconds: .max))
        stage.run(operation)
        #expect(operation.ending == "failed: oops")
    }

    @Test(arguments: endless) func aShutdownWithinThemWaitsForTheEnd(limit: Duration) async {
        let queue = AsyncOperationQueue()
        let operation = AsyncOperation { 1 }.add(to: queue)
        await queue.shutdown(within: limit)
        #expect(operation.ending == "success")
    }

    @Test(arguments: endless) func aStallAfterThemIsNotTold(limit: Duration) {
        let stage = TestQueue()
        let gate = Gate()
        let observation = stage.queue.onStall(after: limit) { _ in stage.log("stalled") }
        stage.run(stage.waiting("stuck", at: gate))
        stage.advance(by: .seconds(1_000_000))
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["stuck"])
        withExtendedLifetime(observation) {}
    }
}
