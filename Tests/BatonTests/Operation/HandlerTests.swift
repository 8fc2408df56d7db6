import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct HandlerTests {
    @Test func everyHandlerIsCalledOnceInOrder() {
        let stage = TestQueue()
        let operation = AsyncOperation { 7 }
        for number in 0..<3 {
            operation.didFinish { [log = stage.log] result in log("\(number) \((try? result.get()) ?? 0)") }
        }
        stage.run(operation)
        #expect(stage.ran == ["0 7", "1 7", "2 7"])
    }

    @Test func theOutcomeIsVisibleInAHandler() {
        let stage = TestQueue()
        for operation in [AsyncOperation { 1 }, AsyncOperation<Int> { throw Oops() }] {
            operation.didFinish { [log = stage.log] result in
                let seen = operation.result.map { "\($0)" }
                log("\(seen == "\(result)") \(operation.state)")
            }
            stage.run(operation)
        }
        #expect(stage.ran == ["true finished", "true finished"])
    }

    @Test func aLateHandlerStillGetsTheOutcome() {
        let stage = TestQueue()
        let operation = AsyncOperation { 7 }
        stage.run(operation)
        operation.didFinish { [log = stage.log] result in log("\(try! result.get())") }
        stage.steps.runAll()
        #expect(stage.ran == ["7"])
    }

    @Test("A handler that another handler adds comes last")
    func oneThatIsAddedByAHandlerComesLast() {
        let stage = TestQueue()
        let operation = AsyncOperation {}
        operation.didFinish { [log = stage.log] _ in
            operation.didFinish { _ in log("added by the first") }
            log("first")
        }
        operation.didFinish { [log = stage.log] _ in log("second") }
        stage.run(operation)
        #expect(stage.ran == ["first", "second", "added by the first"])
    }

    @Test("The handlers of an operation that is never added are called when it is cancelled")
    func oneOfAnOperationThatIsNeverAddedIsCalledWhenItIsCancelled() async {
        let handled = EventLog<String>()
        let operation = AsyncOperation {}
        operation.didFinish { handled("\($0)") }
        operation.cancel()
        await handled.waitForCount(1)
        #expect(operation.ending == "cancelled on request")
    }

    @Test func waitUntilIdleWaitsForHandlers() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = AsyncOperation {}
        operation.didFinish { _ in await gate.wait() }
        stage.queue.add(operation)
        stage.steps.task { [queue = stage.queue, log = stage.log] in
            await queue.waitUntilIdle()
            log("idle")
        }
        stage.steps.runAll()
        #expect(operation.state == .finished)
        #expect(stage.ran == [])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["idle"])
    }

    @Test func aSlowHandlerDelaysNobodyElse() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        let operation = AsyncOperation("operation") {}
        operation.didFinish { _ in await gate.wait() }
        let dependent = stage.noting("dependent", after: operation)
        dependent.didFinish { [log = stage.log] _ in log("its handler") }
        stage.run(operation, dependent, stage.noting("other"))
        #expect(Set(stage.ran) == ["dependent", "its handler", "other"])
        gate.open()
        stage.steps.runAll()
    }

    @Test @MainActor func aHandlerRunsOnTheIsolationItDeclares() async {
        let queue = AsyncOperationQueue()
        let view = View()
        let operation = AsyncOperation { 7 }
        operation.didFinish { @MainActor result in view.shown.append(try! result.get()) }
        operation.didFinish { @MainActor result in
            MainActor.assertIsolated()
            view.shown.append(try! result.get() + 1)
        }
        queue.add(operation)
        await queue.waitUntilIdle()
        #expect(view.shown == [7, 8])
    }

    @Test func aHandlerMayBeAFunctionOfAnyIsolation() async {
        let queue = AsyncOperationQueue()
        let keeper = Keeper()
        let onMain: @isolated(any) @Sendable (Result<Int, OperationError>) async -> Void = { @MainActor result in
            MainActor.assertIsolated()
            await keeper.keep(result)
        }
        let operation = AsyncOperation { 7 }
        operation.didFinish(onMain).didFinish(keepOnMain).didFinish(keepAnywhere)
        await keeper.observe(operation)
        queue.add(operation)
        await queue.waitUntilIdle()
        #expect(await keeper.kept == [7, 7, 7])

        @MainActor @Sendable func keepOnMain(_ result: Result<Int, OperationError>) async {
            MainActor.assertIsolated()
            await keeper.keep(result)
        }
        @concurrent @Sendable func keepAnywhere(_ result: Result<Int, OperationError>) async {
            #expect(#isolation == nil)
        }
    }

    private actor Keeper {
        private(set) var kept: [Int] = []

        // The method is asynchronous because Swift 6.3.1 loses the isolation of a synchronous method that is converted
        // to an asynchronous function.
        func keep(_ result: Result<Int, OperationError>) async {
            assertIsolated()
            kept.append(try! result.get())
        }

        func observe(_ operation: AsyncOperation<Int>) { operation.willFinish(keep) }
    }

    @MainActor private final class View {
        var shown: [Int] = []
    }
}
