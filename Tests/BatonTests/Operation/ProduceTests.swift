import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct ProduceTests {
    @Test func aProductRunsOnTheSameQueueOnItsOwn() {
        let stage = TestQueue(width: 1)
        let operation = AsyncOperation("operation") { [log = stage.log] context in
            let source = AsyncOperation("source") { log("source") }
            try context.produce(source.then { log("product") })
            log("operation")
        }
        stage.run(operation)
        #expect(stage.ran == ["operation", "source", "product"])
    }

    @Test func aCancelOfTheProducerDoesNotReachIt() {
        let stage = TestQueue()
        let gate = Gate()
        let product = stage.waiting("product", at: gate)
        let operation = AsyncOperation("operation") { context in
            try context.produce(product)
            await gate.wait()
        }
        stage.run(operation)
        operation.cancel()
        gate.open()
        stage.steps.runAll()
        #expect(!product.isCancelled)
        #expect(product.ending == "success")
    }

    @Test func producingAfterTheEndThrowsAndAddsNothing() {
        let stage = TestQueue()
        let kept = Locked<OperationContext?>(nil)
        let operation = AsyncOperation("operation") { context in kept.withLock { $0 = context } }
        stage.run(operation)
        let product = stage.noting("product")
        do throws(OperationError) {
            try kept.withLock { $0 }!.produce(product)
            Issue.record("It must throw.")
        } catch {
            #expect(error.inShort == "misuse: producedAfterTheEnd")
        }
        #expect(product.state == .created)
        #expect(stage.queue.operationCount == 0)
    }

    @Test func aWillFinishHandlerComesTooLateToProduce() {
        let stage = TestQueue()
        let kept = Locked<OperationContext?>(nil)
        let operation = AsyncOperation("operation") { context in kept.withLock { $0 = context } }
        operation.willFinish { [log = stage.log] _ in
            let context = kept.withLock { $0 }!
            do throws(OperationError) { try context.produce(AsyncOperation {}) } catch { log(error.inShort) }
            do throws(OperationError) { try await context.run(AsyncOperation {}) } catch { log(error.inShort) }
        }
        stage.run(operation)
        #expect(stage.ran == ["misuse: producedAfterTheEnd", "misuse: ranAfterTheEnd"])
    }

    @Test func aDirectCallProducesOnItsQueue() async throws {
        let queue = AsyncOperationQueue()
        let product = try OperationContext(queue: queue).produce(AsyncOperation { 7 })
        #expect(try await product.value == 7)
    }
}
