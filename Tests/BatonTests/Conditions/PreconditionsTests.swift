import Testing

@testable import Baton

/// Tests of the steps from a ready operation to its body, as a value.
@Suite struct PreconditionsTests {
    private final class Asks: OperationCondition {
        func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
    }

    private func step(_ step: Preconditions.Step) -> String {
        switch step {
        case .fail(let misuse): "fail \(misuse)"
        case .pause: "pause"
        case .evaluate: "evaluate"
        case .request(let exclusions): "request \(exclusions.map { "\($0.name)" })"
        case .requestStart(let rates): "pace \(rates.map(\.name))"
        case .admit(let breakers): "admit by \(breakers.map(\.circuit))"
        case .run: "run"
        }
    }

    @Test func conditionsThenNamesThenTheRun() {
        var preconditions = Preconditions()
        preconditions.add(.object(Asks()), [.mutuallyExclusive("x")])
        preconditions.add([.mutuallyExclusive("y")])
        #expect(!preconditions.isPassed)
        #expect(step(preconditions.next()) == "evaluate")
        preconditions.conditionsAreSatisfied()
        #expect(step(preconditions.next()) == "request [\"‘x’\", \"‘y’\"]")
        #expect(preconditions.claimState == .requested)
        preconditions.exclusionsAreHeld()
        #expect(preconditions.isPassed)
        #expect(step(preconditions.next()) == "run")
    }

    @Test func namesGivenBackAreAskedForAnew() {
        var preconditions = Preconditions()
        preconditions.add([.mutuallyExclusive("x")])
        _ = preconditions.next()
        let first = preconditions.requests
        preconditions.exclusionsAreHeld()
        preconditions.exclusionsAreReleased()
        #expect(step(preconditions.next()) == "request [\"‘x’\"]")
        #expect(preconditions.requests != first)
    }

    @Test("Rates are requested after the conditions and the exclusions, and again for each run")
    func ratesComeLast() {
        var preconditions = Preconditions()
        preconditions.add(.object(Asks()), [.mutuallyExclusive("x")])
        preconditions.add([.rate("y", 1, per: .seconds(1))])
        #expect(preconditions.hasRates)
        #expect(step(preconditions.next()) == "evaluate")
        preconditions.conditionsAreSatisfied()
        #expect(step(preconditions.next()) == "request [\"‘x’\"]")
        preconditions.exclusionsAreHeld()
        #expect(!preconditions.isPassed)
        #expect(step(preconditions.next()) == "pace [\"‘y’\"]")
        preconditions.startIsCounted()
        #expect(preconditions.isPassed)
        #expect(step(preconditions.next()) == "run")
        preconditions.exclusionsAreReleased()
        preconditions.runEnds()
        #expect(step(preconditions.next()) == "request [\"‘x’\"]")
        preconditions.exclusionsAreHeld()
        #expect(step(preconditions.next()) == "pace [\"‘y’\"]")
    }

    @Test("Circuit breakers that were looked at come after the rates, and once for all runs")
    func admissionsComeLast() {
        var preconditions = Preconditions()
        let breaker = CircuitBreaker("b", failures: 1, retryAfter: .seconds(1))
        preconditions.add(.object(Asks()), [.mutuallyExclusive("x")])
        preconditions.add([.rate("y", 1, per: .seconds(1))])
        preconditions.deferAdmission(by: breaker)
        preconditions.deferAdmission(by: breaker)
        preconditions.conditionsAreSatisfied()
        #expect(step(preconditions.next()) == "request [\"‘x’\"]")
        preconditions.exclusionsAreHeld()
        #expect(step(preconditions.next()) == "pace [\"‘y’\"]")
        #expect(preconditions.countedRates.isEmpty)
        preconditions.startIsCounted()
        #expect(preconditions.countedRates.map(\.key) == ["y"])
        #expect(!preconditions.isPassed)
        #expect(step(preconditions.next()) == "admit by [\"b\"]")
        preconditions.admissionsAreRequested()
        #expect(preconditions.isPassed)
        preconditions.exclusionsAreReleased()
        preconditions.runEnds()
        _ = preconditions.next()
        preconditions.exclusionsAreHeld()
        preconditions.startIsCounted()
        #expect(step(preconditions.next()) == "run")
    }

    @Test("The slowest of several rates with the same name applies, and an invalid rate comes before them")
    func theSlowerRateCounts() {
        var preconditions = Preconditions()
        preconditions.add([.rate("y", 2, per: .seconds(1)), .rate("z", 1, per: .seconds(1))])
        preconditions.add([.rate("y", 1, per: .seconds(1))])
        preconditions.add([.rate("y", 3, per: .seconds(1))])
        guard case .requestStart(let rates) = preconditions.next() else {
            Issue.record("it is not paced")
            return
        }
        #expect(rates == [.rate("y", 1, per: .seconds(1)), .rate("z", 1, per: .seconds(1))])
        preconditions.add([.rate("z", 0, per: .seconds(1))])
        #expect(step(preconditions.next()).hasPrefix("fail invalidRate"))
        preconditions.add([.rate("z", 1, per: .seconds(1))])
        #expect(step(preconditions.next()).hasPrefix("fail invalidRate"))
    }

    @Test func impossibleExclusionsFailBeforeConditionsAreEvaluated() {
        var preconditions = Preconditions()
        preconditions.add(.object(Asks()), [])
        preconditions.add([.limited("x", to: 1, weight: 2)])
        #expect(step(preconditions.next()).hasPrefix("fail invalidExclusion"))
    }

    @Test func onlyTheFirstWaitOfAHolderCounts() {
        var preconditions = Preconditions()
        preconditions.add([.mutuallyExclusive("x")])
        #expect(!preconditions.noteWait())
        _ = preconditions.next()
        #expect(!preconditions.noteWait())
        preconditions.exclusionsAreHeld()
        #expect(preconditions.noteWait())
        #expect(!preconditions.noteWait())
        #expect(preconditions.endHolding())
        #expect(!preconditions.endHolding())
    }
}
