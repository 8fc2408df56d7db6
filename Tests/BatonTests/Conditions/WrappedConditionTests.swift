import BatonTesting
import Testing

@testable import Baton

private struct Answer: OperationCondition {
    var name: String
    var exclusions: [Exclusion] = []
    var log: EventLog<String>?
    var result: Result<ConditionResult, Oops> = .success(.satisfied)

    func dependency(for operation: AnyOperation) -> AnyOperation? {
        log.map { log in AsyncOperation("request of \(name)") { [name] in log("request of \(name)") } }
    }

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        log?(name)
        return try result.get()
    }

    static let yes = Answer(name: "yes")
    static let skips = Answer(name: "skips", result: .success(.skip("no")))
    static let throwing = Answer(name: "throws", result: .failure(Oops()))
}

/// Brings along an operation that was made elsewhere.
private struct BroughtAlong: OperationCondition {
    let operation: AnyOperation

    func dependency(for operation: AnyOperation) -> AnyOperation? { self.operation }

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        #expect(self.operation.state == .finished)
        return .satisfied
    }
}

@Suite(.timeLimit(.minutes(10))) struct WrappedConditionTests {
    private func ending(_ condition: some OperationCondition) -> String {
        let stage = TestQueue()
        let operation = stage.noting("body").addCondition(condition)
        stage.run(operation)
        return operation.ending
    }

    @Test("A cycle through the dependency of a condition in and or or is found, whichever operation is added first")
    func cycles() async {
        for (isAdded, isBoth) in [(true, true), (true, false), (false, true), (false, false)] {
            let queue = AsyncOperationQueue()
            let (began, gate) = (Gate(), Gate())
            let b = AsyncOperation("b") {}
            let a = AsyncOperation("a") {
                began.open()
                await gate.wait()
                try await b.value
            }
            let (before, yes) = (BroughtAlong(operation: a), Answer.yes)
            if isBoth { b.addCondition(before.and(yes)) } else { b.addCondition(yes.negated.or(before)) }
            if isAdded {
                queue.add(a)
                await began.wait()
                gate.open()
                while a.state != .executing || !a.explain().description.contains("‘b’") { await Task.yield() }
                queue.add(b)
            } else {
                queue.add(b)
                gate.open()
            }
            await queue.waitUntilIdle()
            for member in [a, b] {
                #expect("\(member.error as Any)".contains("waits for itself: "), "\(isAdded), \(isBoth)")
            }
        }
    }

    @Test func negated() {
        #expect(ending(Answer.yes.negated) == "condition not yes: ‘yes’ is satisfied")
        #expect(ending(Answer.skips.negated) == "success")
        #expect(ending(Answer.throwing.negated) == "success")
    }

    @Test func and() {
        #expect(ending(Answer.yes.and(Answer.yes)) == "success")
        #expect(ending(Answer.yes.and(Answer.skips)) == "skipped: no")
        #expect(ending(Answer.yes.and(Answer.throwing)) == "condition yes and throws: oops")
        #expect(ending(Answer.skips.and(Answer.throwing)) == "skipped: no")
    }

    @Test func or() {
        #expect(ending(Answer.throwing.or(Answer.yes)) == "success")
        #expect(ending(Answer.yes.or(Answer.throwing)) == "success")
        #expect(ending(Answer.throwing.or(Answer.skips)) == "skipped: no")
        #expect(ending(Answer.skips.or(Answer.throwing)) == "skipped: no")
        #expect(ending(Answer.throwing.or(Answer.throwing)) == "condition throws or throws: neither: oops; nor: oops")
    }

    @Test func orSaysNothingWhenItsSecondIsCalledOff() {
        struct WaitingCondition: OperationCondition {
            let gate = Gate()

            func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
                try await gate.waitUnlessCancelled()
                return .satisfied
            }
        }
        let stage = TestQueue()
        let operation = stage.noting("body").addCondition(Answer.skips).addCondition(
            Answer.throwing.or(WaitingCondition()))
        stage.run(operation)
        #expect(operation.ending == "skipped: no")
    }

    @Test func silentBringsNothingAlong() {
        let stage = TestQueue()
        let loud = Answer(name: "asks", log: stage.log)
        stage.run(stage.noting("body").addCondition(loud.silent))
        #expect(stage.ran == ["asks", "body"])
        stage.run(stage.noting("body").addCondition(loud))
        #expect(stage.ran == ["asks", "body", "request of asks", "asks", "body"])
    }

    @Test func dependenciesOfBothConditionsRunFirst() {
        let stage = TestQueue(width: 1)
        let one = Answer(name: "one", log: stage.log)
        let two = Answer(name: "two", log: stage.log)
        stage.run(stage.noting("body").addCondition(one.and(two)))
        #expect(stage.ran == ["request of one", "request of two", "one", "two", "body"])
        stage.run(stage.noting("body").addCondition(one.and(Answer.yes.or(two).negated.negated)))
        #expect(stage.ran.suffix(4) == ["request of one", "request of two", "one", "body"])
    }

    @Test func eachIsToldOfItsOwn() {
        struct FailingDependency: OperationCondition {
            func dependency(for operation: AnyOperation) -> AnyOperation? { AsyncOperation<Void> { throw Oops() } }

            func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
        }
        #expect(ending(FailingDependency().or(Answer.yes)) == "success")
        #expect(ending(Answer.yes.or(FailingDependency())) == "success")
        #expect(ending(FailingDependency().negated) == "success")
        #expect(ending(Answer.yes.and(FailingDependency())) == "condition yes and FailingDependency: oops")
    }

    @Test func G14_wrappedConditionsKeepTheirExclusions() {
        let x = Exclusion.mutuallyExclusive("x")
        let y = Exclusion.mutuallyExclusive("y")
        let held = Answer(name: "x", exclusions: [x])
        let other = Answer(name: "y", exclusions: [y])
        #expect(held.negated.exclusions == [x])
        #expect(held.silent.exclusions == [x])
        #expect(held.and(other).exclusions == [x, y])
        #expect(held.or(other).negated.silent.exclusions == [x, y])
        #expect(x.and(other).exclusions == [x, y])
    }

    @Test func G14_aWrappedConditionKeepsOthersOut() {
        let stage = TestQueue()
        let gate = Gate()
        let name = "WrappedConditionTests"
        let condition = Answer(name: "x", exclusions: [.mutuallyExclusive(name)]).silent.and(Answer.yes)
        stage.run(stage.waiting("holder", at: gate).addCondition(condition))
        stage.run(stage.noting("other").addCondition(.mutuallyExclusive(name)))
        #expect(stage.ran == ["holder"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["holder", "other"])
    }

    /// A condition of the user that wraps another condition evaluates it in this way.
    @Test("Wrapped conditions give the same result if they are evaluated without a dependency")
    func theyAnswerTheSameWithoutADependency() async throws {
        let operation = AsyncOperation {}
        await #expect(throws: ConditionError.self) { try await Answer.yes.negated.evaluate(for: operation) }
        #expect(try await Answer.skips.silent.evaluate(for: operation) == .skip("no"))
        #expect(try await Answer.yes.and(Answer.skips).evaluate(for: operation) == .skip("no"))
        #expect(try await Answer.skips.or(Answer.throwing).evaluate(for: operation) == .skip("no"))
    }
}
