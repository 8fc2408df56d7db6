import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct LongSleepTests {
    private let day = Duration.seconds(24 * 60 * 60)
    private let steps = StepExecutor()
    private let clock = JumpingClock()

    private func advance(by duration: Duration) {
        clock.base.advance(by: duration)
        steps.runAll()
    }

    private func makePatient() -> (AsyncOperationQueue, AsyncOperation<Void>) {
        let queue = AsyncOperationQueue(isSuspended: true, executor: steps, clock: clock)
        let operation = AsyncOperation("patient") {}.timeout(waiting: .seconds(Int64.max))
        queue.add(operation)
        steps.runAll()
        return (queue, operation)
    }

    @Test func areTakenInPiecesOfADay() {
        let (queue, operation) = makePatient()
        #expect(clock.base.nextDeadline == .start.advanced(by: day))
        advance(by: day)
        #expect(clock.base.nextDeadline == .start.advanced(by: day * 2))
        #expect(operation.state == .ready)
        queue.cancelAll()
    }

    @Test func areGivenUpWhenNobodyNeedsThem() {
        let (queue, operation) = makePatient()
        #expect(clock.base.sleeperCount == 1)
        operation.cancel()
        #expect(clock.base.sleeperCount == 0)
        withExtendedLifetime(queue) {}
    }

    @Test func endWhenAllPiecesHavePassed() {
        let time = TimeSource(clock)
        let log = EventLog<String>()
        Task(executorPreference: steps) {
            try await time.sleep(until: day * 2 + .seconds(1))
            log("awake")
        }
        steps.runAll()
        for _ in 1...2 { advance(by: day) }
        #expect(log.events.isEmpty)
        advance(by: .seconds(1))
        #expect(log.events == ["awake"])
    }

    @Test("A sleep on the system's clock that is cancelled leaves nothing behind")
    func leaveNothingOnTheSystemsClock() async {
        let time = TimeSource(ContinuousClock())
        let task = Task { try await time.sleep(until: .seconds(Int64.max)) }
        task.cancel()
        let result = await task.result
        #expect(throws: CancellationError.self) { try result.get() }
    }

    @Test func areTakenAtOnceOnAClockThatATestMoves() {
        let stage = TestQueue(isSuspended: true)
        let operation = stage.noting("patient").timeout(waiting: day * 1000)
        stage.run(operation)
        #expect(stage.clock.nextDeadline == .start.advanced(by: day * 1000))
        stage.advance(by: day * 1000)
        #expect(
            operation.ending == "timed out after \(day * 1000), while it waited for its queue to be resumed")
    }

    /// A sleep in steps of one day would need 730,000 jobs.
    @Test func ofCenturiesAreOneStepOfASeededSchedule() async throws {
        let scheduler = SeededScheduler(seed: 1, jobLimit: 100)
        let queue = AsyncOperationQueue(executor: scheduler, clock: scheduler.clock)
        try await scheduler.run { scheduler in
            try await queue.run(AsyncOperation<Void>.delay(day * 365 * 2000))
            #expect(scheduler.clock.now == .start.advanced(by: day * 365 * 2000))
        }
    }
}
