import Baton
import BatonTesting
import Foundation
import MakeCore
import Testing

/// Tests builds in virtual time, each under schedules that are derived from seeds.
@Suite struct BuildTests {
    @Test func aTargetIsMadeAfterWhatItNeedsInEveryOrder() async throws {
        let targets = [
            Target("app", needs: ["left", "right"]), Target("left", needs: ["base"]), Target("right", needs: ["base"]),
            Target("base"),
        ]
        let plan = try Plan(targets)
        try await exploring(schedules: 200) { scheduler in
            let log = EventLog<String>()
            let report = await Build(
                plan,
                in: Workshop { target, context in
                    try await context.sleep(for: .seconds(scheduler.random(in: 1...5)))
                    log(target.name)
                }
            ).run(on: AsyncOperationQueue(executor: scheduler, clock: scheduler.clock))
            try #require(report.problems.isEmpty)
            try #require(log.events.first == "base")
            try #require(log.events.last == "app")
            try #require(log.count == 4)
        }
    }

    @Test func noMoreAtATimeThanTheQueueIsWide() async throws {
        let plan = try Plan((1...10).map { number in Target("part \(number)") })
        try await exploring(schedules: 50) { scheduler in
            let queue = AsyncOperationQueue(
                maxConcurrentOperationCount: 3, executor: scheduler, clock: scheduler.clock)
            _ = await Build(plan, in: Workshop { _, context in try await context.sleep(for: .seconds(10)) })
                .run(on: queue)
            try #require(scheduler.clock.now.sinceStart == .seconds(40))  // 3 + 3 + 3 + 1
        }
    }

    @Test func retriesWithBackoffTakeNoRealTime() async throws {
        let plan = try Plan([Target("flaky", attempts: 11)])
        let began = ContinuousClock.now
        try await exploring(seed: 1) { scheduler in
            let report = await Build(
                plan,
                in: Workshop { _, context in
                    if context.attempt < 11 { throw Broken() }
                }
            ).run(on: AsyncOperationQueue(executor: scheduler, clock: scheduler.clock))
            try #require(report["flaky"] == .made)
            try #require(scheduler.clock.now.sinceStart == .milliseconds(102_300))  // 0.1 + 0.2 + … + 51.2 s
        }
        #expect(ContinuousClock.now - began < .seconds(2))
    }

    @Test func theSameWithAClockThatTheTestMoves() async throws {
        let clock = TestClock()
        let queue = AsyncOperationQueue(clock: clock)
        let attempts = EventLog<Int>()
        let build = Build(
            try Plan([Target("flaky", attempts: 3)]),
            in: Workshop { _, context in
                attempts(context.attempt)
                if context.attempt < 3 { throw Broken() }
            })
        async let report = build.run(on: queue)
        await clock.waitForSleepers(count: 1)
        #expect(attempts.events == [1])
        clock.advance(by: .milliseconds(99))
        #expect(attempts.events == [1])
        clock.advance(by: .milliseconds(1))
        await clock.waitForSleepers(count: 1)
        #expect(attempts.events == [1, 2])
        clock.advance(by: .milliseconds(200))
        #expect(await report["flaky"] == .made)
        #expect(attempts.events == [1, 2, 3])
    }

    @Test func aCommandThatTakesTooLongIsStopped() async throws {
        let plan = try Plan([Target("slow", timeLimit: 10), Target("app", needs: ["slow"])])
        try await exploring(schedules: 50) { scheduler in
            let report = await Build(
                plan,
                in: Workshop { target, context in
                    if target.name == "slow" { try await context.sleep(for: .seconds(3_600)) }
                }
            ).run(on: AsyncOperationQueue(executor: scheduler, clock: scheduler.clock))
            try #require(scheduler.clock.now.sinceStart == .seconds(10))
            try #require(report["slow"] == .failed("timed out after 10.0 seconds"))
            try #require(report["app"] == .notMade(because: "slow"))
        }
    }

    @Test func keepingGoingMakesWhatDoesNotNeedTheFailedOne() async throws {
        let plan = try Plan([
            Target("bad"), Target("after bad", needs: ["bad"]), Target("last", needs: ["after bad", "good"]),
            Target("good", needs: ["early"]), Target("early"),
        ])
        try await exploring(schedules: 200) { scheduler in
            let report = await Build(
                plan,
                in: Workshop { target, _ in
                    if target.name == "bad" { throw Broken() }
                }, keepsGoing: true
            ).run(on: AsyncOperationQueue(executor: scheduler, clock: scheduler.clock))
            try #require(report["bad"] == .failed("broken"))
            try #require(report["after bad"] == .notMade(because: "bad"))
            try #require(report["last"] == .notMade(because: "bad"))
            try #require(report["good"] == .made)
        }
    }

    @Test func withoutItTheFirstFailureStopsTheRest() async throws {
        let plan = try Plan([Target("bad"), Target("after bad", needs: ["bad"]), Target("slow")])
        try await exploring(schedules: 200) { scheduler in
            let written = EventLog<String>()
            let removed = EventLog<String>()
            let report = await Build(
                plan,
                in: Workshop(
                    run: { target, context in
                        written(target.name)
                        if target.name == "bad" { throw Broken() }
                        try await context.sleep(for: .seconds(60))
                    },
                    changed: { path in written.events.contains(path) ? .now : nil },
                    remove: { path in removed(path) })
            ).run(on: AsyncOperationQueue(executor: scheduler, clock: scheduler.clock))
            try #require(report["bad"] == .failed("broken"))
            try #require(report["after bad"] == .notMade(because: "bad"))
            try #require(report["slow"] == .stopped)
            try #require(removed.events.contains("bad"))
            try #require(scheduler.clock.now.sinceStart == .zero)
        }
    }

    @Test func whatIsUpToDateIsLeftAloneAndItsDependentsAreLookedAt() async throws {
        let times = ["main.c": 3.0, "main.o": 2, "util.c": 1, "util.o": 2, "app": 4]
        let plan = try Plan(
            [
                Target("app", needs: ["main.o", "util.o"]), Target("main.o", needs: ["main.c"]),
                Target("util.o", needs: ["util.c"]),
            ], isFile: { name in times[name] != nil })
        try await exploring(schedules: 50) { scheduler in
            let made = EventLog<String>()
            let report = await Build(
                plan,
                in: Workshop(
                    run: { target, _ in made(target.name) },
                    changed: { path in
                        made.events.contains(path) ? .distantFuture : times[path].map(Date.init(timeIntervalSince1970:))
                    })
            ).run(on: AsyncOperationQueue(executor: scheduler, clock: scheduler.clock))
            try #require(report["util.o"] == .upToDate)
            try #require(made.events == ["main.o", "app"])
        }
    }

    @Test func aCircleIsNamed() async throws {
        let plan = try Plan([
            Target("hen", needs: ["egg"]), Target("egg", needs: ["hen"]), Target("farm", needs: ["hen"]),
        ])
        let report = await Build(plan, in: Workshop { _, _ in }, keepsGoing: true).run(on: AsyncOperationQueue())
        guard case .failed(let why) = report["hen"] else { throw Broken() }
        #expect(why.hasPrefix("waits for itself: ‘"))
        #expect(report["farm"] == .notMade(because: "hen"))
    }

    @Test func anUnknownNameIsNamedWithItsReader() {
        #expect(throws: PlanError.unknown("mian.o", neededBy: "app", known: ["app"])) {
            try Plan([Target("app", needs: ["mian.o"])])
        }
    }
}

struct Broken: Error, CustomStringConvertible {
    var description: String { "broken" }
}
