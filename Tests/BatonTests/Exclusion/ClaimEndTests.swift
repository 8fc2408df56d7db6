import BatonTesting
import Testing

@testable import Baton

/// Claims of operations that come to an end before they have got their names.
@Suite(.timeLimit(.minutes(10))) struct ClaimEndTests {
    @Test func oneThatIsCancelledLeavesTheLineBeforeItsHandlersReturn() {
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

    /// The search for deadlocks found it in the cycle, could not end it, and searched again, for ever.
    @Test func oneThatIsCancelledIsInNoCycleWhileItsHandlersRun() {
        let name = Names()
        let stage = TestQueue()
        let (gate, handlers) = (Gate(), Gate())
        let inLine = stage.noting("in line").addCondition(.mutuallyExclusive(name("x")))
        inLine.willFinish { _ in await handlers.wait() }
        let child = stage.noting("child", after: inLine)
        let holder = AsyncOperation("holder") { context in
            await gate.wait()
            try await context.run(child)
        }
        stage.run(holder.addCondition(.mutuallyExclusive(name("x"))), inLine)
        inLine.cancel()
        gate.open()
        stage.steps.runAll()
        #expect(inLine.state == .finishing)
        handlers.open()
        stage.steps.runAll()
        #expect(stage.ran == ["child"])
        #expect(holder.ending == "success")
    }

    /// The search for deadlocks ended it, and found its claim again as long as its task had not gone on, which on a
    /// single thread it could not.
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

    /// As above, of one that was cancelled before the cycle was closed, and whose task has not gone on.
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
