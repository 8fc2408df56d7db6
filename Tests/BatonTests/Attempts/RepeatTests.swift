import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct RepeatTests {
    @Test("A repetition runs the given number of times at the given interval")
    func itRunsSoManyTimesAtThisInterval() {
        let stage = TestQueue()
        let runs = Tally()
        let operation = AsyncOperation("tick") { () -> Int in
            runs.add()
            return runs.count
        }
        .repeat(every: .seconds(2), count: 3)
        stage.run(operation)
        #expect(runs.count == 1)
        stage.advance(by: .seconds(1))
        #expect(runs.count == 1)
        stage.advance(by: .seconds(1))
        #expect(runs.count == 2)
        stage.advance(by: .seconds(2))
        #expect(try! operation.result!.get() == 3)
        #expect(stage.queue.operationCount == 0)
    }

    @Test func theIntervalIsFromStartToStart() {
        let stage = TestQueue()
        let operation = AsyncOperation("tick") {
            stage.log("\(stage.clock.now)")
            try await stage.clock.sleep(for: .seconds(1))
        }
        .repeat(every: .seconds(2), count: 3)
        stage.run(operation)
        for _ in 0..<6 { stage.advance(by: .seconds(1)) }
        #expect(stage.ran == ["0.0 seconds", "2.0 seconds", "4.0 seconds"])
    }

    /// The result is the same whether or not a failure would be followed by another attempt.
    @Test(arguments: [1, 3]) func aRunThatReturnsAfterItsTimeoutIsTheLast(attempts: Int) {
        let stage = TestQueue()
        let runs = Tally()
        let gate = Gate()
        let operation = AsyncOperation("tick") { () -> Int in
            runs.add()
            await gate.wait()
            return runs.count
        }
        .timeout(.seconds(1)).retry(.immediately, attempts: attempts).repeat(every: .seconds(5))
        stage.run(operation)
        stage.advance(by: .seconds(1))
        gate.open()
        stage.steps.runAll()
        #expect(operation.ending == "success")
        #expect(runs.count == 1)
        #expect(operation.isCancelled)
        #expect(stage.queue.operationCount == 0)
    }

    @Test func aLongerRunIsFollowedAtOnce() {
        let stage = TestQueue()
        let operation = AsyncOperation("tick") {
            stage.log("\(stage.clock.now)")
            try await stage.clock.sleep(for: .seconds(5))
        }
        .repeat(every: .seconds(2), count: 2)
        stage.run(operation)
        stage.advance(by: .seconds(5))
        #expect(stage.ran == ["0.0 seconds", "5.0 seconds"])
        stage.advance(by: .seconds(5))
        #expect(operation.ending == "success")
    }

    @Test("A repetition ends when its predicate says that an output is the last")
    func itEndsWhenAnOutputIsTheLast() {
        let stage = TestQueue()
        let runs = Tally()
        let operation = AsyncOperation("poll") { () -> Int in
            runs.add()
            return runs.count
        }
        .repeat(every: .seconds(1)) { $0 == 3 }
        stage.run(operation)
        for _ in 0..<9 { stage.advance(by: .seconds(1)) }
        #expect(try! operation.result!.get() == 3)
    }

    @Test func anErrorOfThePredicateBecomesTheFailure() {
        let stage = TestQueue()
        let operation = stage.noting("poll").repeat(every: .seconds(1)) { throw Oops(text: "question") }
        stage.run(operation)
        #expect(operation.ending == "failed: question")
        #expect(stage.ran == ["poll"])
    }

    @Test func aFailureEndsIt() {
        let stage = TestQueue()
        let runs = Tally()
        let operation = AsyncOperation<Void>("tick") {
            runs.add()
            if runs.count == 2 { throw Oops() }
        }
        .repeat(every: .seconds(1))
        stage.run(operation)
        stage.advance(by: .seconds(1))
        #expect(operation.ending == "failed: oops")
    }

    @Test func eachRepetitionHasItsOwnAttempts() {
        let stage = TestQueue()
        let operation = AsyncOperation("tick") { context in
            stage.log("attempt \(context.attempt)")
            if context.attempt == 1 { throw Oops() }
        }
        .retry(.immediately, attempts: 2).repeat(every: .seconds(1), count: 2)
        stage.run(operation)
        stage.advance(by: .seconds(1))
        #expect(stage.ran == ["attempt 1", "attempt 2", "attempt 1", "attempt 2"])
        #expect(operation.ending == "success")
        #expect(operation.attempts.map(\.number) == [1, 2])
    }

    @Test func cancelledInAPauseItEndsAtOnceAndLetsItsOutputGo() {
        let tokens = Tokens()
        let stage = TestQueue()
        let operation = AsyncOperation("tick") { tokens.make() }.repeat(every: .seconds(1))
        stage.run(operation)
        #expect(tokens.alive == 0)
        operation.cancel()
        #expect(operation.ending == "cancelled on request")
        #expect(stage.queue.operationCount == 0)
        #expect(stage.queue.core.timerService.count == 0)
    }

    @Test func cancelledInARunItKeepsTheValueOfThatRun() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = stage.waiting("tick", at: gate).repeat(every: .seconds(1))
        stage.run(operation)
        operation.cancel()
        gate.open()
        stage.steps.runAll()
        #expect(operation.ending == "success")
        #expect(stage.ran == ["tick"])
    }

    @Test("An operation holds no permit between its runs")
    func itHoldsNoPermitInBetween() {
        let stage = TestQueue(width: 1)
        let operation = stage.noting("tick").repeat(every: .seconds(1), count: 2)
        let other = stage.noting("other")
        stage.run(operation, other)
        #expect(stage.ran == ["tick", "other"])
        stage.advance(by: .seconds(1))
        #expect(stage.ran == ["tick", "other", "tick"])
    }

    @Test func anInvalidCountIsReportedAndCountsAsOne() {
        let stage = TestQueue(isSuspended: true)
        let added = stage.noting("added")
        stage.run(added)
        added.repeat(every: .seconds(-1), count: 0)
        #expect(
            stage.misuseKinds == [
                .invalidCount(0), .negativeDuration("an interval"), .changedAfterAdding("a repetition"),
            ])
        stage.queue.isSuspended = false
        stage.steps.runAll()
        let operation = stage.noting("tick").repeat(every: .seconds(1), count: 0)
        stage.run(operation)
        #expect(operation.ending == "success")
    }

    /// The timer of a run may fire just before the run returns, and reach the operation when the next run is executing.
    @Test func aLimitThatComesTooLateDoesNotCutTheNextRun() {
        let stage = TestQueue()
        let runs = Tally()
        let operation = AsyncOperation("tick") { context in
            runs.add()
            let formerRun = Int32(runs.count - 2)
            context.operation.attemptLimitExpired(in: formerRun, after: .seconds(5), isLast: false)
            return Task.isCancelled
        }
        .timeout(.seconds(5)).repeat(every: .zero, count: 3)
        stage.run(operation)
        #expect(runs.count == 3)
        #expect(operation.ending == "success")
        #expect(try! operation.result!.get() == false)
    }

    @Test func theNumberOfItsRunsMayWrapAround() {
        let optionalState = OptionalState()
        optionalState.run = .max
        optionalState.forgetWaits()
        #expect(optionalState.run == .min)
    }
}
