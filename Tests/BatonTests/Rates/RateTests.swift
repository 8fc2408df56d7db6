import BatonTesting
import Testing

@testable import Baton

/// Operations whose starts are limited. Each test queue has a clock of its own, and so has rates of its own.
@Suite(.timeLimit(.minutes(10))) struct RateTests {
    /// A queue with one permit, which takes up operations in the order in which they were added.
    private let stage = TestQueue(width: 1)

    // MARK: Times of starts

    @Test("Without a burst operations start evenly spaced")
    func evenlySpaced() {
        stage.queue.add(stage.calls(4, .rate("api", 2, per: .seconds(1))))
        stage.steps.runAll()
        stage.walk(to: .seconds(10))
        #expect(stage.ran == ["1 0.0", "2 0.5", "3 1.0", "4 1.5"])
        #expect(stage.waitingForRates == 0)
    }

    @Test("A burst starts at once, and the others at the rate")
    func bursts() {
        stage.queue.add(stage.calls(6, .rate("api", 10, per: .seconds(10), burst: 3)))
        stage.steps.runAll()
        stage.walk(to: .seconds(10))
        #expect(stage.ran == ["1 0.0", "2 0.0", "3 0.0", "4 1.0", "5 2.0", "6 3.0"])
    }

    @Test("An unused rate allows one burst again, and no more than that")
    func unusedTime() {
        let rate = Rate.rate("api", 10, per: .seconds(10), burst: 2)
        stage.queue.add(stage.calls(2, rate))
        stage.steps.runAll()
        stage.walk(to: .seconds(60))
        stage.log.clear()
        stage.queue.add(stage.calls(4, rate))
        stage.steps.runAll()
        stage.walk(to: .seconds(100))
        #expect(stage.ran == ["1 60.0", "2 60.0", "3 61.0", "4 62.0"])
    }

    @Test("Two queues that share a clock share a rate, first come, first served")
    func twoQueues() {
        let rate = Rate.rate("api", 1, per: .seconds(1))
        let other = AsyncOperationQueue(executor: stage.steps, clock: stage.clock)
        // The clocks of the queues start at different times.
        stage.advance(by: .milliseconds(250))
        let third = AsyncOperationQueue(executor: stage.steps, clock: stage.clock)
        for (number, queue) in [stage.queue, third, other, stage.queue, third].enumerated() {
            queue.add(stage.call("\(number)", rate))
            stage.steps.runAll()
        }
        stage.walk(to: .seconds(10))
        #expect(stage.ran == ["0 0.25", "1 1.25", "2 2.25", "3 3.25", "4 4.25"])
        #expect(stage.misuseKinds.isEmpty)
    }

    @Test("A queue that uses a rate for the first time counts the starts of a queue that was released")
    func queueThatHasGone() {
        let rate = Rate.rate("api", 1, per: .seconds(1))
        let steps = StepExecutor()
        let clock = TestClock()
        let log = EventLog<String>()
        var first: AsyncOperationQueue? = AsyncOperationQueue(executor: steps, clock: clock)
        let second = AsyncOperationQueue(executor: steps, clock: clock)
        first?.add(AsyncOperation { log("first \(clock.seconds)") }.addCondition(rate))
        steps.runAll()
        first = nil
        steps.runAll()
        second.add(AsyncOperation { log("second \(clock.seconds)") }.addCondition(rate))
        steps.runAll()
        clock.advance(by: .seconds(1))
        steps.runAll()
        #expect(log.events == ["first 0.0", "second 1.0"])
    }

    @Test("Each clock has a rate of its own")
    func twoClocks() {
        let rate = Rate.rate("api", 1, per: .seconds(1))
        let other = TestQueue(on: stage.steps)
        let (mine, theirs) = (stage.calls(2, rate), other.noting("theirs").addCondition(rate))
        stage.queue.add(mine)
        other.run(theirs)
        #expect(theirs.ending == "success")
        // The other clock stands still, and delays no operation of this one.
        stage.walk(to: .seconds(1))
        #expect(mine.map(\.ending) == ["success", "success"])
    }

    @Test("Names are independent of each other")
    func names() {
        stage.run(
            stage.call("a", .rate("a", 1, per: .seconds(9))), stage.call("b", .rate("b", 1, per: .seconds(9))),
            stage.call("c", .rate("c", 1, per: .seconds(9))))
        #expect(stage.ran == ["a 0.0", "b 0.0", "c 0.0"])
    }

    @Test("An operation with two rates starts when both allow it")
    func twoRates() {
        let slow = Rate.rate("slow", 1, per: .seconds(3))
        let fast = Rate.rate("fast", 1, per: .seconds(1))
        stage.run(
            stage.call("1", slow).addCondition(fast), stage.call("2", fast), stage.call("3", fast).addCondition(slow),
            stage.call("4", fast))
        stage.walk(to: .seconds(10))
        #expect(
            stage.ran == ["1 0.0", "2 1.0", "4 2.0", "3 3.0"] || stage.ran == ["1 0.0", "2 1.0", "3 3.0", "4 4.0"])
        #expect(stage.waitingForRates == 0)
    }

    @Test("Each attempt of a retry and each run of a repetition is a start")
    func furtherRuns() {
        let rate = Rate.rate("api", 1, per: .seconds(1))
        let failing = AsyncOperation<Void>("failing") { [log = stage.log, clock = stage.clock] context in
            log("attempt \(context.attempt) \(clock.seconds)")
            throw Oops()
        }
        stage.run(failing.retry(.immediately, attempts: 3).addCondition(rate))
        stage.walk(to: .seconds(5))
        #expect(stage.ran == ["attempt 1 0.0", "attempt 2 1.0", "attempt 3 2.0"])
        #expect(failing.ending == "failed: oops")
        stage.log.clear()
        stage.run(stage.call("poll", rate).repeat(every: .zero, count: 3))
        stage.walk(to: .seconds(20))
        #expect(stage.ran == ["poll 5.0", "poll 6.0", "poll 7.0"])
    }

    @Test("An operation that a condition skips or fails takes no turn")
    func skipped() {
        let rate = Rate.rate("api", 1, per: .seconds(1))
        let skipped = stage.call("skipped", rate).addCondition("never") { _ in .skip("never") }
        stage.run(skipped, stage.call("next", rate))
        #expect(stage.ran == ["next 0.0"])
        #expect(skipped.ending == "skipped: never")
    }

    @Test("Combined conditions keep the rates of the conditions that they wrap")
    func wrapped() {
        for (number, name) in ["and", "or", "silent"].enumerated() {
            let rate = Rate.rate(name, 1, per: .seconds(1))
            let (first, second) = (stage.call("first \(name)"), stage.call("second \(name)"))
            for operation in [first, second] {
                switch number {
                case 0: operation.addCondition(NoFailedDependencies().and(rate))
                case 1: operation.addCondition(rate.or(NoFailedDependencies()))
                default: operation.addCondition(rate.silent)
                }
            }
            stage.run(first, second)
            #expect(first.ending == "success")
            #expect(second.ending == "ready")
        }
        stage.walk(to: .seconds(1))
        #expect(stage.ran.suffix(3) == ["second and 1.0", "second or 1.0", "second silent 1.0"])
    }

    // MARK: Waiting operations

    @Test("An operation that waits for its turn holds no permit and no exclusion")
    func holdsNothing() {
        let narrow = AsyncOperationQueue(maxConcurrentOperationCount: 1, executor: stage.steps, clock: stage.clock)
        let rate = Rate.rate("api", 1, per: .seconds(1))
        let name = "\(#function) \(ObjectIdentifier(narrow))"
        narrow.add(
            stage.call("1", rate), stage.call("2", rate).addCondition(.mutuallyExclusive(name)),
            stage.call("3").addCondition(.mutuallyExclusive(name)), stage.call("4"))
        stage.steps.runAll()
        #expect(stage.ran == ["1 0.0", "3 0.0", "4 0.0"])
        #expect(ExclusionManager.isFree(.text(name)))
        stage.walk(to: .seconds(2))
        #expect(stage.ran.last == "2 1.0")
        #expect(ExclusionManager.isFree(.text(name)))
    }

    @Test("An operation with an exclusion and a rate starts, although other operations use each of them all the time")
    func neverOvertakenForEver() {
        let rate = Rate.rate("api", 1, per: .seconds(1))
        let name = "\(#function) \(ObjectIdentifier(stage.queue))"
        let wide = AsyncOperationQueue(executor: stage.steps, clock: stage.clock)
        for number in 1...2 { wide.add(AsyncOperation("caller \(number)") {}.addCondition(rate).repeat(every: .zero)) }
        stage.steps.runAll()
        // The holders end half a second after each start that the rate allows.
        stage.walk(to: .milliseconds(500))
        for number in 1...2 {
            let holder = AsyncOperation("holder \(number)") { context in try await context.sleep(for: .seconds(3)) }
            wide.add(holder.addCondition(.mutuallyExclusive(name)).repeat(every: .zero))
        }
        stage.steps.runAll()
        stage.run(stage.call("both", rate).addCondition(.mutuallyExclusive(name)))
        stage.walk(to: .seconds(30))
        #expect(stage.ran.count == 1)
        wide.cancelAll()
        stage.steps.runAll()
        #expect(ExclusionManager.isFree(.text(name)))
        #expect(stage.waitingForRates == 0)
    }

    enum KeptNames: CaseIterable {
        case areUsed, areGivenBackByCancel, areGivenBackBySuspension
    }

    @Test(
        "An operation that has lost its turn keeps its exclusion, until it starts or may not start",
        arguments: KeptNames.allCases)
    func keepsNames(_ what: KeptNames) {
        let rate = Rate.rate("api", 1, per: .seconds(1))
        let name = "\(#function) \(ObjectIdentifier(stage.queue))"
        let wide = AsyncOperationQueue(executor: stage.steps, clock: stage.clock)
        let gate = Gate()
        let both = stage.call("both", rate).addCondition(.mutuallyExclusive(name))
        stage.run(stage.call("1", rate), both)
        wide.add(stage.waiting("holder", at: gate).addCondition(.mutuallyExclusive(name)))
        stage.steps.runAll()
        stage.walk(to: .milliseconds(1500))
        wide.add(stage.call("2", rate))
        stage.steps.runAll()
        stage.walk(to: .milliseconds(2200))
        gate.open()
        stage.steps.runAll()
        let next = stage.call("next").addCondition(.mutuallyExclusive(name))
        wide.add(next)
        stage.steps.runAll()
        #expect(stage.ran == ["1 0.0", "holder", "2 2.0"])
        #expect("\(next.explain())".contains("‘both’"))
        switch what {
        case .areUsed:
            stage.walk(to: .seconds(10))
            #expect(stage.ran.suffix(2) == ["both 3.0", "next 3.0"])
        case .areGivenBackByCancel:
            both.cancel()
            stage.steps.runAll()
            #expect(stage.ran.last == "next 2.2")
        case .areGivenBackBySuspension:
            stage.queue.isSuspended = true
            stage.walk(to: .seconds(10))
            #expect(stage.ran.last == "next 3.0")
            stage.queue.isSuspended = false
            stage.steps.runAll()
            stage.walk(to: .seconds(20))
            #expect(stage.ran.last == "both 10.0")
        }
        #expect(ExclusionManager.isFree(.text(name)))
        #expect(stage.waitingForRates == 0)
    }

    @Test("A cancelled operation ends at once, and the operations behind it move up")
    func cancelled() {
        let operations = stage.calls(4, .rate("api", 1, per: .seconds(1)))
        stage.queue.add(operations)
        stage.steps.runAll()
        operations[1].cancel()
        #expect(operations[1].ending == "cancelled on request")
        stage.walk(to: .milliseconds(1500))
        #expect(stage.ran == ["1 0.0", "3 1.0"])
        operations[3].cancel()
        stage.steps.runAll()
        #expect(stage.waitingForRates == 0)
        #expect(stage.queue.operationCount == 0)
    }

    @Test("A time limit for waiting ends an operation that waits for its turn")
    func limitedWaiting() {
        let operations = stage.calls(3, .rate("api", 1, per: .seconds(10)))
        operations[1].timeout(waiting: .seconds(4))
        stage.queue.add(operations)
        stage.steps.runAll()
        stage.walk(to: .seconds(10))
        #expect(operations[1].ending.hasPrefix("timed out after 4.0 seconds, while it waited for the rate "))
        #expect(stage.ran == ["1 0.0", "3 10.0"])
    }

    @Test("An operation that is cancelled between the count of its start and its body gives its turn back")
    func cancelledBeforeBody() {
        let second = stage.call("2", .rate("api", 4, per: .seconds(2), burst: 3))
        // The conflict is reported between the two.
        let queue = AsyncOperationQueue(
            executor: stage.steps, clock: stage.clock, onMisuse: { _ in second.cancel() })
        let rate = Rate.rate("api", 2, per: .seconds(1), burst: 2)
        stage.run(stage.call("1", rate))
        stage.advance(by: .milliseconds(300))
        queue.add(second)
        stage.steps.runAll()
        #expect(second.ending == "cancelled on request")
        stage.run(stage.call("3", rate))
        #expect(stage.ran == ["1 0.0", "3 0.3"])
    }

    @Test("An operation that is cancelled when it has its turn, and its queue is full, gives the turn back")
    func cancelledWithTurn() {
        let rate = Rate.rate("api", 1, per: .seconds(1))
        let narrow = AsyncOperationQueue(maxConcurrentOperationCount: 1, executor: stage.steps, clock: stage.clock)
        let gate = Gate()
        let second = stage.call("2", rate)
        stage.run(stage.call("1", rate))
        narrow.add(second)
        stage.steps.runAll()
        stage.run(stage.call("3", rate))
        narrow.add(stage.waiting("busy", at: gate))
        stage.steps.runAll()
        stage.walk(to: .seconds(1))
        second.cancel()
        stage.steps.runAll()
        #expect(stage.ran == ["1 0.0", "busy", "3 1.0"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.waitingForRates == 0)
    }

    @Test("Operations that wait behind an operation of a released queue have their turns")
    func goneQueues() {
        let rate = Rate.rate("api", 1, per: .seconds(1))
        stage.run(stage.call("1", rate))
        let second = stage.call("2", rate)
        do {
            let other = AsyncOperationQueue(executor: stage.steps, clock: stage.clock)
            other.add(second)
            stage.steps.runAll()
        }
        stage.run(stage.call("3", rate))
        second.cancel()
        stage.steps.runAll()
        stage.walk(to: .seconds(5))
        #expect(stage.ran == ["1 0.0", "3 1.0"])
    }

    @Test("Everything ends when a queue with waiting operations is cancelled or released")
    func endedQueues() {
        let operations = stage.calls(100, .rate("api", 1, per: .seconds(1)))
        stage.queue.add(operations)
        stage.steps.runAll()
        stage.queue.cancelAll()
        stage.steps.runAll()
        let endings = Set(operations.dropFirst().map(\.ending))
        #expect(endings.count == 1 && endings.first!.hasPrefix("cancelled"))
        #expect(stage.waitingForRates == 0)
        let clock = TestClock()
        var identity: ObjectIdentifier?
        let stranded = (1...3).map { _ in AsyncOperation {}.addCondition(.rate("api", 1, per: .seconds(1))) }
        do {
            let queue = AsyncOperationQueue(executor: stage.steps, clock: clock)
            identity = queue.core.time.clockIdentity
            queue.add(stranded)
            stage.steps.runAll()
            #expect(RateManager.counts(of: identity!).operations == 2)
            queue.isSuspended = true
        }
        stage.steps.runAll()
        #expect(stranded.map(\.ending) == ["success", "queueReleased", "queueReleased"])
        #expect(RateManager.counts(of: identity!).isKnown == false)
    }

    @Test("The operations of a suspended queue give their turns to others, and keep their places")
    func suspended() {
        let rate = Rate.rate("api", 1, per: .seconds(1))
        let other = AsyncOperationQueue(executor: stage.steps, clock: stage.clock)
        stage.queue.add(stage.call("1", rate), stage.call("2", rate), stage.call("3", rate))
        stage.steps.runAll()
        other.add(stage.call("4", rate), stage.call("5", rate), stage.call("6", rate))
        stage.steps.runAll()
        stage.queue.isSuspended = true
        stage.walk(to: .milliseconds(2500))
        #expect(stage.ran == ["1 0.0", "4 1.0", "5 2.0"])
        stage.queue.isSuspended = false
        stage.steps.runAll()
        stage.walk(to: .seconds(10))
        #expect(stage.ran == ["1 0.0", "4 1.0", "5 2.0", "2 3.0", "3 4.0", "6 5.0"])
    }

    @Test("A queue that is suspended between a turn and the start gives the turn back")
    func suspendedWithTurn() {
        let rate = Rate.rate("api", 1, per: .seconds(1))
        let narrow = AsyncOperationQueue(maxConcurrentOperationCount: 1, executor: stage.steps, clock: stage.clock)
        let gate = Gate()
        stage.run(stage.call("1", rate))
        narrow.add(stage.call("2", rate))
        stage.steps.runAll()
        stage.run(stage.call("3", rate))
        narrow.add(stage.waiting("busy", at: gate))
        stage.steps.runAll()
        stage.walk(to: .seconds(1))
        #expect(stage.ran == ["1 0.0", "busy"])
        narrow.isSuspended = true
        stage.steps.runAll()
        #expect(stage.ran == ["1 0.0", "busy", "3 1.0"])
        gate.open()
        narrow.isSuspended = false
        stage.steps.runAll()
        stage.walk(to: .seconds(5))
        #expect(stage.ran.last == "2 2.0")
    }

    @Test("Operations whose turns came while their queue was full start at the rate, in order")
    func fullQueue() {
        let rate = Rate.rate("api", 1, per: .seconds(1))
        let narrow = AsyncOperationQueue(maxConcurrentOperationCount: 1, executor: stage.steps, clock: stage.clock)
        let gate = Gate()
        narrow.add(stage.calls(4, rate))
        stage.steps.runAll()
        narrow.add(stage.waiting("busy", at: gate))
        stage.steps.runAll()
        stage.walk(to: .milliseconds(9500))
        stage.run(stage.call("other", rate))
        gate.open()
        stage.steps.runAll()
        stage.walk(to: .seconds(20))
        #expect(stage.ran == ["1 0.0", "busy", "other 9.5", "2 10.5", "3 11.5", "4 12.5"])
        #expect(stage.waitingForRates == 0)
    }

    @Test("Children wait for their turns, too, and a group with a rate is one start")
    func children() {
        let rate = Rate.rate("api", 1, per: .seconds(1))
        let group = GroupOperation("group", stage.calls(2, rate)).addCondition(rate)
        stage.run(group)
        #expect(stage.ran.isEmpty)
        stage.walk(to: .seconds(5))
        #expect(stage.ran == ["1 1.0", "2 2.0"])
        #expect(group.ending == "success")
    }

    // MARK: Released resources

    @Test("The table keeps at most twice as many names as are in use, and drops a clock with its last queue")
    func remains() {
        let identity: ObjectIdentifier
        let tokens = Tokens()
        do {
            let stage = TestQueue(on: stage.steps)
            identity = stage.queue.core.time.clockIdentity
            for number in 0..<1000 {
                let token = tokens.make()
                let operation = AsyncOperation { token.touch() }
                stage.run(operation.addCondition(.rate("name \(number)", 1, per: .seconds(1))))
                stage.advance(by: .seconds(2))
                #expect(RateManager.counts(of: identity).rates <= 17)
            }
            #expect(tokens.alive == 0)
            #expect(RateManager.counts(of: identity).operations == 0)
        }
        stage.steps.runAll()
        #expect(RateManager.counts(of: identity).isKnown == false)
    }
}
