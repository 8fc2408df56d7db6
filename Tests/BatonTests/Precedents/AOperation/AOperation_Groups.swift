// Statements of AOperation, ‘Basics’
//
// Groups and wrappers.
//
// Test names begin with the number of their statement in Documentation/Precedents.md.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct AOperation_Groups {
    @Test func AOperation_6_aGroupFinishesWhenAllOfItsOperationsHave() {
        let stage = TestQueue()
        let gates = [Gate(), Gate(), Gate()]
        let children = gates.indices.map { stage.waiting("\($0)", at: gates[$0]) }
        let group = GroupOperation(children)
        stage.run(group)
        for index in [2, 0, 1] {
            #expect(!group.hasFinished)
            gates[index].open()
            stage.steps.runAll()
            #expect(children[index].hasFinished)
        }
        #expect(group.ending == "success")
    }

    /// Instead of a subclass, a function creates the group, or a procedure runs it.
    @Test func AOperation_6_aGroupOfOnesOwn() {
        struct SetUp: Procedure {
            let log: EventLog<String>
            func execute(in context: OperationContext) async throws {
                let open = AsyncOperation("open") { [log] in log("open") }
                let load = AsyncOperation("load") { [log] in log("load") }
                try await context.run(GroupOperation(open, load))
            }
        }
        let stage = TestQueue(width: 1)
        let operation = AsyncOperation(SetUp(log: stage.log))
        stage.run(operation)
        #expect(Set(stage.ran) == ["open", "load"])
        #expect(operation.ending == "success")
    }

    @Test func AOperation_7_anOrderedGroupStartsAndFinishesThemInTheOrderOfTheArray() {
        let stage = TestQueue()
        let children = (0..<10).map { number in
            let child = stage.noting("start \(number)")
            child.willFinish { [log = stage.log] _ in log("finish \(number)") }
            return child
        }
        let group = GroupOperation(.ordered, children)
        stage.run(group)
        #expect(stage.ran == (0..<10).flatMap { ["start \($0)", "finish \($0)"] })
        #expect(group.ending == "success")
    }

    @Test func AOperation_8_didFinishOfAGroupIsToldOfAllErrors() {
        let stage = TestQueue()
        let group = GroupOperation(
            AsyncOperation<Void>("one") { throw Oops(text: "one") }, stage.noting("two"),
            AsyncOperation<Void>("three") { throw Oops(text: "three") })
        group.didFinish { [log = stage.log] result in
            guard case .failure(.groupFailed(let failures)) = result else { return }
            for failure in failures { log("\(failure.operation.name): \(failure.error)") }
        }
        stage.run(group)
        #expect(stage.ran == ["two", "one: one", "three: three"])
    }

    /// `WrapperOperation<Input, Output> { received in operation }`
    @Test func AOperation_9_aWrapperMakesItsOperationWhenItRunsAndHasItsResult() {
        struct Square: InputProcedure {
            func execute(_ input: Int, in context: OperationContext) async throws -> String {
                let square = AsyncOperation { input * input }
                return try await context.run(square.then { "\($0)" })
            }
        }
        let stage = TestQueue(width: 1)
        let number = AsyncOperation { 7 }
        let asProcedure = AsyncOperation(Square(), input: number)
        let asClosure = AsyncOperation(number) { number, context in
            try await context.run(AsyncOperation { number + 1 })
        }
        stage.run(number, asProcedure, asClosure)
        #expect(try! asProcedure.result?.get() == "49")
        #expect(try! asClosure.result?.get() == 8)
    }

    @Test func AOperation_9_itFailsAndIsCancelledAsWhatItWraps() {
        let stage = TestQueue()
        let inner = AsyncOperation<Int>("inner") {
            try await Gate().waitUnlessCancelled(); return 1
        }
        let cancelled = AsyncOperation("wrapper") { context in try await context.run(inner) }
        let failing = AsyncOperation("wrapper") { context in
            try await context.run(AsyncOperation<Int>("inner") { throw Oops() })
        }
        stage.run(cancelled, failing)
        #expect(failing.error?.underlyingError as? Oops == Oops())
        cancelled.cancel()
        stage.steps.runAll()
        #expect(inner.isCancelled && inner.hasFinished)
        #expect(cancelled.ending == "cancelled on request")
    }
}
