import BatonTesting
import Testing

@testable import Baton

/// Tests of circuit breakers of operations that also have exclusions or rates: the breaker is looked at before the
/// waits, and asked for the admission after them.
@Suite(.timeLimit(.minutes(10))) struct DeferredAdmissionTests {
    private let stage = TestQueue()
    private let names = Names()
    private let breaker = CircuitBreaker("partner", failures: 3, retryAfter: .seconds(30))

    private var one: Exclusion { .limited(names("one"), to: 1) }

    private func call(_ name: String, failing: Bool = false) -> AsyncOperation<Void> {
        AsyncOperation(name) { [log = stage.log] in
            log(name)
            if failing { throw Oops() }
        }.addCondition(breaker)
    }

    private func failures(_ count: Int, _ condition: some OperationCondition) -> [AsyncOperation<Void>] {
        (1...count).map { call("\($0)", failing: true).addCondition(condition) }
    }

    private func open() {
        for number in 1...3 { stage.run(call("\(number)", failing: true)) }
        #expect(breaker.state == .open)
        stage.log.clear()
    }

    private func refusal(_ state: String) -> String {
        "condition circuit breaker partner: the circuit ‘partner’ is \(state)"
    }

    private var openRefusal: String { refusal("open, and allows a trial in 30.0 seconds") }

    // MARK: Waits

    @Test("With a limit of 1, an exclusion or a group's width of 1, no operation runs after the breaker has opened")
    func exclusions() {
        for kind in ["limit", "exclusion", "group"] {
            let stage = TestQueue()
            let breaker = CircuitBreaker("partner", failures: 3, retryAfter: .seconds(30))
            let name = names(kind)
            let operations = (1...1000).map { number in
                let operation = AsyncOperation("\(number)") {
                    stage.log("\(number)")
                    throw Oops()
                }.addCondition(breaker)
                switch kind {
                case "limit": operation.addCondition(.limited(name, to: 1))
                case "exclusion": operation.addCondition(.mutuallyExclusive(name))
                default: break
                }
                return operation as AsyncOperation<Void>
            }
            if kind == "group" {
                stage.run(GroupOperation(operations, maxConcurrentOperationCount: 1))
            } else {
                stage.queue.add(operations)
                stage.steps.runAll()
            }
            #expect(stage.ran == ["1", "2", "3"], "\(kind)")
            #expect(operations[2].ending == "failed: oops")
            #expect(operations[3...].allSatisfy { $0.ending == openRefusal })
            #expect(stage.queue.operations.isEmpty)
            stage.run(stage.noting("free").addCondition(.mutuallyExclusive(name)))
            #expect(stage.ran.last == "free", "The refused operations have released the exclusion.")
        }
    }

    @Test("Operations that already run when the breaker opens end, and those behind them do not run")
    func thoseThatRun() {
        let gate = Gate()
        let operations = (1...100).map { number in
            AsyncOperation("\(number)") { [stage] in
                stage.log("\(number)")
                await gate.wait()
                throw Oops()
            }.addCondition(breaker).addCondition(.limited(names("five"), to: 5))
        }
        stage.queue.add(operations)
        stage.steps.runAll()
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["1", "2", "3", "4", "5"])
        #expect(operations[5...].allSatisfy { $0.ending == openRefusal })
    }

    @Test("With a rate, the operations behind those that have opened the breaker fail at the next turn, and use none")
    func rates() {
        let rate = Rate.rate("api", 1, per: .seconds(1))
        let operations = failures(1000, rate)
        stage.queue.add(operations)
        stage.steps.runAll()
        stage.walk(to: .seconds(3))
        #expect(stage.ran == ["1", "2", "3"])
        let refusal = refusal("open, and allows a trial in 29.0 seconds")
        #expect(operations[3...].allSatisfy { $0.ending == refusal })
        #expect(stage.waitingForRates == 0)
        stage.run(stage.call("next", rate))
        #expect(stage.ran.last == "next 3.0")
    }

    @Test("With a burst, the starts of refused operations are left for those that are allowed")
    func burst() {
        let rate = Rate.rate("api", 6, per: .seconds(6), burst: 6)
        let operations = failures(20, rate)
        let narrow = AsyncOperationQueue(maxConcurrentOperationCount: 1, executor: stage.steps, clock: stage.clock)
        narrow.add(operations)
        stage.steps.runAll()
        #expect(stage.ran == ["1", "2", "3"])
        #expect(operations[3...].allSatisfy { $0.ending == openRefusal })
        for number in 1...4 { stage.run(stage.call("\(number)", rate)) }
        #expect(stage.ran.suffix(3) == ["1 0.0", "2 0.0", "3 0.0"])
        stage.walk(to: .seconds(9))
        #expect(stage.ran.last == "4 1.0")
    }

    @Test("An exclusion and a rate together: a refused operation leaves both")
    func exclusionsAndRates() {
        let rate = Rate.rate("api", 1, per: .seconds(1))
        let operations = failures(50, one)
        for operation in operations { operation.addCondition(rate) }
        stage.queue.add(operations)
        stage.steps.runAll()
        stage.walk(to: .seconds(5))
        #expect(stage.ran == ["1", "2", "3"])
        let refusal = refusal("open, and allows a trial in 29.0 seconds")
        #expect(operations[3...].allSatisfy { $0.ending == refusal })
        stage.run(stage.call("next", rate).addCondition(one))
        #expect(stage.ran.last == "next 5.0")
    }

    // MARK: The look

    @Test("An open breaker fails an operation at once, which waits for no exclusion and uses no start of a rate")
    func failsFast() {
        open()
        let gate = Gate()
        let rate = Rate.rate("api", 1, per: .seconds(1))
        stage.run(stage.waiting("holder", at: gate).addCondition(one))
        let operation = call("call").addCondition(one).addCondition(rate)
        stage.run(operation)
        #expect(operation.ending == openRefusal)
        stage.run(stage.call("next", rate))
        #expect(stage.ran == ["holder", "next 0.0"])
        gate.open()
        stage.steps.runAll()
    }

    @Test("An operation that waits is no trial, so a cancellation, a time limit or a shutdown leaves none")
    func nothingIsLeft() async {
        open()
        stage.advance(by: .seconds(30))
        let gate = Gate()
        stage.run(stage.waiting("holder", at: gate).addCondition(one))
        let cancelled = call("cancelled").addCondition(one)
        let late = call("late").addCondition(one).timeout(waiting: .seconds(1))
        let replaced = call("replaced").addCondition(one).unique(by: names("key"), policy: .replace)
        let replacing = call("replacing").addCondition(one).unique(by: names("key"), policy: .replace)
        stage.run(cancelled, late, replaced)
        stage.run(replacing)
        let other = AsyncOperationQueue(executor: stage.steps, clock: stage.clock)
        let shutDown = call("shut down").addCondition(one)
        other.add(shutDown)
        var released: AsyncOperationQueue? = AsyncOperationQueue(executor: stage.steps, clock: stage.clock)
        let abandoned = call("abandoned").addCondition(one)
        released?.add(abandoned)
        stage.steps.runAll()
        #expect(breaker.state == .open, "All have looked at the breaker, and none is the trial.")
        released?.isSuspended = true
        released = nil
        cancelled.cancel()
        replacing.cancel()
        let end = stage.steps.task { await other.shutdown(within: .zero, clock: stage.clock) }
        stage.steps.runAll()
        stage.advance(by: .seconds(1))
        #expect(end.isCancelled == false)
        #expect(cancelled.ending == "cancelled on request")
        #expect(late.ending.contains("1.0 seconds"))
        #expect(replaced.hasFinished && replacing.hasFinished && shutDown.hasFinished)
        #expect(breaker.state == .open)
        stage.run(call("trial"))
        #expect(stage.ran == ["holder", "trial"])
        #expect(breaker.state == .closed)
        gate.open()
        stage.steps.runAll()
        #expect(stage.queue.operations.isEmpty && other.operations.isEmpty)
        #expect(abandoned.ending == "queueReleased")
        stage.run(stage.noting("free").addCondition(one))
        #expect(stage.ran.last == "free")
    }

    @Test("While a trial runs, an operation fails at once, whatever it would have to wait for")
    func trialRuns() {
        open()
        stage.advance(by: .seconds(30))
        let gate = Gate()
        stage.run(stage.waiting("trial", at: gate).addCondition(breaker).addCondition(one))
        #expect(breaker.state == .halfOpen)
        let other = call("other").addCondition(one)
        stage.run(other)
        #expect(other.ending == refusal("half open, and waits for the end of a trial"))
        gate.open()
        stage.steps.runAll()
        #expect(breaker.state == .closed)
    }

    // MARK: The admission

    @Test("Of operations that wait for a limit, the first becomes the trial, and its success lets the others run")
    func halfOpen() {
        open()
        stage.advance(by: .seconds(30))
        let gate = Gate()
        stage.run(stage.waiting("holder", at: gate).addCondition(one))
        stage.queue.add((1...20).map { call("\($0)").addCondition(one) })
        stage.steps.runAll()
        #expect(breaker.state == .open)
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["holder"] + (1...20).map { "\($0)" })
        #expect(breaker.state == .closed)
    }

    @Test("Of operations that wait for a limit, the first becomes the trial, and its failure refuses the others")
    func failedTrial() {
        open()
        stage.advance(by: .seconds(30))
        let gate = Gate()
        stage.run(stage.waiting("holder", at: gate).addCondition(one))
        let operations = failures(20, one)
        stage.queue.add(operations)
        stage.steps.runAll()
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["holder", "1"])
        #expect(operations[1...].allSatisfy { $0.ending == openRefusal })
    }

    @Test("With a limit of 2, the second operation is refused while the first is the trial")
    func twoAtATime() {
        open()
        stage.advance(by: .seconds(30))
        let (holders, trial) = (Gate(), Gate())
        let two = Exclusion.limited(names("two"), to: 2)
        for name in ["a", "b"] { stage.run(stage.waiting(name, at: holders).addCondition(two)) }
        let first = stage.waiting("first", at: trial).addCondition(breaker).addCondition(two)
        let second = call("second").addCondition(two)
        stage.run(first, second)
        #expect(breaker.state == .open)
        holders.open()
        stage.steps.runAll()
        #expect(breaker.state == .halfOpen)
        #expect(second.ending == refusal("half open, and waits for the end of a trial"))
        trial.open()
        stage.steps.runAll()
        #expect(stage.ran == ["a", "b", "first"])
        #expect(breaker.state == .closed)
    }

    @Test("A trial that is cancelled lets another one through")
    func cancelledTrial() {
        open()
        stage.advance(by: .seconds(30))
        let (holder, gate) = (Gate(), Gate())
        stage.run(stage.waiting("holder", at: holder).addCondition(one))
        let trial = AsyncOperation("trial") { try await gate.waitUnlessCancelled() }
        trial.addCondition(breaker).addCondition(one)
        let next = call("next").addCondition(one)
        stage.run(trial, next)
        holder.open()
        stage.steps.runAll()
        #expect(breaker.state == .halfOpen)
        trial.cancel()
        stage.steps.runAll()
        #expect(trial.ending == "cancelled on request")
        #expect(stage.ran == ["holder", "next"])
        #expect(breaker.state == .closed)
    }

    @Test("An operation that the second of two breakers refuses gives the admission of the first one back")
    func twoBreakers() {
        open()
        stage.advance(by: .seconds(30))
        let other = CircuitBreaker("other", failures: 1, retryAfter: .seconds(30))
        let gate = Gate()
        let holder = AsyncOperation("holder") {
            await gate.wait()
            throw Oops()
        }.addCondition(other).addCondition(one)
        let both = call("both").addCondition(other).addCondition(one)
        stage.run(holder, both)
        gate.open()
        stage.steps.runAll()
        #expect(both.ending.hasPrefix("condition circuit breaker other: the circuit ‘other’ is open"))
        #expect(breaker.state == .halfOpen)
        stage.run(call("next"))
        #expect(stage.ran == ["next"])
        #expect(breaker.state == .closed)
    }

    @Test("The breaker is not asked again for further attempts, and an operation counts once")
    func retries() {
        let operation = call("again", failing: true).retry(.constant(.seconds(1)), attempts: 3).addCondition(one)
        stage.run(operation)
        open()
        stage.walk(to: .seconds(2))
        #expect(stage.ran == ["again", "again"])
        #expect(operation.ending == "failed: oops")
    }

    @Test("A refused operation makes no attempt, and none of its handlers sees a start")
    func refusedOperation() {
        let gate = Gate()
        let events = EventLog<String>()
        stage.run(stage.waiting("holder", at: gate).addCondition(one))
        let operation = call("call").addCondition(one).retry(.immediately, attempts: 3)
        operation.didStart { events("start") }
        operation.willFinish { _ in events("will finish") }
        operation.didFinish { _ in events("finish") }
        stage.run(operation)
        open()
        gate.open()
        stage.steps.runAll()
        #expect(operation.ending == openRefusal)
        #expect(events.events == ["will finish", "finish"])
        #expect(operation.error?.stage != .execution)
        #expect(stage.ran.isEmpty)
    }

    @Test("If the queue is suspended between the look and the admission, the breaker is asked after the resumption")
    func suspension() {
        let gate = Gate()
        stage.run(stage.waiting("holder", at: gate).addCondition(one))
        let operation = call("call").addCondition(one)
        stage.run(operation)
        stage.queue.isSuspended = true
        gate.open()
        stage.steps.runAll()
        let other = TestQueue(on: stage.steps)
        for number in 1...3 { other.run(call("\(number)", failing: true)) }
        #expect(breaker.state == .open)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(operation.ending == openRefusal)
    }

    @Test("A combination of conditions and a breaker in two conditions are asked once after the waits")
    func combinations() {
        let operations = failures(10, NoFailedDependencies().and(breaker).and(one))
        stage.queue.add(operations)
        stage.steps.runAll()
        #expect(stage.ran == ["1", "2", "3"])
        #expect(operations[3...].allSatisfy { $0.ending == openRefusal })
        // An `or` that the breaker does not decide runs the operation without it.
        stage.run(stage.noting("either").addCondition(breaker.or(NoFailedDependencies())).addCondition(one))
        #expect(stage.ran.last == "either")
    }

    @Test("The explanations name the wait, and then the refusal")
    func explanations() {
        let gate = Gate()
        stage.run(stage.waiting("holder", at: gate).addCondition(one))
        let operation = call("call").addCondition(one)
        stage.run(operation)
        #expect("\(operation.explain())".contains("holder"))
        open()
        gate.open()
        stage.steps.runAll()
        let text = "\(operation.explain())"
        #expect(text.contains("the circuit ‘partner’ is open, and allows a trial in 30.0 seconds"), "\(text)")
    }

    // MARK: Every order

    @Test("In every order of events no body starts while the breaker is open, and no trial keeps its admission")
    func everyOrder() async throws {
        try await exploring(schedules: tries(200)) { [names] scheduler in
            let clock = scheduler.clock
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 4, executor: scheduler, clock: clock)
            let breaker = CircuitBreaker("partner", failures: 2, retryAfter: .milliseconds(700))
            let running = Locked((count: 0, faults: [String]()))
            let run = Names("\(names.prefix) in every order")
            let operations = (0..<16).map { number in
                let operation = AsyncOperation("\(number)") {
                    running.withLock { running in
                        if breaker.state == .open { running.faults.append("\(number) starts while it is open") }
                        if breaker.state == .halfOpen, running.count > 0 { running.faults.append("two trials") }
                        if breaker.state == .halfOpen { running.count += 1 }
                    }
                    defer { running.withLock { $0.count = 0 } }
                    try await clock.sleep(for: .milliseconds(scheduler.random(in: 0..<400)))
                    if scheduler.random(in: 0..<3) > 0 { throw Oops() }
                }.addCondition(breaker)
                if number % 3 > 0 { operation.addCondition(.limited(run("limit"), to: 2)) }
                if number % 3 > 1 { operation.addCondition(.rate(run("rate"), 4, per: .seconds(1), burst: 2)) }
                if number % 5 == 0 { operation.timeout(waiting: .milliseconds(300)) }
                return operation as AsyncOperation<Void>
            }
            for operation in operations {
                queue.add(operation)
                try await clock.sleep(for: .milliseconds(scheduler.random(in: 0..<300)))
                if scheduler.random(in: 0..<4) == 0 { operations[scheduler.random(in: 0..<16)].cancel() }
                if scheduler.random(in: 0..<8) == 0 { queue.isSuspended.toggle() }
            }
            queue.isSuspended = false
            await queue.waitUntilIdle()
            let faults = running.withLock { $0.faults }
            try #require(faults == [])
            let haveAllEnded = operations.allSatisfy { $0.hasFinished }
            try #require(haveAllEnded)
            try await clock.sleep(for: .seconds(2))
            let last = AsyncOperation("last") {}.addCondition(breaker).addCondition(.mutuallyExclusive(run("limit")))
            queue.add(last)
            await queue.waitUntilIdle()
            try #require(last.error == nil)
            try #require(breaker.state == .closed)
        }
    }
}
