import Testing

@testable import BatonTesting

/// Numbers that make no sense are reported, and have no other effect.
@Suite(.timeLimit(.minutes(10))) struct InvalidNumberTests {
    private let lines = EventLog<String>()

    @Test("A clock that would have to move back stands still, and says so")
    func clocksThatMoveBack() {
        let clock = TestClock(watchedBy: nil, report: { [lines] in lines($0) })
        clock.advance(by: .seconds(2))
        clock.advance(by: .zero)
        clock.advance(to: clock.now)
        #expect(lines.events == [])
        clock.advance(by: .seconds(-1))
        clock.advance(to: .start)
        #expect(clock.now.sinceStart == .seconds(2))
        let end = "; it stays at 2.0 seconds. Move it forward, or make a new one"
        #expect(
            lines.events == [
                "TestClock.advance(by:) cannot move the clock by -1.0 seconds\(end)",
                "TestClock.advance(to:) cannot move the clock back to 0.0 seconds\(end)",
            ])
    }

    @Test("A wait for a negative number returns at once, and says so with its place")
    func negativeCounts() async {
        let report: @Sendable (String) -> Void = { [lines] in lines($0) }
        let clock = TestClock(watchedBy: nil, report: report)
        let gate = Gate(watchedBy: .shared, report: report)
        let log = EventLog<Int>(watchedBy: .shared, report: report)
        await clock.waitForSleepers(count: 0)
        await gate.waitForWaiters(count: 0)
        #expect(await log.waitForCount(0) == [])
        #expect(lines.events == [])
        await clock.waitForSleepers(count: -1, file: "Some/Test.swift", line: 7)
        await gate.waitForWaiters(count: -2, file: "Some/Test.swift", line: 8)
        #expect(await log.waitForCount(-3, file: "Some/Test.swift", line: 9) == [])
        let end = "it returned at once. Ask for 1 or more"
        #expect(
            lines.events == [
                "TestClock.waitForSleepers cannot wait for -1 tasks; \(end) (Some/Test.swift:7)",
                "Gate.waitForWaiters cannot wait for -2 tasks; \(end) (Some/Test.swift:8)",
                "EventLog.waitForCount cannot wait for -3 events; \(end) (Some/Test.swift:9)",
            ])
    }

    @Test("A limit of less than one job counts as one", arguments: [0, -5])
    func jobLimits(limit: Int) async {
        let used = SeededScheduler.usableJobLimit(limit) { [lines] in lines($0) }
        #expect(used == 1)
        #expect(
            lines.events == ["a SeededScheduler cannot have a jobLimit of \(limit); it has 1. Ask for 1 or more"])
        let least = SeededScheduler.usableJobLimit(1) { [lines] in lines($0) }
        #expect(least == 1 && lines.count == 1)
        let scheduler = SeededScheduler(seed: 3, jobLimit: limit)
        await #expect(throws: ScheduleError.endless(seed: 3, jobs: 1)) {
            try await scheduler.run { _ in await Task.yield() }
        }
        await #expect {
            try await exploring(schedules: 1, from: 4, jobLimit: limit) { _ in await Task.yield() }
        } throws: { error in
            (error as? ScheduleFailure)?.underlying as? ScheduleError == .endless(seed: 4, jobs: 1)
        }
    }
}
