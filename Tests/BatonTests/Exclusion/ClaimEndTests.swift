import BatonTesting
import Testing

@testable import Baton

/// Tests of claims whose operations end before they are granted their names.
@Suite(.timeLimit(.minutes(10))) struct ClaimEndTests {
    @Test("A cancelled operation leaves the wait queue before its handlers return")
    func oneThatIsCancelledLeavesTheLineBeforeItsHandlersReturn() {
        let name = Names()
        let stage = TestQueue()
        let (gate, handlers) = (Gate(), Gate())
        stage.run(stage.waiting("reader", at: gate).addCondition(.mutuallyExclusive(name("x"), mode: .shared)))
        let writer = stage.noting("writer").addCondition(.mutuallyExclusive(name("x")))
        writer.willFinish { _ in await handlers.wait() }
        stage.run(writer)
        stage.run(stage.noting("behind").addCondition(.mutuallyExclusive(name("x"), mode: .shared)))
        writer.cancel()
        stage.steps.runAll()
        #expect(writer.state == .finishing)
        #expect(stage.ran == ["reader", "behind"])
        handlers.open()
        gate.open()
        stage.steps.runAll()
        #expect(writer.ending == "cancelled on request")
        #expect(stage.queue.operationCount == 0)
        #expect(ExclusionManager.isFree(.text(name("x"))))
    }

    /// The search for deadlocks must not find the cancelled operation in the cycle: it could not end the operation, and
    /// would repeat the search without end.
    @Test("A cancelled operation is on no cycle while its handlers run")
    func oneThatIsCancelledIsInNoCycleWhileItsHandlersRun() {
        let name = Names()
        let stage = TestQueue()
        let (gate, handlers) = (Gate(), Gate())
        let queued = stage.noting("queued").addCondition(.mutuallyExclusive(name("x")))
        queued.willFinish { _ in await handlers.wait() }
        let child = stage.noting("child", after: queued)
        let holder = AsyncOperation("holder") { context in
            await gate.wait()
            try await context.run(child)
        }
        stage.run(holder.addCondition(.mutuallyExclusive(name("x"))), queued)
        queued.cancel()
        gate.open()
        stage.steps.runAll()
        #expect(queued.state == .finishing)
        handlers.open()
        stage.steps.runAll()
        #expect(stage.ran == ["child"])
        #expect(holder.ending == "success")
    }

    /// The search for deadlocks ends the operation that is evaluated. It must not find the claim again before the task
    /// of the evaluation has continued, which on a single thread it cannot while the search runs.
    @Test func anEvaluationThatEndsADeadlockGivesItsClaimBackAtOnce() {
        let name = Names()
        let stage = TestQueue()
        let asking = stage.noting("asking")
        asking.addCondition(Asking(exclusions: [.mutuallyExclusive(name("x"))]))
        let holder = AsyncOperation("holder") { _ = try? await asking.value }
        stage.run(holder.addCondition(.mutuallyExclusive(name("x"))), asking)
        #expect(asking.ending == "deadlock asking holder")
        #expect(holder.ending == "success")
        #expect(ExclusionManager.isFree(.text(name("x"))))
    }

    /// The operation is cancelled before the cycle closes, and the task of its evaluation has not continued when the
    /// search for deadlocks runs.
    @Test func anEvaluationThatIsCancelledGivesItsClaimBackAtOnce() {
        let name = Names()
        let stage = TestQueue()
        let gate = Gate()
        let asking = stage.noting("asking")
        asking.addCondition(Asking(exclusions: [.mutuallyExclusive(name("x"))]))
        let holder = AsyncOperation("holder") {
            await gate.wait()
            asking.cancel()
            _ = try? await asking.value
        }
        stage.run(holder.addCondition(.mutuallyExclusive(name("x"))), asking)
        gate.open()
        stage.steps.runAll()
        #expect(asking.ending == "cancelled on request")
        #expect(holder.ending == "success")
        #expect(ExclusionManager.isFree(.text(name("x"))))
    }
}

private struct Asking: OperationCondition {
    let exclusions: [Exclusion]

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
}
