import BatonTesting
import Testing

@testable import Baton

/// Tests of conditions whose exclusions change from one query to the next.
@Suite(.timeLimit(.minutes(10))) struct ExclusionChangeTests {
    private final class VariableCondition: OperationCondition {
        let answers: Locked<[[Exclusion]]>
        let log: EventLog<String>
        let bring: AsyncOperation<Void>?

        /// Makes a condition that returns one answer for each query, and repeats the last one.
        init(_ answers: [Exclusion]..., log: EventLog<String>, bring: AsyncOperation<Void>? = nil) {
            self.answers = Locked(answers)
            self.log = log
            self.bring = bring
        }

        var exclusions: [Exclusion] { answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } }

        func dependency(for operation: AnyOperation) -> AnyOperation? { bring }

        func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
            log("asked")
            return .satisfied
        }
    }

    private let name: String
    private let x: Exclusion
    private let stage = TestQueue()
    private let gate = Gate()

    /// Starts an operation that holds the name until the gate opens.
    init() {
        // Each test has an instance of its own, and so a name of its own.
        name = "x in ExclusionChangeTests \(ObjectIdentifier(stage.queue))"
        x = .mutuallyExclusive(name)
        stage.run(AsyncOperation { [gate] in await gate.wait() }.addCondition(x))
    }

    @Test(arguments: 1...3) func namesThatCameAfterTheAddAreNotHeld(conditions: Int) {
        let operation = stage.noting("body")
        for _ in 0..<conditions { operation.addCondition(VariableCondition([], [x], log: stage.log)) }
        stage.run(operation)
        #expect(stage.ran == Array(repeating: "asked", count: conditions) + ["body"])
        gate.open()
        stage.steps.runAll()
        #expect(ExclusionManager.isFree(.text(name)))
    }

    @Test func norWhileWhatWasBroughtAlongRuns() {
        let operation = stage.noting("body")
        operation.addCondition(VariableCondition([], [x], log: stage.log, bring: stage.noting("brought along")))
        stage.run(operation)
        #expect(stage.ran == ["brought along", "asked", "body"])
        gate.open()
        stage.steps.runAll()
    }

    @Test func norAreThoseBesideTheNamesOfAnother() {
        let other = Exclusion.mutuallyExclusive("another \(name)")
        let operation = stage.noting("body")
        operation.addCondition(VariableCondition([other], log: stage.log)).addCondition(
            VariableCondition([], [x], log: stage.log))
        stage.run(operation)
        #expect(stage.ran == ["asked", "asked", "body"])
        gate.open()
        stage.steps.runAll()
    }

    @Test(arguments: 1...2) func namesOfTheAddAreHeldThoughTheyHaveGone(conditions: Int) {
        let operation = stage.noting("body")
        for _ in 0..<conditions { operation.addCondition(VariableCondition([x], [], log: stage.log)) }
        stage.run(operation)
        #expect(stage.ran.isEmpty)
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == Array(repeating: "asked", count: conditions) + ["body"])
    }

    @Test func soTheyAreWhileWhatWasBroughtAlongRuns() {
        let operation = stage.noting("body")
        operation.addCondition(VariableCondition([x], [], log: stage.log, bring: stage.noting("brought along")))
        stage.run(operation)
        #expect(stage.ran.isEmpty)
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["brought along", "asked", "body"])
    }
}
