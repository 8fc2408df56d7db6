import Baton
import Testing

@testable import BatonTesting

private actor Tally {
    private var value = 0

    func add(_ log: EventLog<String>) async {
        let before = value
        log("tally \(before)")
        await Task.yield()
        value = before + 1
    }
}

/// Runs task groups, async let, an actor, yields, tasks and sleeps, and returns the order of their events.
private func mixture(_ scheduler: SeededScheduler) async throws -> [String] {
    let log = EventLog<String>()
    let tally = Tally()
    try await withThrowingTaskGroup(of: Void.self) { group in
        for member in 0..<5 {
            group.addTask {
                log("group \(member)")
                await Task.yield()
                log("group \(member) again")
                await tally.add(log)
            }
        }
        async let left: Void = tally.add(log)
        async let right: Void = {
            try await scheduler.clock.sleep(for: .milliseconds(5))
            log("slept")
        }()
        let task = Task(executorPreference: scheduler) {
            await Task.yield()
            log("task")
        }
        _ = try await (left, right)
        try await group.waitForAll()
        await task.value
    }
    return log.events
}

@Suite struct SeededSchedulerTests {
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func theSameSeedGivesTheSameOrder(seed: UInt64) async throws {
        let first = SeededScheduler(seed: seed)
        let second = SeededScheduler(seed: seed)
        let order = try await first.run(mixture)
        #expect(order.count == 18)
        #expect(try await second.run(mixture) == order)
        #expect(first.jobCount == second.jobCount)
        #expect(first.jobCount > 18)
        #expect(first.foreignJobCount == 0)
    }

    @Test func anotherProcessGivesTheSameOrder() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            print("<\(try await SeededScheduler(seed: 5).run(mixture))>")
        }
        let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
        #expect(output.contains("<\(try await SeededScheduler(seed: 5).run(mixture))>"))
    }

    @Test func differentSeedsGiveDifferentOrders() async throws {
        var orders: Set<[String]> = []
        for seed in 1...20 as ClosedRange<UInt64> {
            orders.insert(try await SeededScheduler(seed: seed).run(mixture))
        }
        #expect(orders.count >= 19)
    }

    @Test func neverTwoJobsAtATime() async throws {
        let running = EventLog<Int>()
        try await SeededScheduler(seed: 4).run { _ in
            await withTaskGroup { group in
                for member in 0..<20 {
                    group.addTask {
                        running(member)
                        for _ in 0..<1_000 { _ = running.count }
                        running(member)
                    }
                }
            }
        }
        let events = running.events
        for pair in stride(from: 0, to: events.count, by: 2) { #expect(events[pair] == events[pair + 1]) }
    }

    @Test func returnsWhatTheBodyReturnsAndThrowsWhatItThrows() async throws {
        struct Broken: Error {}
        #expect(try await SeededScheduler(seed: 1).run { _ in 42 } == 42)
        await #expect(throws: Broken.self) { try await SeededScheduler(seed: 1).run { _ in throw Broken() } }
    }

    @Test func jobsThatOutliveTheBodyAreRunToTheirEnd() async throws {
        let log = EventLog<Int>()
        try await SeededScheduler(seed: 1).run { scheduler in
            _ = Task(executorPreference: scheduler) {
                for event in 0..<10 {
                    await Task.yield()
                    log(event)
                }
            }
        }
        #expect(log.count == 10)
    }

    @Test func jobsThatCameBeforeTheRunAreKeptForIt() async throws {
        let scheduler = SeededScheduler(seed: 1)
        let early = Task(executorPreference: scheduler) { 7 }
        #expect(scheduler.jobCount == 0)
        #expect(try await scheduler.run { _ in await early.value } == 7)
        #expect(scheduler.foreignJobCount == 0)
    }

    @Test func jobsThatComeAfterTheRunStillRun() async throws {
        let scheduler = SeededScheduler(seed: 1)
        try await scheduler.run { _ in }
        let count = scheduler.jobCount
        let late = Task(executorPreference: scheduler) {
            await Task.yield()
            return 7
        }
        #expect(await late.value == 7)
        #expect(scheduler.jobCount == count)
    }

    @Test func aSchedulerIsOneSchedule() async throws {
        let scheduler = SeededScheduler(seed: 9)
        await #expect(throws: ScheduleError.usedTwice(seed: 9)) {
            try await scheduler.run { try await $0.run { _ in } }
        }
        await #expect(throws: ScheduleError.usedTwice(seed: 9)) { try await scheduler.run { _ in } }
    }

    @Test func queuesSeeThatItIsDeterministic() {
        let executor: any TaskExecutor = SeededScheduler(seed: 1)
        #expect(executor is any DeterministicTaskExecutor)
    }

    @Test func theTestsOwnChoicesComeFromTheSeedAndDoNotDisturbTheOrder() async throws {
        func choices(_ seed: UInt64) -> [Int] {
            let scheduler = SeededScheduler(seed: seed)
            var generator = scheduler.makeGenerator()
            return (0..<20).map { _ in scheduler.random(in: 3..<9) } + [scheduler.random(in: 5...5)]
                + (0..<20).shuffled(using: &generator)
        }
        #expect(choices(1) == choices(1))
        #expect(choices(1) != choices(2))
        #expect(Set(choices(1).prefix(20)) == Set(3..<9))

        let plain = try await SeededScheduler(seed: 5).run(mixture)
        let drawing = try await SeededScheduler(seed: 5).run { scheduler in
            _ = scheduler.random(in: 0...9)
            return try await mixture(scheduler)
        }
        #expect(plain == drawing)
    }
}

@Suite struct VirtualTimeTests {
    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func timePassesInOrderWhateverTheSeed(seed: UInt64) async throws {
        let scheduler = SeededScheduler(seed: seed)
        let log = EventLog<Int>()
        try await scheduler.run { scheduler in
            await withThrowingTaskGroup(of: Void.self) { group in
                for hour in [3, 1, 2, 5, 4] {
                    group.addTask {
                        try await scheduler.clock.sleep(for: .seconds(3600 * hour))
                        log(hour)
                    }
                }
            }
        }
        #expect(log.events == [1, 2, 3, 4, 5])
        #expect(scheduler.clock.now.sinceStart == .seconds(5 * 3600))
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func timeDoesNotPassWhileAJobCanRun(seed: UInt64) async throws {
        try await SeededScheduler(seed: seed).run { scheduler in
            async let nap: Void = scheduler.clock.sleep(for: .nanoseconds(1))
            for _ in 0..<50 {
                #expect(scheduler.clock.now == .start)
                await Task.yield()
            }
            try await nap
            #expect(scheduler.clock.now.sinceStart == .nanoseconds(1))
        }
    }

    @Test func tasksThatSleepAtTheEndOfTheBodyStayAsleep() async throws {
        let scheduler = SeededScheduler(seed: 1)
        let nap = try await scheduler.run { scheduler in
            let nap = Task(executorPreference: scheduler) { try await scheduler.clock.sleep(for: .seconds(1)) }
            await scheduler.clock.waitForSleepers(count: 1)
            return nap
        }
        #expect(scheduler.clock.now == .start)
        scheduler.clock.advance(by: .seconds(1))
        try await nap.value
    }

    @Test func anyRangeMayBeDrawnFrom() {
        let scheduler = SeededScheduler(seed: 1)
        #expect(scheduler.random(in: 0...Int.max) >= 0)
        #expect(scheduler.random(in: Int.min..<Int.max) < Int.max)
        #expect(Set((0..<100).map { _ in scheduler.random(in: Int.min...Int.max) }).count == 100)
        #expect(Set((0..<1000).map { _ in scheduler.random(in: -2...2) }) == [-2, -1, 0, 1, 2])
        #expect(scheduler.random(in: Int.max...Int.max) == Int.max)
    }
}
