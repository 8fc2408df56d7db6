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
        asking.addCondition(ExclusionCondition(exclusions: [.mutuallyExclusive(name("x"))]))
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
        asking.addCondition(ExclusionCondition(exclusions: [.mutuallyExclusive(name("x"))]))
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

    /// The worker that runs the evaluation owns the queue's reference to the operation. If the late grant released that
    /// reference as well, the operation would be freed while others still use it.
    @Test("A grant that arrives after the end of an evaluation releases nothing", arguments: [false, true])
    func grantAfterTheEndOfAnEvaluation(hasHandler: Bool) {
        let name = Names()
        let stage = TestQueue()
        let (steps, clock) = (StepExecutor(), LateClock())
        let queue = AsyncOperationQueue(executor: steps, clock: clock)
        func limited(_ name: String) -> AsyncOperation<Void> {
            AsyncOperation(name) {}.addCondition(.rate("starts", 1, per: .seconds(1)))
        }
        weak var observed: AnyOperation?
        func run() -> Unretained<AnyOperation> {
            let asking = stage.noting("asking")
            let reference = Retained<AnyOperation>(asking).handOver()
            observed = asking
            asking.addCondition(ExclusionCondition(exclusions: [.mutuallyExclusive(name("x"))]))
            if hasHandler { asking.willFinish { _ in await Task.yield() } }
            queue.add(limited("first"))
            steps.runAll()
            // The second operation holds the exclusion when it asks the rate, which refuses the start. It releases the
            // exclusion, and reads the clock before it passes the grant on.
            clock.afterNextReading {
                stage.run(asking)
                #expect(ExclusionManager.wait(of: asking, upTo: 1) != nil)
                clock.afterNextReading {
                    #expect(ExclusionManager.wait(of: asking, upTo: 1) == nil)
                    asking.cancel()
                    stage.steps.runAll()
                    #expect(asking.ending == "cancelled on request")
                }
            }
            queue.add(limited("second").addCondition(.mutuallyExclusive(name("x"))))
            steps.runAll()
            #expect(asking.hasFinished)
            return reference
        }
        // From now on this is the only reference, so the operation is freed already if it was released too often.
        let reference = run()
        #expect(observed != nil)
        if observed != nil { Retained(handedOver: reference).release() }
        #expect(observed == nil)
        queue.cancelAll()
        steps.runAll()
        #expect(ExclusionManager.isFree(.text(name("x"))))
    }
}

private struct ExclusionCondition: OperationCondition {
    let exclusions: [Exclusion]

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
}
