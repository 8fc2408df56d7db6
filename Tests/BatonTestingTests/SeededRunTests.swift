import Baton
import Testing

@testable import BatonTesting

private enum Ambience {
    @TaskLocal static var word = "none"
}

/// Tests which faults a seeded run detects, and what it takes over from its caller's task.
@Suite struct SeededRunTests {
    @Test func aHangIsFound() async {
        let gate = Gate()
        let scheduler = SeededScheduler(seed: 3, patience: .zero)
        await #expect(throws: ScheduleError.stuck(seed: 3)) {
            try await scheduler.run { _ in await gate.wait() }
        }
        #expect(gate.waiterCount == 1)
        gate.open()
    }

    @Test func aTaskLeftByAHangEndsElsewhereWhenItCan() async throws {
        let gate = Gate()
        let log = EventLog<String>()
        await #expect(throws: ScheduleError.stuck(seed: 3)) {
            try await SeededScheduler(seed: 3, patience: .zero).run { _ in
                await gate.wait()
                await Task.yield()
                log("ended")
            }
        }
        gate.open()
        await log.waitForCount(1)
    }

    @Test func aBodyThatHangsIsCancelledAndCanCleanUp() async {
        let log = EventLog<String>()
        await #expect(throws: ScheduleError.stuck(seed: 3)) {
            try await SeededScheduler(seed: 3, patience: .zero).run { scheduler in
                try? await Gate().waitUnlessCancelled()
                try? await Task(executorPreference: scheduler) { try await scheduler.clock.sleep(for: .seconds(1)) }
                    .value
                log("cleaned up")
            }
        }
        #expect(log.events == ["cleaned up"])
    }

    @Test("Two child tasks that wait for each other are reported as stuck")
    func twoThatWaitForEachOtherAreFound() async {
        let here = Gate()
        let there = Gate()
        await #expect(throws: ScheduleError.stuck(seed: 8)) {
            try await SeededScheduler(seed: 8, patience: .zero).run { _ in
                async let one: Void = {
                    await here.wait()
                    there.open()
                }()
                async let other: Void = {
                    await there.wait()
                    here.open()
                }()
                _ = await (one, other)
            }
        }
        here.open()
    }

    @Test func aLoopWithoutEndIsFound() async {
        let scheduler = SeededScheduler(seed: 3, jobLimit: 1_000, patience: .zero)
        await #expect(throws: ScheduleError.endless(seed: 3, jobs: 1_000)) {
            try await scheduler.run { _ in while !Task.isCancelled { await Task.yield() } }
        }
        #expect(scheduler.jobCount < 1_100)
    }

    @Test("The error of the body is thrown even if the body leaves an endless task behind")
    func whatTheBodyHasThrownIsNotHiddenByALoopThatItLeft() async {
        let scheduler = SeededScheduler(seed: 3, jobLimit: 1_000, patience: .zero)
        let exit = Gate()
        await #expect(throws: CancellationError.self) {
            try await scheduler.run { scheduler in
                Task(executorPreference: scheduler) { while !exit.isOpen { await Task.yield() } }
                throw CancellationError()
            }
        }
        exit.open()
        for job in scheduler.schedule.withLock({ $0.giveUp() }) { scheduler.runElsewhere(job) }
    }

    @Test func theLimitMayBeTheGreatestNumber() async {
        await #expect(throws: ScheduleError.stuck(seed: 3)) {
            try await SeededScheduler(seed: 3, jobLimit: .max, patience: .zero).run { _ in
                try await Gate().waitUnlessCancelled()
            }
        }
    }

    @Test("The error of an endless run names an operation that repeats, and the run ends soon after its limit")
    func endlessRepetition() async {
        let scheduler = SeededScheduler(seed: 3, jobLimit: 10_100, patience: .zero)
        var text = ""
        do {
            try await scheduler.run { scheduler in
                let queue = AsyncOperationQueue(executor: scheduler, clock: scheduler.clock)
                let poll = AsyncOperation("poll") { 1 }.repeat(every: .seconds(1))
                // The wait ignores its cancellation.
                _ = try await queue.add(poll).value
            }
        } catch {
            text = "\(error)"
        }
        #expect(text.contains("an operation that repeats without a `count`"))
        #expect(text.contains("\n- ‘poll’ "))
        #expect(scheduler.jobCount == 20_100)
        for job in scheduler.schedule.withLock({ $0.giveUp() }) { scheduler.runElsewhere(job) }
    }

    @Test func aLoopThatIgnoresCancellationIsGivenUp() async {
        let scheduler = SeededScheduler(seed: 3, jobLimit: 100, patience: .zero)
        let exit = Gate()
        await #expect(throws: ScheduleError.endless(seed: 3, jobs: 100)) {
            try await scheduler.run { _ in while !exit.isOpen { await Task.yield() } }
        }
        // After the cancellation, the scheduler runs as many jobs again before it gives up.
        #expect(scheduler.jobCount == 200)
        #expect(scheduler.schedule.withLock { $0.hasJobs }, "The loop must not go on elsewhere.")
        exit.open()
        for job in scheduler.schedule.withLock({ $0.giveUp() }) { scheduler.runElsewhere(job) }
    }

    @Test func jobsFromAnotherThreadAreCountedAndFailTheRun() async {
        let scheduler = SeededScheduler(seed: 6)
        await #expect(throws: ScheduleError.notDeterministic(seed: 6, foreignJobs: 2)) {
            try await scheduler.run { scheduler in
                OtherThread.runAndWait {
                    Task(executorPreference: scheduler) {}
                    Task(executorPreference: scheduler) {}
                }
            }
        }
        #expect(scheduler.foreignJobCount == 2)
    }

    @Test func aWaitForSomethingOutsideIsNoHang() async {
        let scheduler = SeededScheduler(seed: 6, patience: .seconds(600))
        await #expect(throws: ScheduleError.notDeterministic(seed: 6, foreignJobs: 1)) {
            try await scheduler.run { _ in await MainActor.run {} }
        }
    }

    @Test func theErrorOfTheBodyComesBeforeForeignJobs() async {
        struct Broken: Error {}
        let scheduler = SeededScheduler(seed: 6)
        await #expect(throws: Broken.self) {
            try await scheduler.run { scheduler in
                OtherThread.runAndWait { Task(executorPreference: scheduler) {} }
                throw Broken()
            }
        }
        #expect(scheduler.foreignJobCount == 1)
    }

    @Test func theCallersTaskLocalsAreSeenAndItsTestIsTheCurrentOne() async throws {
        try await Ambience.$word.withValue("outside") {
            try await SeededScheduler(seed: 1).run { scheduler in
                #expect(Ambience.word == "outside")
                #expect(Test.current?.name.contains("theCallersTaskLocals") == true)
                await Ambience.$word.withValue("inside") { await Task.yield() }
            }
            #expect(Ambience.word == "outside")
        }
    }

    @Test func theCallersTaskIsInItsPlaceAfterwards() async throws {
        let before = withUnsafeCurrentTask { $0?.hashValue }
        let inside = try await SeededScheduler(seed: 1).run { _ in
            await Task.yield()
            return withUnsafeCurrentTask { $0?.hashValue }
        }
        #expect(withUnsafeCurrentTask { $0?.hashValue } == before)
        #expect(inside != before)
        #expect(!Task.isCancelled)
    }

    @Test func cancellingTheCallerCancelsTheBody() async {
        let begun = Gate()
        let caller = Task {
            try await SeededScheduler(seed: 1, patience: .seconds(600)).run { _ in
                begun.open()
                try await Gate().waitUnlessCancelled()
            }
        }
        await begun.wait()
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
    }

    @Test func aRunInsideARunIsAsDeterministicAsAlone() async throws {
        @Sendable func order(_ scheduler: SeededScheduler) async -> [Int] {
            let log = EventLog<Int>()
            await withTaskGroup { group in
                for member in 0..<8 { group.addTask { log(member) } }
            }
            return log.events
        }
        let alone = try await SeededScheduler(seed: 2).run(order)
        let outer = SeededScheduler(seed: 1)
        let inside = try await outer.run { _ in try await SeededScheduler(seed: 2).run(order) }
        #expect(alone == inside)
        #expect(outer.foreignJobCount == 0)
    }

    @MainActor @Test func aRunStartedOnTheMainActorLetsTheMainActorRun() async {
        let scheduler = SeededScheduler(seed: 6, patience: .seconds(600))
        await #expect(throws: ScheduleError.notDeterministic(seed: 6, foreignJobs: 1)) {
            try await scheduler.run { _ in await MainActor.run {} }
        }
    }

    @Test func manyRunsAtATimeDoNotDisturbEachOther() async throws {
        @Sendable func order(_ seed: UInt64) async throws -> [Int] {
            try await SeededScheduler(seed: seed).run { _ in
                let log = EventLog<Int>()
                await withTaskGroup { group in
                    for member in 0..<10 {
                        group.addTask {
                            await Task.yield()
                            log(member)
                        }
                    }
                }
                return log.events
            }
        }
        let alone = try await order(1)
        let together = try await withThrowingTaskGroup(of: [Int].self) { group in
            for _ in 0..<50 { group.addTask { try await order(1) } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(together == [alone])
    }
}
