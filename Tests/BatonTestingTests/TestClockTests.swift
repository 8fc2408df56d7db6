import BatonTesting
import Testing

@Suite struct TestClockTests {
    @Test func standsStillUntilItIsMoved() {
        let clock = TestClock()
        #expect(clock.now == .start)
        clock.advance(by: .seconds(2))
        #expect(clock.now == TestClock.Instant.start.advanced(by: .seconds(2)))
        clock.advance(to: .init(sinceStart: .seconds(3)))
        #expect(clock.now.sinceStart == .seconds(3))
    }

    @Test func aSleeperWakesWhenItsTimeHasComeAndNotBefore() async throws {
        let clock = TestClock()
        let log = EventLog<String>()
        let nap = Task {
            try await clock.sleep(for: .seconds(10))
            log("awake at \(clock.now.sinceStart)")
        }
        await clock.waitForSleepers(count: 1)
        #expect(clock.nextDeadline == .init(sinceStart: .seconds(10)))
        clock.advance(by: .seconds(9))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))
        #expect(clock.sleeperCount == 0)
        #expect(clock.nextDeadline == nil)
        try await nap.value
        #expect(log.events == ["awake at 10.0 seconds"])
    }

    @Test func aDeadlineInThePastReturnsAtOnce() async throws {
        let clock = TestClock()
        clock.advance(by: .seconds(5))
        try await clock.sleep(until: .init(sinceStart: .seconds(5)))
        try await clock.sleep(until: .start)
    }

    @Test func cancellingASleeperWakesItAtOnceAndItIsForgotten() async throws {
        let clock = TestClock()
        let nap = Task { try await clock.sleep(for: .seconds(10)) }
        await clock.waitForSleepers(count: 1)
        nap.cancel()
        #expect(clock.sleeperCount == 0)
        await #expect(throws: CancellationError.self) { try await nap.value }
        #expect(clock.now == .start)
    }

    @Test("A test can wait for the sleeper with a certain deadline while others sleep")
    func aCertainSleeper() async throws {
        let clock = TestClock()
        let log = EventLog<String>()
        func moment(_ seconds: Int) -> TestClock.Instant { .init(sinceStart: .seconds(seconds)) }
        let late = Task { try await clock.sleep(until: moment(10)) }
        await clock.waitForSleepers(count: 1)
        let watching = Task {
            await clock.waitForSleeper(until: moment(3))
            log("seen")
        }
        let other = Task { try await clock.sleep(until: moment(4)) }
        await clock.waitForSleepers(count: 2)
        #expect(log.events == [])
        let wanted = Task { try await clock.sleep(until: moment(3)) }
        await watching.value
        // A sleeper that sleeps already is found, and so is the end of a wait that would never end.
        await clock.waitForSleeper(until: moment(10))
        let passed = Task { await clock.waitForSleeper(until: moment(9)) }
        let cancelled = Task { await clock.waitForSleeper(until: moment(11)) }
        cancelled.cancel()
        await cancelled.value
        clock.advance(by: .seconds(10))
        await passed.value
        await clock.waitForSleeper(until: moment(5))
        for sleeper in [late, other, wanted] { try await sleeper.value }
    }

    @Test func aCancelledTaskDoesNotBeginToSleep() async throws {
        let clock = TestClock()
        let gate = Gate()
        let nap = Task {
            await gate.wait()
            try await clock.sleep(until: .start)
        }
        nap.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await nap.value }
    }

    @Test func waitForSleepersWaitsForAllOfThem() async throws {
        let clock = TestClock()
        try await SeededScheduler(seed: 1).run { scheduler in
            let log = EventLog<String>()
            let watcher = Task(executorPreference: scheduler) {
                await clock.waitForSleepers(count: 3)
                log("\(clock.sleeperCount) asleep")
            }
            let naps = (1...3).map { second in
                Task(executorPreference: scheduler) { try await clock.sleep(for: .seconds(second)) }
            }
            await watcher.value
            #expect(log.events == ["3 asleep"])
            clock.advance(by: .seconds(3))
            for nap in naps { try await nap.value }
        }
    }

    @Test func aCancelledWatcherDoesNotWait() async {
        let clock = TestClock()
        let watcher = Task { await clock.waitForSleepers(count: 1) }
        watcher.cancel()
        await watcher.value
        #expect(clock.sleeperCount == 0)
    }

    @Test("A test clock can be advanced by any amount")
    func itCanBeMovedByAnyAmount() async throws {
        let clock = TestClock()
        for _ in 0..<30 { clock.advance(by: .seconds(Int64.max)) }
        #expect(clock.now.sinceStart == .seconds(Int64.max))
        try await clock.sleep(for: .seconds(Int64.max))
        #expect(clock.now.duration(to: .start) == .seconds(-Int64.max))
    }
}
