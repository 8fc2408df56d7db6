import BatonTesting
import Testing

@testable import Baton

@Suite struct StateTests {
    @Test func movesForwardThroughItsStates() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        let source = stage.waiting("source", at: gate)
        let operation = stage.noting("operation", after: source)
        #expect(operation.state == .created)
        stage.run(operation)
        #expect(operation.state == .waiting)
        stage.run(source)
        #expect(source.state == .executing)
        #expect(operation.state == .waiting)
        stage.queue.isSuspended = true
        gate.open()
        stage.steps.runAll()
        #expect(operation.state == .ready)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(operation.state == .finished)
        #expect(
            [OperationState.created, .waiting, .ready, .executing, .finished]
                == [.created, .waiting, .ready, .executing, .finished].sorted())
    }

    @Test("The end of any operation can be awaited, and its error is not thrown")
    func waitsForTheEnd() {
        let (stage, gate) = (TestQueue(width: 1), Gate())
        let operations: [AnyOperation] = [
            stage.waiting("slow", at: gate), AsyncOperation<Int>("fails") { throw Oops() }, stage.noting("cancelled"),
        ]
        operations[2].cancel()
        let waiting = AsyncOperation("waiting") { [log = stage.log] in
            for operation in operations {
                try await operation.waitUntilFinished()
                log("\(operation)")
            }
        }
        // A queue of width 1 runs the others only because the body releases its permit.
        stage.run(waiting)
        stage.queue.add(operations)
        stage.steps.runAll()
        #expect(stage.ran == ["slow"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["slow", "‘slow’ (finished)", "‘fails’ (finished)", "‘cancelled’ (finished)"])
        #expect(operations.map(\.ending) == ["success", "failed: oops", "cancelled on request"])
        #expect(waiting.ending == "success")
    }

    @Test("A wait for an operation that waits for the body throws the cycle")
    func waitsForItself() {
        let stage = TestQueue()
        let later = stage.noting("later")
        let body = AsyncOperation("body") { try await (later as AnyOperation).waitUntilFinished() }
        later.addDependency(body)
        stage.run(body, later)
        #expect(later.error?.cycleNames == ["body", "later"])
        #expect(body.ending == "success", "The operation that has not begun fails, and has ended then.")
    }

    @Test func theDescriptionIsNameAndState() {
        let stage = TestQueue()
        let operation = stage.noting("boil")
        #expect("\(operation)" == "‘boil’ (created)")
        stage.run(operation)
        #expect("\(operation)" == "‘boil’ (finished)")
    }

    @Test("The name of an operation is given, or is its procedure's type, or the line that made it")
    func itsNameIsGivenElseTheProceduresElseThePlaceThatMadeIt() {
        let named = AsyncOperation("named") {}
        let procedure = AsyncOperation(Boiling())
        let plain = AsyncOperation {}
        #expect(named.name == "named")
        #expect(procedure.name == "Boiling")
        #expect(plain.name == nil)
        #expect(named.reference.name == "named")
        #expect(procedure.reference.name == "Boiling")
        #expect(plain.reference.name == "StateTests.swift:\(#line - 6)")
        procedure.name = "eggs"
        #expect(procedure.name == "eggs")
        #expect("\(procedure.reference)" == "‘eggs’")
        plain.name = "plain"
        plain.name = nil
        #expect(plain.name == nil)
        #expect(plain.name("in passing") === plain)
        #expect(plain.name == "in passing")
    }

    @Test func aReferenceIsTheSameForTheSameOperation() {
        let one = AsyncOperation("same") {}
        let other = AsyncOperation("same") {}
        let before = one.reference
        one.name = "renamed"
        #expect(one.reference == before)
        #expect(one.reference.hashValue == before.hashValue)
        #expect(one.reference != other.reference)
    }

    @Test func prioritiesAreOrdered() {
        #expect(OperationPriority.allCases == OperationPriority.allCases.sorted())
        #expect(OperationPriority.veryLow < .low && .low < .normal && .normal < .high && .high < .veryHigh)
        let operation = AsyncOperation {}
        #expect(operation.priority == .normal)
        operation.priority = .high
        #expect(operation.priority == .high)
    }
}

private struct Boiling: Procedure {
    func execute(in context: OperationContext) async throws {}
}
