import BatonTesting
import Testing

@testable import Baton

/// Explanations of waits for rates, and rates that make no sense or contradict each other.
@Suite(.timeLimit(.minutes(10))) struct RateInputTests {
    /// A queue with one permit, which takes up operations in the order in which they were added.
    private let stage = TestQueue(width: 1)

    // MARK: Explanations

    @Test("An explanation says when the operation may start, and how many come before it")
    func explanations() {
        let operations = stage.calls(4, .rate("partner API", 100, per: .seconds(60), burst: 1))
        stage.queue.add(operations)
        stage.steps.runAll()
        stage.advance(by: .milliseconds(100))
        #expect(
            operations[1].explainedRoots == [
                "2: waitingForRate(‘partner API’ (100 in 60 seconds), timeLeft: 0.5 seconds, behind: 0)"
            ])
        #expect(
            "\(operations[1].explain())"
                == "‘2’ waits for the rate ‘partner API’ (100 in 60 seconds), and may start in 0.5 seconds.")
        #expect(
            "\(operations[2].explain())" == "‘3’ waits for the rate ‘partner API’ (100 in 60 seconds), behind 1 other, "
                + "and may start in 1.1 seconds.")
        #expect(
            "\(operations[3].explain())"
                == "‘4’ waits for the rate ‘partner API’ (100 in 60 seconds), behind 2 others, "
                + "and may start in 1.7 seconds.")
        stage.queue.cancelAll()
        stage.steps.runAll()
    }

    @Test("A rate is described by its name and its numbers")
    func descriptions() {
        #expect("\(Rate.rate("api", 5, per: .seconds(1)))" == "‘api’ (5 in 1 second)")
        #expect(
            "\(Rate.rate("api", 5, per: .milliseconds(1500), burst: 2))" == "‘api’ (5 in 1.5 seconds, up to 2 at once)")
        #expect(!Rate.rate("a\nb", 5, per: .seconds(1)).name.contains("\n"))
    }

    // MARK: Bad input

    @Test(
        "A rate that permits no start ends its operation with a misuse that names both",
        arguments: [
            (Rate.rate("api", 0, per: .seconds(1)), "the count of the rate ‘api’ is 0, and must be at least 1"),
            (.rate("api", -5, per: .seconds(1)), "the count of the rate ‘api’ is -5, and must be at least 1"),
            (.rate("api", 1, per: .zero), "the period of the rate ‘api’ is 0.0 seconds, and must be positive"),
            (.rate("api", 1, per: .seconds(-2)), "the period of the rate ‘api’ is -2.0 seconds, and must be positive"),
            (.rate("api", 3, per: .seconds(1), burst: 0), "the burst of the rate ‘api’ is 0, and must be at least 1"),
            (.rate("api", 3, per: .seconds(1), burst: 4), "the burst of the rate ‘api’ is 4, more than the count of 3"),
        ])
    func badInput(_ rate: Rate, _ problem: String) {
        let operation = stage.call("operation", rate)
        stage.run(operation, stage.call("other"))
        #expect(operation.ending == "misuse: invalidRate(\"\(problem)\")")
        guard case .misuse(let misuse)? = operation.error else {
            Issue.record("there is no misuse")
            return
        }
        #expect(misuse.description == "‘operation’: it can never have its turn: \(problem)")
        #expect(stage.ran == ["other 0.0"])
        #expect(stage.waitingForRates == 0)
    }

    @Test("Enormous numbers neither trap nor hang")
    func extremes() {
        let never = stage.calls(3, .rate("never", 1, per: Duration(attoseconds: .max)))
        stage.queue.add(never)
        stage.queue.add(stage.calls(3, .rate("always", .max, per: Duration(attoseconds: .max), burst: .max)))
        stage.queue.add(stage.calls(3, .rate("tiny", .max, per: Duration(attoseconds: 1), burst: .max)))
        stage.steps.runAll()
        #expect(stage.ran.count == 7)
        #expect("\(never[2].explain())".contains("behind 1 other"))
        stage.advance(by: .seconds(Int64.max))
        stage.queue.cancelAll()
        stage.steps.runAll()
        #expect(stage.waitingForRates == 0)
    }

    @Test("Different numbers for one name are reported, and the slower ones count until the rate is unused")
    func conflicts() {
        stage.run(
            stage.call("1", .rate("api", 1, per: .seconds(1))), stage.call("2", .rate("api", 1, per: .seconds(4))))
        stage.run(stage.call("3", .rate("api", 1, per: .seconds(1))))
        stage.walk(to: .seconds(20))
        #expect(stage.ran == ["1 0.0", "2 1.0", "3 5.0"])
        #expect(stage.misuseKinds == [.conflictingRates(name: "‘api’")])
        let count = stage.misuses.count
        stage.run(
            stage.call("4", .rate("api", 1, per: .seconds(1))), stage.call("5", .rate("api", 1, per: .seconds(1))))
        stage.walk(to: .seconds(30))
        #expect(stage.ran.suffix(2) == ["4 20.0", "5 21.0"])
        #expect(stage.misuses.count == count)
    }

    @Test("A report on different numbers says what they are, and where they were given")
    func placesOfConflicts() {
        let first = stage.call("1", .rate("api", 1, per: .seconds(1)))
        stage.run(first, stage.call("2", .rate("api", 4, per: .seconds(60), burst: 2)))
        let text = "\(stage.misuses.events.first!)"
        let numbers = "is 4 in 60 seconds, up to 2 at once here and 1 in 1 second at "
        #expect(text.hasPrefix("‘2’: the rate ‘api’ \(numbers)"), "\(text)")
        #expect(text.contains("TestQueue+Rates.swift:"))
        stage.queue.cancelAll()
        stage.steps.runAll()
    }

    @Test("Two rates of one name that disagree on one operation are reported once, and the slower one counts")
    func conflictsOfOneOperation() {
        let operation = AsyncOperation<Void>("operation") { throw Oops() }.retry(.immediately, attempts: 2)
        operation.addCondition(.rate("api", 1, per: .seconds(1)))
        operation.addCondition(.rate("api", 1, per: .seconds(4)))
        let line = #line - 1
        stage.run(operation)
        stage.walk(to: .seconds(20))
        #expect(operation.hasFinished)
        #expect(
            stage.misuses.events.map(\.description) == [
                "‘operation’: the rate ‘api’ is 1 in 4 seconds here and 1 in 1 second for the same operation "
                    + "(\(#fileID):\(line - 1)); the slower ones count. Use the same numbers for one name "
                    + "(\(#fileID):\(line))"
            ])
        let same = stage.call("same", .rate("other", 1, per: .seconds(1)))
        same.addCondition(.rate("other", 2, per: .seconds(2)))
        stage.run(same)
        #expect(stage.misuses.count == 1)
    }

    @Test("Different numbers are also reported for a rate behind another one that refuses the start")
    func conflictsBehindRefusal() {
        stage.run(
            stage.call("1", .rate("first", 1, per: .seconds(1))), stage.call("2", .rate("second", 1, per: .seconds(1))))
        let third = stage.call("3", .rate("first", 1, per: .seconds(1)))
        third.addCondition(.rate("second", 1, per: .seconds(4)))
        stage.run(third)
        #expect(stage.ran == ["1 0.0", "2 0.0"])
        #expect(stage.misuseKinds == [.conflictingRates(name: "‘second’")])
        stage.walk(to: .seconds(20))
        #expect(third.ending == "success")
        #expect(stage.misuses.count == 1)
    }

    @Test("A clock that goes back delays a start by no more than a burst")
    func clocksGoBack() {
        let clock = JumpingClock()
        let queue = AsyncOperationQueue(executor: stage.steps, clock: clock)
        let rate = Rate.rate("api", 1, per: .seconds(1))
        clock.jump(by: .seconds(1000))
        queue.add(stage.call("1", rate))
        stage.steps.runAll()
        clock.jump(by: .seconds(-900))
        let second = stage.call("2", rate)
        queue.add(second)
        stage.steps.runAll()
        clock.base.advance(by: .seconds(1))
        stage.steps.runAll()
        #expect(second.ending == "success")
    }
}
