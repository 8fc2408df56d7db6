import Baton
import BatonTesting
import Foundation
import Testing

@testable import BatonFoundation

@Suite(.timeLimit(.minutes(10))) struct DelayUntilDateTests {
    let clock = TestClock()
    let queue: AsyncOperationQueue
    let now = Date(timeIntervalSince1970: 1_000_000)

    init() { queue = AsyncOperationQueue(clock: clock) }

    private var deadline: Duration? {
        clock.nextDeadline.map { TestClock.Instant.start.duration(to: $0) }
    }

    @Test("A delay waits until the date")
    func itWaitsUntilTheDate() async throws {
        let operation = AsyncOperation.delay(until: now.addingTimeInterval(2.5), now: { now })
        queue.add(operation)
        await clock.waitForSleepers(count: 1)
        #expect(deadline == .seconds(2.5))
        #expect(operation.state == .waiting)
        clock.advance(by: .seconds(2.5))
        try await operation.value
    }

    @Test("A delayed operation does not start before the date")
    func configuring() async throws {
        let operation = AsyncOperation("source") { 7 }
        #expect(operation.delay(until: now.addingTimeInterval(1), now: { now }) === operation)
        queue.add(operation)
        await clock.waitForSleepers(count: 1)
        #expect(deadline == .seconds(1) && operation.state == .waiting)
        clock.advance(by: .seconds(1))
        #expect(try await operation.value == 7)
    }

    @Test("A delay passes its input on")
    func itPassesItsInputOn() async throws {
        let operation = AsyncOperation("source") { 7 }.delayed(until: now.addingTimeInterval(1), now: { now })
        async let value = queue.run(operation)
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        #expect(try await value == 7)
    }

    @Test(arguments: [0, -1, -1e300, -.infinity, .nan]) func aDateThatHasPassedIsNotWaitedFor(_ seconds: Double)
        async throws
    {
        let date = Date(timeIntervalSince1970: 1_000_000 + seconds)
        try await queue.run(AsyncOperation.delay(until: date, now: { now }))
        try await queue.run(AsyncOperation.delay(until: .distantPast))
        #expect(try await queue.run(AsyncOperation { 7 }.delayed(until: .distantPast)) == 7)
        #expect(clock.sleeperCount == 0)
    }

    @Test(arguments: [Date.distantFuture, Date(timeIntervalSince1970: 1e300), Date(timeIntervalSince1970: .infinity)])
    func aDateThatNeverComesIsWaitedForUntilACancel(date: Date) async {
        let operation = AsyncOperation.delay(until: date)
        queue.add(operation)
        await clock.waitForSleepers(count: 1)
        operation.cancel()
        #expect(await run(operation, on: queue).cancellation == "on request")
    }

    @Test func theWallClockIsReadWhenTheDependenciesHaveFinished() async throws {
        let gate = Gate()
        let source = AsyncOperation("source") { await gate.wait() }
        let reads = EventLog<Int>()
        let operation = source.delayed(
            until: now.addingTimeInterval(10),
            now: {
                reads(1)
                return now.addingTimeInterval(6)
            })
        queue.add(source, operation)
        await gate.waitForWaiters(count: 1)
        #expect(reads.count == 0)
        gate.open()
        await clock.waitForSleepers(count: 1)
        #expect(deadline == .seconds(4))
        clock.advance(by: .seconds(4))
        try await operation.value
        #expect(reads.count == 1)
    }

    @Test func theClosureThatReadsTheTimeIsReleasedWithTheOperation() async throws {
        let log = EventLog<String>()
        let operation: AsyncOperation<Void>
        do {
            let witness = Witness("clock", log)
            operation = AsyncOperation.delay(
                until: now,
                now: {
                    witness.touch()
                    return now
                })
        }
        try await queue.run(operation)
        await log.waitForCount(1)
    }
}
