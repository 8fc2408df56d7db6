import Baton
import Testing

@testable import BatonTesting

/// The lines about waits that take long. The test decides when the watch looks at the waits, so no time passes.
@Suite(.timeLimit(.minutes(10))) struct LongWaitTests {
    /// A watch whose checks the test runs, and whose lines it reads.
    private struct Rig {
        let watch: LongWaitWatch
        let lines = EventLog<String>()
        private let checks = EventLog<@Sendable () -> Void>()

        init() {
            watch = LongWaitWatch(
                schedule: { [checks] in checks.append($0) }, write: { [lines] in lines.append($0) })
        }

        /// True if a check will come.
        var isScheduled: Bool { checks.count > 0 }

        /// Runs the check that is scheduled. A wait that has just begun schedules it shortly after it is counted.
        func check() async {
            let scheduled = await checks.waitForCount(1)
            checks.clear()
            #expect(scheduled.count == 1)
            for check in scheduled { check() }
        }
    }

    /// The place that the calls of a test give.
    private let place = "Some/Test.swift:7"

    private func wait(_ body: @escaping @Sendable (StaticString, UInt) async -> Void) -> Task<Void, Never> {
        Task { await body("Some/Test.swift", 7) }
    }

    /// Waits until the watch knows that many waits.
    private func begun(_ rig: Rig, _ count: Int = 1) async {
        while rig.watch.count < count { await Task.yield() }
    }

    @Test("A wait for sleepers that takes long says how many tasks sleep, and until when")
    func sleepers() async {
        let rig = Rig()
        let clock = TestClock(watchedBy: rig.watch)
        let waiting = wait { await clock.waitForSleepers(count: 2, file: $0, line: $1) }
        await begun(rig)
        await rig.check()
        #expect(rig.lines.events == [])
        await rig.check()
        #expect(
            rig.lines.events == [
                "TestClock.waitForSleepers(count: 2) has waited for more than 5 seconds (\(place)): no task sleeps on "
                    + "this clock, and it stands at 0.0 seconds. Give this clock to the queue and to all other code "
                    + "that sleeps; the delays of one queue are one sleeper"
            ])
        // There is one line about a wait, and no check goes on for it.
        #expect(!rig.isScheduled)
        waiting.cancel()
        await waiting.value
    }

    @Test("A wait for a certain sleeper that takes long says until when others sleep")
    func certainSleeper() async {
        let rig = Rig()
        let clock = TestClock(watchedBy: rig.watch)
        let sleeper = Task { try? await clock.sleep(for: .seconds(3)) }
        await clock.waitForSleepers(count: 1)
        let waiting = wait {
            await clock.waitForSleeper(until: .init(sinceStart: .seconds(2)), file: $0, line: $1)
        }
        await begun(rig, 2)
        await rig.check()
        await rig.check()
        waiting.cancel()
        await waiting.value
        #expect(
            rig.lines.events == [
                "TestClock.waitForSleeper(until: 2.0 seconds) has waited for more than 5 seconds (\(place)): 1 task "
                    + "sleeps on this clock, until 3.0 seconds, and it stands at 0.0 seconds. Give this clock to the "
                    + "queue and to all other code that sleeps; the delays of one queue are one sleeper"
            ])
        sleeper.cancel()
        await sleeper.value
        await rig.check()
    }

    @Test("A wait that ends in time is not reported, and the watch ends with it")
    func shortWaits() async {
        let rig = Rig()
        let clock = TestClock(watchedBy: rig.watch)
        let gate = Gate(watchedBy: rig.watch)
        let log = EventLog<Int>(watchedBy: rig.watch)
        let sleeper = Task {
            try await clock.sleep(for: .seconds(3))
            log(1)
            await gate.wait()
        }
        await clock.waitForSleepers(count: 1)
        await rig.check()
        clock.advance(by: .seconds(3))
        await log.waitForCount(1)
        await gate.waitForWaiters(count: 1)
        gate.open()
        try? await sleeper.value
        while rig.isScheduled { await rig.check() }
        #expect(rig.lines.events == [])
        // Waits that need not wait are not watched at all.
        await gate.waitForWaiters(count: 1)
        await log.waitForCount(1)
        await log.first { $0 == 1 }
        await clock.waitForSleepers(count: 0)
        #expect(!rig.isScheduled)
    }

    @Test("A clock that nobody moves is reported once, with the next deadline")
    func standstill() async {
        let rig = Rig()
        let clock = TestClock(watchedBy: rig.watch)
        func sleeper(_ seconds: Int) -> Task<Void, Never> {
            Task { try? await clock.sleep(for: .seconds(seconds)) }
        }
        let sleepers = [sleeper(3), sleeper(4)]
        while clock.sleeperCount < 2 { await Task.yield() }
        await rig.check()
        await rig.check()
        #expect(
            rig.lines.events == [
                "a TestClock has stood at 0.0 seconds for more than 5 seconds, and 2 tasks sleep on it, the first "
                    + "until 3.0 seconds. If the test hangs, move the clock with `advance(by:)`"
            ])
        let late = sleeper(5)
        while clock.sleeperCount < 3 { await Task.yield() }
        await rig.check()
        #expect(rig.lines.count == 1)
        clock.advance(by: .seconds(5))
        for sleeper in sleepers + [late] { await sleeper.value }
        await rig.check()
        #expect(!rig.isScheduled)
    }

    @Test("A clock that moves is not reported, but one that has moved too little is")
    func movingClock() async {
        let rig = Rig()
        let clock = TestClock(watchedBy: rig.watch)
        let sleeper = Task { try? await clock.sleep(for: .seconds(3)) }
        while clock.sleeperCount < 1 { await Task.yield() }
        await rig.check()
        clock.advance(by: .seconds(1))
        await rig.check()
        clock.advance(by: .seconds(1))
        await rig.check()
        #expect(rig.lines.events == [])
        await rig.check()
        #expect(rig.lines.events.map { $0.prefix(44) } == ["a TestClock has stood at 2.0 seconds for mor"])
        sleeper.cancel()
        await sleeper.value
    }

    @Test("A clock that a wait of the test tells about is not reported a second time")
    func waitAndStandstill() async {
        let rig = Rig()
        let clock = TestClock(watchedBy: rig.watch)
        let other = wait { _, _ in try? await clock.sleep(for: .seconds(3)) }
        while clock.sleeperCount < 1 { await Task.yield() }
        let waiting = wait { await clock.waitForSleepers(count: 2, file: $0, line: $1) }
        await begun(rig, 2)
        await rig.check()
        await rig.check()
        #expect(rig.lines.events.map { $0.prefix(35) } == ["TestClock.waitForSleepers(count: 2)"])
        for task in [other, waiting] {
            task.cancel()
            await task.value
        }
        await rig.check()
        #expect(!rig.isScheduled)
    }

    @Test("A wait for a gate that takes long says how many tasks wait there")
    func gates() async {
        let rig = Rig()
        let gate = Gate(watchedBy: rig.watch)
        let waiter = Task { await gate.wait() }
        while gate.waiterCount < 1 { await Task.yield() }
        let waiting = wait { await gate.waitForWaiters(count: 2, file: $0, line: $1) }
        await begun(rig, 2)
        await rig.check()
        await rig.check()
        #expect(
            rig.lines.events == [
                "Gate.waitForWaiters(count: 2) has waited for more than 5 seconds (\(place)): 1 task waits at this "
                    + "gate. Print `explain()` of the operation that should reach it"
            ])
        gate.open()
        await waiting.value
        await waiter.value
    }

    @Test("A gate that nobody opens is reported once, with the number of tasks that wait at it")
    func closedGate() async throws {
        let rig = Rig()
        let gate = Gate(watchedBy: rig.watch)
        let first = Task { await gate.wait() }
        await begun(rig)
        await rig.check()
        let second = Task { try await gate.waitUnlessCancelled() }
        await begun(rig, 2)
        #expect(rig.lines.events == [])
        await rig.check()
        #expect(
            rig.lines.events == [
                "a Gate has been closed for more than 5 seconds, and 2 tasks wait at it. If the test hangs, open the "
                    + "gate with `open()`"
            ])
        let late = Task { await gate.wait() }
        while gate.waiterCount < 3 { await Task.yield() }
        await rig.check()
        await rig.check()
        #expect(rig.lines.count == 1)
        gate.open()
        for task in [first, late] { await task.value }
        try await second.value
        await rig.check()
        #expect(rig.lines.count == 1 && !rig.isScheduled)
    }

    @Test("A task that has only begun to wait at a gate is not reported")
    func closedGateForNow() async {
        let rig = Rig()
        let (gate, other) = (Gate(watchedBy: rig.watch), Gate(watchedBy: rig.watch))
        let waiter = Task { await other.wait() }
        await begun(rig)
        await rig.check()
        let cancelled = Task { try await gate.waitUnlessCancelled() }
        await begun(rig, 2)
        await rig.check()
        #expect(rig.lines.count == 1)
        cancelled.cancel()
        _ = await cancelled.result
        other.open()
        await waiter.value
        await rig.check()
        #expect(rig.lines.count == 1 && !rig.isScheduled)
    }

    @Test("A wait for an event that takes long says how many events there are")
    func events() async {
        let rig = Rig()
        let log = EventLog<Int>(watchedBy: rig.watch)
        let counting = wait { _ = await log.waitForCount(2, file: $0, line: $1) }
        await begun(rig)
        await rig.check()
        log(1)
        await rig.check()
        let searching = wait { _ = await log.first(file: $0, line: $1) { $0 == 2 } }
        await begun(rig)
        await rig.check()
        await rig.check()
        let end = ". Print `explain()` of the operation that should append the event"
        #expect(
            rig.lines.events == [
                "EventLog.waitForCount(2) has waited for more than 5 seconds (\(place)): the log has 1 event\(end)",
                "EventLog.first(where:) has waited for more than 5 seconds (\(place)): none of its events fulfils the "
                    + "condition (1 so far)\(end)",
            ])
        log(2)
        await counting.value
        await searching.value
    }

    @Test("The watch of the process calls from another thread after a time")
    func shared() async {
        let log = EventLog<String>()
        LateCall.schedule(after: .zero) { log("called") }
        #expect(await log.waitForCount(1) == ["called"])
    }
}
