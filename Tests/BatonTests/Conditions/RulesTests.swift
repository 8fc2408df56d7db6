import Testing

@testable import Baton

/// From ready to the body, as a value.
@Suite struct RulesTests {
    private final class Asks: OperationCondition {
        func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
    }

    private func step(_ step: Rules.Step) -> String {
        switch step {
        case .fail(let misuse): "fail \(misuse)"
        case .pause: "pause"
        case .evaluate: "evaluate"
        case .request(let exclusions): "request \(exclusions.map { "\($0.name)" })"
        case .pace(let rates): "pace \(rates.map(\.name))"
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

    @Test("Rates come after the conditions and the names, and once more for each run")
    func ratesComeLast() {
        var rules = Rules()
        rules.add(.object(Asks()), [.mutuallyExclusive("x")])
        rules.add([.rate("y", 1, per: .seconds(1))])
        #expect(rules.isPaced)
        #expect(step(rules.next()) == "evaluate")
        rules.conditionsAreSatisfied()
        #expect(step(rules.next()) == "request [\"‘x’\"]")
        rules.namesAreHeld()
        #expect(!rules.isPassed)
        #expect(step(rules.next()) == "pace [\"‘y’\"]")
        rules.startIsCounted()
        #expect(rules.isPassed)
        #expect(step(rules.next()) == "run")
        rules.namesAreGivenBack()
        rules.runEnds()
        #expect(step(rules.next()) == "request [\"‘x’\"]")
        rules.namesAreHeld()
        #expect(step(rules.next()) == "pace [\"‘y’\"]")
    }

    @Test("Of two rates of one name the slower counts, and one that makes no sense comes before both")
    func theSlowerRateCounts() {
        var rules = Rules()
        rules.add([.rate("y", 2, per: .seconds(1)), .rate("z", 1, per: .seconds(1))])
        rules.add([.rate("y", 1, per: .seconds(1))])
        rules.add([.rate("y", 3, per: .seconds(1))])
        guard case .pace(let rates) = rules.next() else { return #expect(Bool(false), "it is not paced") }
        #expect(rates == [.rate("y", 1, per: .seconds(1)), .rate("z", 1, per: .seconds(1))])
        rules.add([.rate("z", 0, per: .seconds(1))])
        #expect(step(rules.next()).hasPrefix("fail invalidRate"))
        rules.add([.rate("z", 1, per: .seconds(1))])
        #expect(step(rules.next()).hasPrefix("fail invalidRate"))
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
