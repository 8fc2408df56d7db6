import BatonTesting
import Testing

@testable import Baton

/// Time passes between two readings of a clock, of which one makes a decision and the other sets a timer. Each test
/// moves the clock after a reading and before it is used.
@Suite("Readings of a clock that are out of date", .timeLimit(.minutes(10)))
struct LateReadingTests {
    private let clock = LateClock()
    private let steps = StepExecutor()
    private let log = EventLog<String>()

    private func makeQueue(on steps: StepExecutor? = nil) -> AsyncOperationQueue {
        AsyncOperationQueue(executor: steps ?? self.steps, clock: clock)
    }

    private func noting(_ name: String) -> AsyncOperation<Void> {
        AsyncOperation(name) { [log, clock] in log("\(name) \(clock.base.time)") }
    }

    private func advance(to second: Int) {
        clock.base.advance(to: .start.advanced(by: .seconds(second)))
        steps.runAll()
    }

    @Test("A body that sleeps until an instant wakes at that instant")
    func sleep() {
        let queue = makeQueue()
        let operation = AsyncOperation<Void>("sleeps") { [log, clock] context in
            let deadline = context.clock.now.advanced(by: .seconds(10))
            clock.afterNextReading { [base = clock.base] in base.advance(by: .seconds(4)) }
            try await context.clock.sleep(until: deadline)
            log("awake")
        }
        queue.add(operation)
        steps.runAll()
        advance(to: 9)
        #expect(log.events == [])
        advance(to: 10)
        #expect(log.events == ["awake"])
    }

    @Test("A repetition starts one interval after the last start")
    func repetition() {
        let queue = makeQueue()
        let operation = AsyncOperation { [log, clock] in
            log("\(clock.base.time)")
            clock.afterNextReading { [base = clock.base] in base.advance(by: .seconds(4)) }
        }
        queue.add(operation.repeat(every: .seconds(10), count: 2))
        steps.runAll()
        advance(to: 9)
        #expect(log.events == ["0.0"])
        advance(to: 10)
        #expect(log.events == ["0.0", "10.0"])
    }

    @Test("An attempt that is due before the deadline starts before it")
    func attempt() {
        let queue = makeQueue()
        let operation = AsyncOperation { [log, clock] in
            log("\(clock.base.time)")
            clock.afterNextReading { [base = clock.base] in base.advance(by: .seconds(4)) }
            throw Oops()
        }
        queue.add(operation.retry(.constant(.seconds(5)), attempts: 2, deadline: .seconds(8)))
        steps.runAll()
        advance(to: 5)
        #expect(log.events == ["0.0", "5.0"])
        #expect(operation.ending == "failed: oops")
    }

    @Test("A delay since the start of a chain ends at its time")
    func delaySinceStart() {
        let queue = makeQueue()
        let operation = AsyncOperation {}
        let delayed = operation.delayed(untilAtLeast: .seconds(10))
        delayed.didFinish { [log, clock] _ in log("\(clock.base.time)") }
        operation.willFinish { [clock] _ in
            clock.afterNextReading { [base = clock.base] in base.advance(by: .seconds(4)) }
        }
        queue.add(operation, delayed)
        steps.runAll()
        advance(to: 9)
        #expect(log.events == [])
        advance(to: 10)
        #expect(log.events == ["10.0"])
    }

    @Test("A rate allows no more starts if a reading is out of date")
    func rate() {
        let (queue, otherSteps) = (makeQueue(), StepExecutor())
        let other = makeQueue(on: otherSteps)
        let rate = Rate.rate("late", 1, per: .seconds(10))
        let (late, next) = (noting("late").addCondition(rate), noting("next").addCondition(rate))
        clock.afterNextReading { [clock] in
            clock.base.advance(by: .seconds(100))
            other.add(next)
            otherSteps.runAll()
        }
        queue.add(late)
        steps.runAll()
        #expect(log.events == ["next 100.0"])
        advance(to: 109)
        #expect(log.events == ["next 100.0"])
        advance(to: 110)
        #expect(log.events == ["next 100.0", "late 110.0"])
    }

    @Test("A stall is not reported before the queue has been quiet for the limit")
    func stall() {
        let queue = makeQueue()
        let gate = Gate()
        queue.onStall(after: .seconds(30)) { [log, clock] report in
            log("\(clock.base.time) \(report.duration)")
        }
        let waits = queue.add("waits") { await gate.wait() }
        let after = AsyncOperation("after") {}.addDependency(waits)
        steps.runAll()
        clock.base.advance(to: clock.base.nextDeadline!)
        // The first check wakes, and the timer service reads the clock once more. Then time passes, and the queue takes
        // another operation.
        clock.afterNextReading { [clock] in
            clock.afterNextReading {
                clock.base.advance(by: .seconds(100))
                queue.add(after)
            }
        }
        steps.runAll()
        #expect(log.events == [])
        gate.open()
        steps.runAll()
    }
}

extension TestClock {
    /// The time since the start in seconds.
    fileprivate var time: Double { Instant.start.duration(to: now) / .seconds(1) }
}
