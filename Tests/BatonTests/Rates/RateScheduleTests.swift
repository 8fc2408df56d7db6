import BatonTesting
import Testing

@testable import Baton

/// Many operations with one rate, in every order, and very many at once.
@Suite(.timeLimit(.minutes(10))) struct RateScheduleTests {
    @Test("In every order of events no start comes too early, and everything ends")
    func everyOrder() async throws {
        try await exploring(schedules: tries(500)) { scheduler in
            let clock = scheduler.clock
            let queues = [1, 4].map { width in
                AsyncOperationQueue(maxConcurrentOperationCount: width, executor: scheduler, clock: clock)
            }
            let burst = scheduler.random(in: 1...2)
            let starts = EventLog<Duration>()
            let operations = (0..<8).map { number in
                let operation = AsyncOperation("\(number)") { context in
                    starts(TestClock.Instant.start.duration(to: clock.now))
                    if scheduler.random(in: 0..<4) == 0 { try await clock.sleep(for: .milliseconds(700)) }
                    if number == 7, context.attempt == 1 { throw Oops() }
                }
                operation.addCondition(.rate("api", 4, per: .seconds(4), burst: burst))
                if number % 3 == 0 { operation.addCondition(.mutuallyExclusive("\(ObjectIdentifier(clock))")) }
                return operation.retry(.immediately, attempts: 2)
            }
            for operation in operations { queues[scheduler.random(in: 0...1)].add(operation) }
            let meddler = Task(executorPreference: scheduler) {
                for _ in 0..<4 {
                    try? await clock.sleep(for: .milliseconds(scheduler.random(in: 0..<900)))
                    operations[scheduler.random(in: 0..<7)].cancel()
                    queues[1].isSuspended.toggle()
                }
            }
            await meddler.value
            for queue in queues { await queue.waitUntilIdle() }
            let haveAllEnded = operations.allSatisfy { $0.hasFinished }
            try #require(haveAllEnded)
            let times = starts.events
            let areApart = zip(times, times.dropFirst(burst)).allSatisfy { $1 - $0 >= .seconds(1) }
            try #require(areApart)
            try #require(RateManager.counts(of: queues[0].core.time.clockIdentity).operations == 0)
        }
    }

    @Test("In every order of events the operations of one queue start in the order in which they were added")
    func firstComeFirstServed() async throws {
        try await exploring(schedules: tries(200)) { scheduler in
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1, executor: scheduler, clock: scheduler.clock)
            let starts = EventLog<Int>()
            for number in 0..<6 {
                queue.add(AsyncOperation { starts(number) }.addCondition(.rate("api", 1, per: .seconds(1))))
            }
            await queue.waitUntilIdle()
            try #require(starts.events == Array(0..<6))
        }
    }

    @Test("The time for waiting operations is close to linear in their number")
    func growth() {
        // The test uses the minimum of several measurements, because other tests can delay a measurement, but not
        // shorten it.
        let (few, many) = (0..<5).reduce((few: Duration.endless, many: Duration.endless)) { least, _ in
            (min(least.few, time(of: 1_500)), min(least.many, time(of: 6_000)))
        }
        // With four times as many operations, quadratic time would be sixteen times as long.
        #expect(many < few * 9)
    }

    @Test("Ten thousand waiting operations start one after the other, or are cancelled at once")
    func veryManyWait() {
        let stage = TestQueue(width: 1)
        let tally = Tally()
        let rate = Rate.rate("api", 1000, per: .seconds(1))
        let operations = (0..<10_000).map { _ in AsyncOperation { tally.add() }.addCondition(rate) }
        stage.queue.add(operations)
        stage.steps.runAll()
        #expect(tally.count == 1)
        #expect("\(operations[9_999].explain())".contains("behind 9998 others"))
        for operation in operations.suffix(9_000).reversed() { operation.cancel() }
        stage.walk(to: .seconds(1))
        #expect(tally.count == 1_000)
        #expect(stage.queue.operationCount == 0)
    }

    /// Returns the time until half of the operations have been cancelled, and the others have run.
    private func time(of count: Int) -> Duration {
        let stage = TestQueue()
        let rate = Rate.rate("api", 1000, per: .seconds(1))
        let operations = (0..<count).map { _ in AsyncOperation {}.addCondition(rate) }
        let start = ContinuousClock.now
        stage.queue.add(operations)
        stage.steps.runAll()
        for operation in operations.enumerated() where operation.offset % 2 == 1 { operation.element.cancel() }
        stage.walk(to: .seconds(100))
        defer { #expect(stage.queue.operationCount == 0) }
        return ContinuousClock.now - start
    }
}
