import BatonTesting
import Testing

@testable import Baton

/// Tests of waits that outlive the attempt that began them.
extension RetryTests {
    /// The wait of the first attempt ends while the second attempt waits as well. It must not end the second wait.
    @Test func aWaitThatAnAttemptLeavesBehindIsNoneOfTheNext() {
        let stage = TestQueue(width: 2)
        let (first, second) = (Gate(), Gate())
        let (left, awaited) = (stage.waiting("left", at: first), stage.waiting("awaited", at: second))
        let operation = AsyncOperation("leaking") { context in
            stage.log("attempt \(context.attempt)")
            if context.attempt == 1 {
                stage.steps.task { try? await context.run(left) }
                // The attempt yields until the task waits for `left`.
                await Task.yield()
                await Task.yield()
                throw Oops()
            }
            try await context.run(awaited)
        }
        .retry(.immediately, attempts: 2)
        stage.run(operation)
        #expect(stage.ran == ["attempt 1", "left", "attempt 2", "awaited"])
        first.open()
        stage.steps.runAll()
        #expect(left.ending == "success")
        #expect(operation.state == .executing)
        #expect(operation.waits.map(\.source.name) == ["awaited"])
        // The child holds one permit. The other permit is free.
        let others = [stage.waiting("other", at: second), stage.noting("last")]
        stage.queue.add(others)
        stage.steps.runAll()
        #expect(stage.ran.suffix(1) == ["other"])
        #expect(stage.queue.core.state.withLock { $0.scheduler.running } == 2)
        second.open()
        stage.steps.runAll()
        #expect(operation.ending == "success")
        #expect(stage.queue.operationCount == 0)
        #expect(stage.queue.core.state.withLock { $0.scheduler.running } == 0)
        #expect(stage.queue.core.state.withLock { $0.scheduler.parked } == 0)
    }

    /// The first attempt leaves behind a task that waits for a child. The attempt has released its permit for that
    /// wait.
    @Test func anAttemptThatLeavesAWaitOpenIsFollowedByAnother() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        let child = stage.waiting("child", at: gate)
        let operation = AsyncOperation("leaking") { context in
            stage.log("attempt \(context.attempt)")
            if context.attempt == 1 {
                stage.steps.task { try? await context.run(child) }
                await Task.yield()
                throw Oops()
            }
        }
        .retry(.immediately, attempts: 2)
        let next = stage.noting("next")
        stage.run(operation, next)
        gate.open()
        stage.steps.runAll()
        #expect(operation.ending == "success")
        #expect(child.ending == "success")
        #expect(next.ending == "success")
        #expect(stage.queue.core.state.withLock { $0.scheduler.running } == 0)
        #expect(stage.queue.core.state.withLock { $0.scheduler.parked } == 0)
    }
}
