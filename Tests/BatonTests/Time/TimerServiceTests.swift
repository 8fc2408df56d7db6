import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct TimerServiceTests {
    @Test func veryManyPendingTimeoutsUseOneSleeper() {
        let stage = TestQueue(isSuspended: true)
        let count = veryMany
        let operations = (0..<count).map { number in
            AsyncOperation {}.timeout(waiting: .seconds(1 + number % 100))
        }
        stage.queue.add(operations)
        stage.steps.runAll()
        #expect(stage.queue.core.timerService.count == count)
        #expect(stage.clock.sleeperCount == 1)
        for second in 1...100 {
            stage.advance(by: .seconds(1))
            #expect(stage.queue.operationCount == count - second * count / 100)
            #expect(stage.clock.sleeperCount == (second < 100 ? 1 : 0))
        }
    }

    @Test func veryManyAtOnce() {
        let stage = TestQueue(isSuspended: true)
        let operations = (0..<veryMany).map { _ in AsyncOperation {}.timeout(waiting: .seconds(1)) }
        stage.queue.add(operations)
        stage.steps.runAll()
        stage.advance(by: .seconds(1))
        #expect(stage.queue.operationCount == 0)
        #expect(operations.allSatisfy { if case .timedOut? = $0.error { true } else { false } })
        #expect(stage.queue.core.timerService.count == 0)
    }

    @Test func anEarlierDeadlineWakesItEarlier() {
        let stage = TestQueue(isSuspended: true)
        let late = stage.noting("late").timeout(waiting: .seconds(10))
        let early = stage.noting("early").timeout(waiting: .seconds(1))
        stage.run(late)
        stage.run(early)
        #expect(stage.clock.sleeperCount == 1)
        #expect(stage.clock.nextDeadline == .start.advanced(by: .seconds(1)))
        stage.advance(by: .seconds(1))
        #expect(early.error != nil)
        #expect(late.error == nil)
        #expect(stage.clock.nextDeadline == .start.advanced(by: .seconds(10)))
        stage.advance(by: .seconds(9))
        #expect(late.error != nil)
        #expect(stage.clock.sleeperCount == 0)
    }

    @Test("The end of the last operation with a limit ends the sleep")
    func theLastTimerEndsTheSleep() {
        let stage = TestQueue()
        let gate = Gate()
        stage.run(stage.waiting("first", at: gate).timeout(.seconds(60)), stage.noting("quick").timeout(.seconds(9)))
        #expect(stage.clock.sleeperCount == 1)
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["first", "quick"])
        #expect(stage.clock.sleeperCount == 0)
        stage.run(stage.waiting("second", at: gate).timeout(.seconds(60)))
        #expect(stage.clock.sleeperCount == 0)
    }

    @Test("No task sleeps for a timer whose ticket is not stored yet")
    func theTicketComesFirst() {
        let stage = TestQueue()
        let timers = stage.queue.core.timerService
        let operation = AsyncOperation {}
        timers.add(.waitingLimit(Unretained(operation)), at: timers.now + .seconds(1)) { ticket in
            stage.steps.runAll()
            #expect(stage.clock.sleeperCount == 0)
            timers.remove(ticket)
        }
        stage.steps.runAll()
        #expect(stage.clock.sleeperCount == 0)
    }

    @Test("The last timer also ends the sleep of the task that came after one which the clock has cancelled")
    func aSecondSleepEnds() async {
        let clock = CancellingClock()
        let queue = AsyncOperationQueue(isSuspended: true, clock: clock)
        let operation = AsyncOperation {}.timeout(waiting: .seconds(10))
        queue.add(operation)
        await clock.base.waitForSleepers(count: 1)
        operation.cancel()
        #expect(clock.base.sleeperCount == 0)
    }

    @Test("An add ends the delay of the operation that it replaces before it returns")
    func aReplacedDelay() {
        let stage = TestQueue()
        let key = Names()("search")
        for text in ["s", "sw", "swift"] {
            let search = stage.noting(text).delay(.milliseconds(300))
            stage.queue.add(search.unique(by: key, policy: .replace))
            #expect(stage.clock.sleeperCount == 0)
            stage.steps.runAll()
            #expect(stage.clock.sleeperCount == 1)
            stage.advance(by: .milliseconds(200))
        }
        stage.advance(by: .milliseconds(100))
        #expect(stage.ran == ["swift"])
    }

    @Test func aClockThatJumpsAheadRingsEverythingInOrder() {
        let stage = TestQueue(isSuspended: true)
        for seconds in [3, 1, 2] {
            let operation = stage.noting("\(seconds)").timeout(waiting: .seconds(seconds))
            operation.willFinish { [log = stage.log] _ in log("\(seconds)") }
            stage.run(operation)
        }
        stage.advance(by: .seconds(1_000_000))
        #expect(stage.ran == ["1", "2", "3"])
    }

    @Test func aClockThatJumpsBackMakesItWaitLonger() async {
        let clock = JumpingClock()
        let queue = AsyncOperationQueue(isSuspended: true, clock: clock)
        let operation = AsyncOperation("a") {}.timeout(waiting: .seconds(10))
        queue.add(operation)
        await clock.base.waitForSleepers(count: 1)
        // When the timer service wakes up, the clock shows an earlier time than ever before.
        clock.jump(by: .seconds(-100))
        clock.base.advance(by: .seconds(10))
        await clock.base.waitForSleepers(count: 1)
        #expect(operation.state == .ready)
        clock.jump(by: .seconds(100))
        clock.base.advance(by: .seconds(100))
        await queue.waitUntilIdle()
        #expect(operation.ending == "timed out after 10.0 seconds, while it waited for its queue to be resumed")
    }

    /// The body of the first operation keeps the thread that cancels it.
    @Test func aHandlerOfACancelThatTakesItsTimeDelaysNoOtherDeadline() async {
        let clock = TestClock()
        // The cancellation handler keeps one of the executor's threads.
        let queue = AsyncOperationQueue(executor: ThreadExecutor(threads: 3), clock: clock)
        let (began, gate, entered) = (Gate(), Gate(), Gate())
        let mayLeave = Locked(false)
        let blocking = AsyncOperation("blocking") {
            began.open()
            await withTaskCancellationHandler {
                await gate.wait()
            } onCancel: {
                entered.open()
                while !mayLeave.withLock({ $0 }) {}
            }
        }
        .timeout(.seconds(1))
        let other = AsyncOperation("other") { try await clock.sleep(for: .seconds(100)) }.timeout(.seconds(2))
        queue.add(blocking, other)
        await began.wait()
        await clock.waitForSleepers(count: 2)
        clock.advance(by: .seconds(1))
        await entered.wait()
        await clock.waitForSleepers(count: 2)
        clock.advance(by: .seconds(1))
        _ = try? await other.value
        #expect(other.ending == "timed out after 2.0 seconds")
        mayLeave.withLock { $0 = true }
        gate.open()
        await queue.waitUntilIdle()
    }

    /// All timers are due at the same wake-up.
    @Test func aHandlerOfACancelThatTakesItsTimeDelaysNoEqualDeadline() async {
        let clock = TestClock()
        let queue = AsyncOperationQueue(executor: ThreadExecutor(threads: 3), clock: clock)
        let began = EventLog<Int>()
        let cancels = Locked(0)
        let operations = (0..<2).map { number in
            AsyncOperation("\(number)") {
                began(number)
                try await withTaskCancellationHandler {
                    try await clock.sleep(for: .seconds(100))
                } onCancel: {
                    // The first handler keeps its thread until the second one runs.
                    cancels.withLock { $0 += 1 }
                    while cancels.withLock({ $0 }) < 2 {}
                }
            }
            .timeout(.seconds(1))
        }
        queue.add(operations)
        _ = await began.waitForCount(2)
        // The sleepers are both bodies and the timer service.
        await clock.waitForSleepers(count: 3)
        clock.advance(by: .seconds(1))
        await queue.waitUntilIdle()
        #expect(operations.map(\.ending) == Array(repeating: "timed out after 1.0 seconds", count: 2))
    }
}

/// A clock whose first sleep cancels the task that sleeps.
private final class CancellingClock: Clock {
    let base = TestClock()
    private let hasCancelled = Locked(false)

    var now: TestClock.Instant { base.now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {
        let isFirst = hasCancelled.withLock { hasCancelled in
            defer { hasCancelled = true }
            return !hasCancelled
        }
        if isFirst { withUnsafeCurrentTask { $0?.cancel() } }
        try await base.sleep(until: deadline, tolerance: tolerance)
    }
}
