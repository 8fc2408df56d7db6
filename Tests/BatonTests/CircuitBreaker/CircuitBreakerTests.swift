import BatonTesting
import Testing

@testable import Baton

/// Tests of `CircuitBreaker`.
@Suite(.timeLimit(.minutes(10))) struct CircuitBreakerTests {
    private let stage = TestQueue()
    private let breaker = CircuitBreaker("partner", failures: 2, retryAfter: .seconds(30))

    private func call(_ name: String, failing: Bool = false) -> AsyncOperation<Void> {
        AsyncOperation(name) { [log = stage.log] in
            log(name)
            if failing { throw Oops() }
        }.addCondition(breaker)
    }

    private func open() {
        stage.run(call("x", failing: true), call("y", failing: true))
        #expect(breaker.state == .open)
        stage.log.clear()
    }

    @Test("After enough failures operations fail at once, and their errors say when the next trial is allowed")
    func opens() {
        let narrow = AsyncOperationQueue(maxConcurrentOperationCount: 1, executor: stage.steps, clock: stage.clock)
        let operations = (1...4).map { call("\($0)", failing: true) }
        narrow.add(operations)
        stage.steps.runAll()
        #expect(stage.ran == ["1", "2"])
        #expect(operations[1].ending == "failed: oops")
        #expect(
            operations[3].ending == "condition circuit breaker partner: "
                + "the circuit ‘partner’ is open, and allows a trial in 30.0 seconds")
        stage.advance(by: .seconds(12))
        let late = call("late")
        stage.run(late)
        guard case .conditionFailed(_, let cause as CircuitOpenError)? = late.error else {
            Issue.record("the condition has not failed")
            return
        }
        #expect(cause == CircuitOpenError(circuit: "partner", timeUntilTrial: .seconds(18)))
    }

    @Test("A dependent of the operation that opens the breaker finds it open")
    func isNotedBeforeTheOutcome() {
        let breaker = CircuitBreaker("partner", failures: 1, retryAfter: .seconds(30))
        let first = AsyncOperation<Void>("first") { throw Oops() }.addCondition(breaker)
        let second = stage.noting("second", after: first).addCondition(breaker)
        stage.run(first, second)
        #expect(stage.ran.isEmpty)
        #expect(second.ending.hasPrefix("condition circuit breaker partner"))
    }

    @Test("After the open time one operation is admitted, and its success closes the breaker")
    func closes() {
        open()
        stage.advance(by: .seconds(30))
        let gate = Gate()
        let trial = stage.waiting("trial", at: gate).addCondition(breaker)
        let other = call("other")
        stage.run(trial)
        #expect(breaker.state == .halfOpen)
        stage.run(other)
        #expect(
            other.ending == "condition circuit breaker partner: "
                + "the circuit ‘partner’ is half open, and waits for the end of a trial")
        gate.open()
        stage.steps.runAll()
        #expect(breaker.state == .closed)
        stage.run(call("next"))
        #expect(stage.ran == ["trial", "next"])
    }

    @Test("An operation that has the breaker in two of its conditions is admitted once, and counts once")
    func askedTwiceByOneOperation() {
        let once = call("once", failing: true).addCondition(breaker).addCondition(breaker.and(breaker))
        stage.run(once)
        #expect(breaker.state == .closed, "One failure of two.")
        open()
        stage.advance(by: .seconds(30))
        stage.run(call("trial").addCondition(breaker).addCondition(breaker.and(breaker)))
        #expect(stage.ran == ["trial"] && breaker.state == .closed)
        stage.run(call("next"))
        #expect(stage.ran == ["trial", "next"])
    }

    @Test("A trial whose child the breaker refuses says nothing about the service, and gives its admission back")
    func refusalsAreNoFailures() {
        open()
        stage.advance(by: .seconds(30))
        let child = call("child")
        let parent = AsyncOperation("parent") { context in _ = try await context.run(child) }.addCondition(breaker)
        stage.run(parent)
        #expect(parent.error?.underlyingError is CircuitOpenError)
        #expect(breaker.state == .halfOpen)
        stage.run(call("next"))
        #expect(stage.ran == ["next"])
        #expect(breaker.state == .closed)
    }

    @Test("A trial that fails opens the breaker again")
    func opensAgain() {
        open()
        stage.advance(by: .seconds(30))
        stage.run(call("trial", failing: true))
        #expect(breaker.state == .open)
        stage.advance(by: .seconds(29))
        stage.run(call("early"))
        stage.advance(by: .seconds(1))
        stage.run(call("late"))
        #expect(stage.ran == ["trial", "late"])
        #expect(breaker.state == .closed)
    }

    @Test("A trial that is cancelled, skipped or never run gives its admission to the next operation")
    func givesBack() {
        open()
        stage.advance(by: .seconds(30))
        let gate = Gate()
        // The trial is cancelled while its body executes.
        let cancelled = AsyncOperation("cancelled") { try await gate.waitUnlessCancelled() }.addCondition(breaker)
        stage.run(cancelled)
        #expect(breaker.state == .halfOpen)
        cancelled.cancel()
        stage.steps.runAll()
        #expect(cancelled.ending == "cancelled on request")
        // Another condition skips the trial.
        let skipped = call("skipped").addCondition("never") { _ in .skip("never") }
        stage.run(skipped)
        let waiting = call("waiting").addCondition(.rate("api", 1, per: .seconds(9)))
        stage.run(call("first").addCondition(.rate("api", 1, per: .seconds(9))))
        #expect(breaker.state == .closed)
        open()
        stage.advance(by: .seconds(30))
        // An operation that could be the trial is cancelled between its conditions and its body.
        stage.run(stage.noting("starts").addCondition(.rate("slow", 1, per: .seconds(9))))
        let slow = call("slow").addCondition(.rate("slow", 1, per: .seconds(9)))
        stage.run(slow)
        #expect(breaker.state == .open, "An operation that waits for its rate is not the trial yet.")
        slow.cancel()
        stage.steps.runAll()
        stage.run(waiting)
        #expect(stage.ran == ["starts", "waiting"])
        #expect(breaker.state == .closed)
    }

    @Test("An operation that is released without having been run gives its admission back")
    func released() async throws {
        open()
        stage.advance(by: .seconds(30))
        do {
            let operation = AsyncOperation {}
            #expect(try await breaker.evaluate(for: operation) == .satisfied)
            #expect(breaker.state == .halfOpen)
            await #expect(throws: CircuitOpenError.self) { try await breaker.evaluate(for: AsyncOperation {}) }
        }
        #expect(try await breaker.evaluate(for: AsyncOperation {}) == .satisfied)
    }

    @Test("Operations that are cancelled, skipped or never run do not count")
    func whatDoesNotCount() {
        let missing = AsyncOperation<Int>("missing") { throw Oops() }
        for number in 1...3 {
            let skipped = call("skipped \(number)").addCondition("never") { _ in .skip("never") }
            let refused = call("refused \(number)").addCondition("fails") { _ in throw Oops() }
            let limited = call("limited \(number)").addCondition(.rate("api", 1, per: .seconds(99)))
            stage.run(skipped, refused, limited.timeout(waiting: .seconds(1)))
            let cancelled = AsyncOperation { throw CancellationError() }.addCondition(breaker)
            cancelled.cancel()
            stage.run(missing.then { $0 }.addCondition(breaker), cancelled)
            stage.advance(by: .seconds(2))
        }
        stage.run(missing)
        #expect(breaker.state == .closed)
        stage.run(call("one", failing: true))
        #expect(breaker.state == .closed)
        stage.run(call("two", failing: true))
        #expect(breaker.state == .open)
    }

    @Test("A time limit is a failure, and an operation with retries counts once")
    func whatCounts() {
        let gate = Gate()
        let slow = AsyncOperation("slow") { try await gate.waitUnlessCancelled() }.addCondition(breaker)
        stage.run(slow.timeout(.seconds(1)))
        stage.advance(by: .seconds(1))
        #expect(slow.ending == "timed out after 1.0 seconds")
        #expect(breaker.state == .closed)
        stage.run(call("again", failing: true).retry(.immediately, attempts: 3))
        #expect(stage.ran == ["again", "again", "again"])
        #expect(breaker.state == .open)
        let other = CircuitBreaker("other", failures: 2, retryAfter: .seconds(1))
        stage.run(AsyncOperation { throw Oops() }.retry(.immediately, attempts: 9).addCondition(other))
        #expect(other.state == .closed)
    }

    @Test("An error that says that the service has answered counts as a success")
    func chosenErrors() {
        let breaker = CircuitBreaker("partner", failures: 2, retryAfter: .seconds(30)) { error in
            (error.underlyingError as? Oops)?.text != "not found"
        }
        func call(_ text: String) { stage.run(AsyncOperation { throw Oops(text: text) }.addCondition(breaker)) }
        for text in ["not found", "down", "not found", "down", "not found"] { call(text) }
        #expect(breaker.state == .closed)
        call("down")
        call("down")
        #expect(breaker.state == .open)
    }

    @Test("A combination of conditions asks the breaker, too")
    func wrapped() {
        open()
        let both = stage.noting("both").addCondition(NoFailedDependencies().and(breaker))
        let either = stage.noting("either").addCondition(breaker.or(NoFailedDependencies()))
        stage.run(both, either)
        #expect(stage.ran == ["either"])
        #expect(both.ending.contains("is open"))
    }

    @Test("The clock of the queue that opened the breaker decides, and if it goes back, the open time starts again")
    func clocks() {
        let clock = JumpingClock()
        let queue = AsyncOperationQueue(executor: stage.steps, clock: clock)
        clock.jump(by: .seconds(1000))
        queue.add(call("a", failing: true), call("b", failing: true))
        stage.steps.runAll()
        #expect(breaker.state == .open)
        stage.log.clear()
        stage.advance(by: .seconds(99))
        stage.run(call("early"))
        clock.jump(by: .seconds(-500))
        stage.run(call("back"))
        clock.jump(by: .seconds(29))
        stage.run(call("almost"))
        clock.jump(by: .seconds(1))
        stage.run(call("late"))
        #expect(stage.ran == ["late"])
    }

    @Test("The release of an operation that was admitted does not read the clock")
    func releaseReadsNoClock() {
        let clock = CountingClock()
        let queue = AsyncOperationQueue(executor: stage.steps, clock: clock)
        var operation: AsyncOperation<Void>? = call("a")
        weak let released = operation
        queue.add(operation!)
        stage.steps.runAll()
        let count = clock.count
        operation = nil
        #expect(released == nil)
        #expect(clock.count == count)
    }

    @Test("Invalid arguments are reported, and replaced by the smallest valid ones")
    func badInput() {
        let misuses = EventLog<Misuse>()
        let place = CallSite(file: "Calls.swift", line: 3)
        let breaker = CircuitBreaker(
            "partner", failures: -1, retryAfter: .seconds(-5), place, { _ in true }, onMisuse: { misuses($0) })
        #expect(
            misuses.events.map(\.description) == [
                "the circuit breaker ‘partner’ cannot open after -1 failures; it opens after 1. Ask for 1 or more "
                    + "(Calls.swift:3)",
                "the time after which the circuit breaker ‘partner’ allows a trial cannot be negative; it counts as "
                    + "zero (Calls.swift:3)",
            ])
        stage.run(AsyncOperation { throw Oops() }.addCondition(breaker))
        #expect(breaker.state == .open)
        stage.run(stage.noting("next").addCondition(breaker))
        #expect(stage.ran == ["next"])
        let endless = CircuitBreaker("endless", failures: .max, retryAfter: Duration(attoseconds: .max))
        stage.run(AsyncOperation { throw Oops() }.addCondition(endless))
        #expect(endless.state == .closed)
    }

    // MARK: States

    @Test("An iterator delivers the current state and then the newest ones, and ends when its task is cancelled")
    func states() {
        let states = EventLog<CircuitBreaker.State>()
        let watcher = stage.steps.task { [breaker] in
            for await state in breaker.states { states(state) }
        }
        stage.steps.runAll()
        #expect(states.events == [.closed])
        open()
        stage.advance(by: .seconds(30))
        let gate = Gate()
        stage.run(stage.waiting("trial", at: gate).addCondition(breaker))
        gate.open()
        stage.steps.runAll()
        #expect(states.events == [.closed, .open, .halfOpen, .closed])
        watcher.cancel()
        open()
        stage.steps.runAll()
        #expect(states.count == 4)
    }

    @Test("An iteration that is cancelled before it waits ends")
    func cancelledStates() {
        let states = EventLog<CircuitBreaker.State>()
        let watcher = stage.steps.task { [breaker] in
            for await state in breaker.states {
                states(state)
                withUnsafeCurrentTask { $0?.cancel() }
            }
            states(.halfOpen)
        }
        stage.steps.runAll()
        #expect(states.events == [.closed, .halfOpen])
        #expect(watcher.isCancelled)
    }

    @Test("A breaker and its operations are released when nothing references them")
    func remains() {
        let tokens = Tokens()
        weak var gone: CircuitBreaker?
        do {
            let token = tokens.make()
            let breaker = CircuitBreaker("partner", failures: 1, retryAfter: .seconds(1)) { _ in
                token.touch()
                return true
            }
            gone = breaker
            stage.run(
                AsyncOperation { throw Oops() }.addCondition(breaker),
                AsyncOperation { token.touch() }.addCondition(breaker))
        }
        stage.steps.runAll()
        #expect(gone == nil)
        #expect(tokens.alive == 0)
    }

    // MARK: Every order

    @Test("In every order of events all operations finish, and no trial keeps its admission")
    func everyOrder() async throws {
        try await exploring(schedules: tries(500)) { scheduler in
            let clock = scheduler.clock
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 3, executor: scheduler, clock: clock)
            let breaker = CircuitBreaker("partner", failures: 2, retryAfter: .seconds(1))
            let operations = (0..<16).map { number in
                AsyncOperation("\(number)") {
                    try await clock.sleep(for: .milliseconds(scheduler.random(in: 0..<400)))
                    if scheduler.random(in: 0..<3) > 0 { throw Oops() }
                }.addCondition(breaker)
            }
            for operation in operations {
                queue.add(operation)
                try await clock.sleep(for: .milliseconds(scheduler.random(in: 0..<600)))
                if scheduler.random(in: 0..<4) == 0 { operations[scheduler.random(in: 0..<16)].cancel() }
            }
            await queue.waitUntilIdle()
            let haveAllEnded = operations.allSatisfy { $0.hasFinished }
            try #require(haveAllEnded)
            try await clock.sleep(for: .seconds(2))
            let last = AsyncOperation("last") {}.addCondition(breaker)
            queue.add(last)
            await queue.waitUntilIdle()
            try #require(last.error == nil)
            try #require(breaker.state == .closed)
        }
    }
}

/// A test clock that counts how often it is read.
private final class CountingClock: Clock {
    private let base = TestClock()
    private let reads = Locked(0)

    var count: Int { reads.withLock { $0 } }

    var now: TestClock.Instant {
        reads.withLock { $0 += 1 }
        return base.now
    }

    var minimumResolution: Duration { .zero }

    func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: deadline, tolerance: tolerance)
    }
}
