import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct DelayTests {
    @Test func aDelayPassesItsInputOn() {
        let stage = TestQueue()
        let source = AsyncOperation("source") { 7 }
        let delay = source.delayed(by: .seconds(2))
        stage.run(source, delay)
        #expect(delay.state == .waiting)
        stage.advance(by: .seconds(1))
        #expect(delay.result == nil)
        stage.advance(by: .seconds(1))
        #expect(try! delay.result!.get() == 7)
    }

    @Test("A delay without an input is an operation like others")
    func oneWithoutAnInputIsAnOperationLikeOthers() {
        let stage = TestQueue()
        let delay = AsyncOperation.delay(.seconds(1))
        let after = stage.noting("after", after: delay)
        stage.run(delay, after)
        stage.advance(by: .milliseconds(999))
        #expect(stage.ran.isEmpty)
        stage.advance(by: .milliseconds(1))
        #expect(stage.ran == ["after"])
        #expect(delay.name == "delay")
    }

    @Test("A delay holds no permit")
    func itHoldsNoPermit() {
        let stage = TestQueue(width: 1)
        let delay = AsyncOperation.delay(.seconds(1))
        let other = stage.noting("other")
        stage.run(delay, other)
        #expect(stage.ran == ["other"])
        stage.advance(by: .seconds(1))
        #expect(delay.ending == "success")
    }

    @Test func aSourceWithoutAnOutputIsNotWaitedAfter() {
        let stage = TestQueue()
        let source = AsyncOperation<Int>("source") { throw Oops() }
        let delay = source.delayed(by: .seconds(2))
        stage.run(source, delay)
        #expect(delay.ending == "needs source via source: failed: oops")
    }

    @Test func aNegativeDelayCountsAsZero() {
        let stage = TestQueue()
        let delay = AsyncOperation.delay(.seconds(-2))
        stage.run(delay)
        #expect(delay.ending == "success")
    }

    @Test func cancelledItEndsAtOnceAndLeavesNothing() {
        let tokens = Tokens()
        let stage = TestQueue()
        do {
            let token = tokens.make()
            let source = AsyncOperation("source") { token }
            let delay = source.delayed(by: .seconds(2))
            stage.run(source, delay)
            delay.cancel()
            #expect(delay.ending == "cancelled on request")
            stage.steps.runAll()
        }
        #expect(tokens.alive == 0)
        #expect(stage.queue.operationCount == 0)
        #expect(stage.queue.core.timerService.count == 0)
        stage.advance(by: .seconds(5))
    }

    @Test func conditionsAreAskedAfterTheDelay() {
        let stage = TestQueue()
        let delay = AsyncOperation.delay(.seconds(1)).addCondition("asked") { [log = stage.log] _ in
            log("condition")
            return .satisfied
        }
        stage.run(delay)
        #expect(stage.ran.isEmpty)
        stage.advance(by: .seconds(1))
        #expect(stage.ran == ["condition"])
        #expect(delay.ending == "success")
    }

    @Test func whenTheQueueIsSuspendedItEndsLater() {
        let stage = TestQueue()
        let delay = AsyncOperation.delay(.seconds(1))
        stage.run(delay)
        stage.queue.isSuspended = true
        stage.advance(by: .seconds(1))
        #expect(delay.state == .ready)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(delay.ending == "success")
    }

    // MARK: Delays of an operation itself

    @Test("A delay postpones this operation, and no other")
    func configuring() {
        let stage = TestQueue(width: 1)
        let source = AsyncOperation("source") { 7 }
        let sum = AsyncOperation("sum", source) { [log = stage.log] number in
            log("sum")
            return number + 1
        }
        #expect(sum.delay(.seconds(5)).delay(.seconds(2)) === sum)
        stage.run(source, sum, stage.noting("other"))
        #expect(stage.ran == ["other"] && sum.state == .waiting && sum.name == "sum")
        stage.advance(by: .milliseconds(1999))
        #expect(stage.ran == ["other"])
        stage.advance(by: .milliseconds(1))
        #expect(stage.ran == ["other", "sum"])
        #expect(try! sum.result!.get() == 8)
    }

    @Test("A delay counts for the first attempt alone")
    func attempts() {
        let stage = TestQueue()
        let work = AsyncOperation<Int>("work") { [log = stage.log] in
            log("attempt")
            throw Oops()
        }
        stage.run(work.delay(.seconds(2)).retry(.constant(.seconds(3)), attempts: 2))
        stage.advance(by: .seconds(2))
        #expect(stage.ran == ["attempt"])
        stage.advance(by: .seconds(3))
        #expect(stage.ran == ["attempt", "attempt"])
        #expect(work.result != nil)
    }

    @Test("An operation whose inputs are missing, or that is a duplicate, does not wait for its delay")
    func withoutInputs() {
        let stage = TestQueue()
        let source = AsyncOperation<Int>("source") { throw Oops() }
        let reader = source.map { $0 + 1 }.delay(.seconds(2))
        stage.run(source, reader)
        #expect(reader.ending == "needs source via source: failed: oops")
        let group = GroupOperation("group", AsyncOperation {}).delay(.seconds(2))
        stage.run(group)
        #expect(group.result == nil)
        stage.advance(by: .seconds(2))
        #expect(group.ending == "success")
    }

    @Test("A delay after the add is misuse, and a negative one counts as zero")
    func misuse() {
        let stage = TestQueue()
        let work = stage.noting("work").delay(.seconds(-1))
        stage.run(work)
        #expect(stage.ran == ["work"])
        let waiting = stage.noting("waiting").delay(.seconds(1))
        stage.run(waiting)
        waiting.delay(.seconds(100))
        stage.advance(by: .seconds(1))
        #expect(stage.ran == ["work", "waiting"])
        #expect(stage.misuseKinds == [.changedAfterAdding("a delay")])
    }

    @Test("The closure of a replaced delay is released with it")
    func formerDelays() {
        let tokens = Tokens()
        let work = AsyncOperation {}
        do {
            let token = tokens.make()
            work.delay(asking: { withExtendedLifetime(token) { .seconds(1) } })
        }
        #expect(tokens.alive == 1)
        work.delay(.seconds(1))
        #expect(tokens.alive == 0)
    }

    // MARK: Minimum delays

    @Test func AOperationPages_7_whatTheChainHasTakenCounts() {
        let stage = TestQueue()
        let work = AsyncOperation("work") { try await stage.clock.sleep(for: .seconds(2)) }
        let delay = work.delayed(untilAtLeast: .seconds(5))
        stage.run(work, delay)
        stage.advance(by: .seconds(2))
        #expect(work.ending == "success")
        stage.advance(by: .milliseconds(2999))
        #expect(delay.result == nil)
        stage.advance(by: .milliseconds(1))
        #expect(delay.ending == "success")
    }

    @Test func AOperationPages_7_aChainThatHasTakenLongerIsNotWaitedAfter() {
        let stage = TestQueue()
        let work = AsyncOperation("work") { try await stage.clock.sleep(for: .seconds(6)) }
        let delay = work.delayed(untilAtLeast: .seconds(5))
        stage.run(work, delay)
        stage.advance(by: .seconds(6))
        #expect(delay.ending == "success")
    }

    @Test func theFirstOfTheChainCounts() {
        let stage = TestQueue()
        let first = AsyncOperation("first") { try await stage.clock.sleep(for: .seconds(2)) }
        let second = first.then { try await stage.clock.sleep(for: .seconds(2)) }
        let delay = second.delayed(untilAtLeast: .seconds(5))
        // Time that passes before the chain starts has no effect.
        stage.advance(by: .seconds(100))
        stage.run(first, second, delay)
        stage.advance(by: .seconds(2))
        stage.advance(by: .seconds(2))
        #expect(second.ending == "success")
        #expect(delay.state == .waiting)
        stage.advance(by: .seconds(1))
        #expect(delay.ending == "success")
    }

    @Test func aStartThatComesAfterConditionsCounts() {
        let stage = TestQueue()
        let work = AsyncOperation("work") {}
        work.addCondition("patience") { _ in
            try await stage.clock.sleep(for: .seconds(100))
            return .satisfied
        }
        stage.run(work)
        #expect(work.state == .evaluating)
        let delay = work.delayed(untilAtLeast: .seconds(5))
        stage.run(delay)
        stage.advance(by: .seconds(100))
        #expect(work.ending == "success")
        stage.advance(by: .milliseconds(4999))
        #expect(delay.result == nil)
        stage.advance(by: .milliseconds(1))
        #expect(delay.ending == "success")
    }

    @Test func aChainThatHasStartedBeforeCountsFromTheCall() {
        let stage = TestQueue()
        let work = stage.noting("work")
        stage.run(work)
        let delay = work.delayed(untilAtLeast: .seconds(3600))
        stage.run(delay)
        #expect(delay.state == .waiting)
        delay.cancel()
    }
}
