import Testing

@testable import Baton

/// From ready to the body, as a value.
@Suite struct RulesTests {
    private final class Asks: OperationCondition {}

    private func step(_ step: Rules.Step) -> String {
        switch step {
        case .fail(let misuse): "fail \(misuse)"
        case .pause: "pause"
        case .evaluate: "evaluate"
        case .request(let exclusions): "request \(exclusions.map { "\($0.name)" })"
        case .run: "run"
        }
    }

    @Test func conditionsThenNamesThenTheRun() {
        var rules = Rules()
        rules.add(.object(Asks()), [.mutuallyExclusive("x")])
        rules.add([.mutuallyExclusive("y")])
        #expect(!rules.isPassed)
        #expect(step(rules.next()) == "evaluate")
        rules.conditionsAreSatisfied()
        #expect(step(rules.next()) == "request [\"‘x’\", \"‘y’\"]")
        #expect(rules.standing == .requested)
        rules.namesAreHeld()
        #expect(rules.isPassed)
        #expect(step(rules.next()) == "run")
    }

    @Test func namesGivenBackAreAskedForAnew() {
        var rules = Rules()
        rules.add([.mutuallyExclusive("x")])
        _ = rules.next()
        let first = rules.requests
        rules.namesAreHeld()
        rules.namesAreGivenBack()
        #expect(step(rules.next()) == "request [\"‘x’\"]")
        #expect(rules.requests != first)
    }

    @Test func whatNobodyCouldHoldFailsBeforeAnythingIsAsked() {
        var rules = Rules()
        rules.add(.object(Asks()), [])
        rules.add([.limited("x", to: 1, weight: 2)])
        #expect(step(rules.next()).hasPrefix("fail invalidExclusion"))
    }

    @Test func onlyTheFirstWaitOfAHolderCounts() {
        var rules = Rules()
        rules.add([.mutuallyExclusive("x")])
        #expect(!rules.noteWait())
        _ = rules.next()
        #expect(!rules.noteWait())
        rules.namesAreHeld()
        #expect(rules.noteWait())
        #expect(!rules.noteWait())
        #expect(rules.endHolding())
        #expect(!rules.endHolding())
    }
}
