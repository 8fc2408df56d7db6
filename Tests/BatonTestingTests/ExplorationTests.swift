import Baton
import Testing

@testable import BatonTesting

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

private struct Broken: Error, Equatable {}

@Suite struct ExplorationTests {
    @Test func runsTheBodyUnderAsManySeedsAsAskedFor() async throws {
        let seeds = EventLog<UInt64>()
        try await exploring(schedules: 25, from: 100) { seeds($0.seed) }
        #expect(seeds.events == Array(100..<125))
    }

    @Test func stopsAtTheFirstSeedThatFailsAndSaysWhich() async throws {
        let seeds = EventLog<UInt64>()
        let failure = await #expect(throws: ScheduleFailure.self) {
            try await exploring(schedules: 25, from: 100) { scheduler in
                seeds(scheduler.seed)
                if scheduler.seed == 107 { throw Broken() }
            }
        }
        #expect(failure?.seed == 107)
        #expect(failure?.underlying as? Broken == Broken())
        #expect(seeds.events == Array(100...107))
    }

    @Test func theFailureSaysHowToRunItAgain() {
        let text = ScheduleFailure(seed: 107, underlying: Broken()).description
        #expect(text.contains("Failed under seed 107: Broken()"))
        #expect(text.contains("exploring(seed: 107)"))
        #expect(text.contains("BATON_SEED=107"))
        #expect(!text.contains("may not repeat"))
        let doubtful = ScheduleFailure(seed: 1, underlying: Broken(), foreignJobCount: 2)
        #expect(doubtful.description.contains("may not repeat"))
    }

    /// A lost update: two tasks read before either writes. Only some orders show it.
    @Test func findsARaceThatOnlySomeOrdersShowAndRepeatsIt() async throws {
        actor Account {
            var balance = 0
            func deposit() async {
                let before = balance
                await Task.yield()
                balance = before + 1
            }
        }
        @Sendable func subject(_ scheduler: SeededScheduler) async throws {
            let account = Account()
            async let one: Void = account.deposit()
            async let other: Void = account.deposit()
            _ = await (one, other)
            if await account.balance != 2 { throw Broken() }
        }
        let passes = EventLog<UInt64>()
        for seed in 1...50 as ClosedRange<UInt64> {
            if (try? await SeededScheduler(seed: seed).run(subject)) != nil { passes(seed) }
        }
        #expect(passes.count > 0)
        let found = await #expect(throws: ScheduleFailure.self) { try await exploring(schedules: 50, subject) }
        let seed = try #require(found).seed
        for _ in 0..<5 {
            let again = await #expect(throws: ScheduleFailure.self) { try await exploring(seed: seed, subject) }
            #expect(again?.seed == seed)
        }
    }

    @Test("Operations whose bodies do not suspend run in both orders")
    func bothOrdersOfReadyOperations() async throws {
        let orders = EventLog<[String]>()
        try await exploring(schedules: 50) { scheduler in
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 2, executor: scheduler)
            let log = EventLog<String>()
            queue.add([AsyncOperation { log("a") }, AsyncOperation { log("b") }])
            await queue.waitUntilIdle()
            orders(log.events)
        }
        #expect(Set(orders.events) == [["a", "b"], ["b", "a"]])
    }

    @Test("A dependency that is missing between bodies that do not suspend is found, and found again under its seed")
    func missingDependencies() async throws {
        @Sendable func subject(_ scheduler: SeededScheduler) async throws {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 2, executor: scheduler)
            let files = Locked<Set<String>>([])
            // The reader checks what the writer makes, but does not depend on the writer.
            let writer = AsyncOperation { _ = files.withLock { $0.insert("page") } }
            let reader = AsyncOperation { if !files.withLock({ $0.contains("page") }) { throw Broken() } }
            queue.add([writer, reader])
            await queue.waitUntilIdle()
            if let error = reader.error { throw error }
        }
        let found = await #expect(throws: ScheduleFailure.self) { try await exploring(schedules: 50, subject) }
        let seed = try #require(found).seed
        for _ in 0..<5 {
            await #expect(throws: ScheduleFailure.self) { try await exploring(seed: seed, subject) }
        }
    }

    @Test("Operations that check and then act, each in a step of its own, are found to do both")
    func checkThenAct() async throws {
        await #expect(throws: ScheduleFailure.self) {
            try await exploring(schedules: 100) { scheduler in
                let queue = AsyncOperationQueue(maxConcurrentOperationCount: 2, executor: scheduler)
                let tickets = Locked(1)
                let sold = EventLog<Int>()
                func sale(_ buyer: Int) -> AsyncOperation<Void> {
                    // Each sale is two operations, so that another sale may come between the check and the act.
                    AsyncOperation { tickets.withLock { $0 } > 0 }.then { isFree in
                        if isFree {
                            tickets.withLock { $0 -= 1 }
                            sold(buyer)
                        }
                    }
                }
                queue.add([sale(1), sale(2)])
                await queue.waitUntilIdle()
                if sold.count != 1 { throw Broken() }
            }
        }
    }

    @Test func aHangIsReportedWithItsSeed() async {
        let gate = Gate()
        let failure = await #expect(throws: ScheduleFailure.self) {
            try await exploring(schedules: 3, from: 5) { _ in await gate.wait() }
        }
        gate.open()
        #expect(failure?.seed == 5)
        #expect(failure?.underlying as? ScheduleError == .stuck(seed: 5))
    }

    @Test func aCancelledExplorationEndsWithTheCancellationAndBlamesNoSeed() async {
        let isKnown = Gate()
        let known = EventLog<Task<Void, any Error>>()
        let exploration = Task {
            await isKnown.wait()
            try await exploring { _ in
                known.events[0].cancel()
                while !Task.isCancelled { await Task.yield() }
                throw Broken()
            }
        }
        known(exploration)
        isKnown.open()
        await #expect(throws: CancellationError.self) { try await exploration.value }
    }

    @Test func theEnvironmentChoosesTheOnlySeed() async {
        await #expect(processExitsWith: .success) {
            setenv("BATON_SEED", "77", 1)
            let seeds = EventLog<UInt64>()
            try await exploring { seeds($0.seed) }
            guard seeds.events == [77] else { exit(1) }
        }
    }
}

@Suite struct ScheduleErrorTests {
    @Test("Descriptions of errors use the singular for one job")
    func oneJob() {
        let foreign = ScheduleError.notDeterministic(seed: 6, foreignJobs: 1)
        #expect(foreign.description.hasPrefix("not deterministic under seed 6: 1 job came from outside"))
        let several = ScheduleError.notDeterministic(seed: 6, foreignJobs: 2)
        #expect(several.description.hasPrefix("not deterministic under seed 6: 2 jobs came from outside"))
        #expect(foreign.description.contains("without a clock (pass `clock: scheduler.clock`)"))
        let endless = ScheduleError.endless(seed: 6, jobs: 1)
        #expect(endless.description.contains("1 job has run, and the run has not ended."))
    }
}

@Suite struct SeedPlanTests {
    @Test func goesUpwardsFromTheFirst() throws {
        #expect(Array(try SeedPlan(schedules: 3, from: 7, chosen: nil)) == [7, 8, 9])
        #expect(Array(try SeedPlan(schedules: 3, from: .max, chosen: "")) == [.max, 0, 1])
        for count in [0, -1] {
            #expect(throws: ScheduleError.noSchedules(count)) {
                try SeedPlan(schedules: count, from: 7, chosen: nil)
            }
        }
    }

    @Test func aChosenSeedIsTheOnlyOne() throws {
        #expect(Array(try SeedPlan(schedules: 3, from: 7, chosen: "42")) == [42])
        #expect(Array(try SeedPlan(schedules: 3, from: 7, chosen: "0xff")) == [255])
    }

    @Test(arguments: ["seven", "-1", "1.5", "0x", " 1", "18446744073709551616"])
    func whatIsNoSeedIsAnError(text: String) {
        #expect(throws: ScheduleError.malformedSeed(text)) { try SeedPlan(schedules: 3, from: 7, chosen: text) }
    }
}
