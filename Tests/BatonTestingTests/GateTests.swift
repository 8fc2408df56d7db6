import Testing

@testable import BatonTesting

@Suite struct GateTests {
    @Test func holdsBackUntilOpened() async {
        let gate = Gate()
        let log = EventLog<String>()
        let task = Task {
            await gate.wait()
            log("through, open: \(gate.isOpen)")
        }
        await gate.waitForWaiters(count: 1)
        #expect(!gate.isOpen)
        #expect(log.count == 0)
        gate.open()
        #expect(gate.waiterCount == 0)
        await task.value
        #expect(log.events == ["through, open: true"])
    }

    @Test func anOpenGateHoldsNobodyBack() async throws {
        let gate = Gate(isOpen: true)
        await gate.wait()
        try await gate.waitUnlessCancelled()
        #expect(gate.waiterCount == 0)
    }

    @Test func waitIgnoresCancellation() async {
        let gate = Gate()
        let task = Task {
            await gate.wait()
            return (wasOpen: gate.isOpen, wasCancelled: Task.isCancelled)
        }
        await gate.waitForWaiters(count: 1)
        task.cancel()
        #expect(gate.waiterCount == 1)
        gate.open()
        let end = await task.value
        #expect(end.wasOpen && end.wasCancelled)
    }

    @Test func waitUnlessCancelledEndsWithTheCancellation() async {
        let gate = Gate()
        let task = Task { try await gate.waitUnlessCancelled() }
        await gate.waitForWaiters(count: 1)
        task.cancel()
        #expect(gate.waiterCount == 0)
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!gate.isOpen)
    }

    @Test func aCancelledTaskDoesNotPassEvenAnOpenGate() async {
        let gate = Gate()
        let task = Task {
            await gate.wait()
            try await gate.waitUnlessCancelled()
        }
        task.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    /// This test can fail under ThreadSanitizer only.
    @Test func waitersSeeWritesFromBeforeTheOpening() async {
        final class Box: @unchecked Sendable { var value = 0 }  // Safe: written before the gate opens, read after.
        let gate = Gate()
        let box = Box()
        let reader = Task {
            await gate.wait()
            return box.value
        }
        await gate.waitForWaiters(count: 1)
        OtherThread.runAndWait {
            box.value = 7
            gate.open()
        }
        #expect(await reader.value == 7)
    }

    @Test func waitForWaitersCountsThemAll() async {
        let gate = Gate()
        let tasks = (0..<5).map { _ in Task { await gate.wait() } }
        await gate.waitForWaiters(count: 5)
        #expect(gate.waiterCount == 5)
        gate.open()
        for task in tasks { await task.value }
    }

    /// In some schedules the gate opens before the tasks watch it, in others afterwards.
    @Test func openingTheGateResumesItsWatchers() async throws {
        try await exploring(schedules: 50) { scheduler in
            let gate = Gate()
            let watchers = (1...3).map { count in
                Task(executorPreference: scheduler) { await gate.waitForWaiters(count: count) }
            }
            await Task.yield()
            gate.open()
            for watcher in watchers { await watcher.value }
        }
    }
}

@Suite struct GateStateMachineTests {
    private func arrive(_ name: String, at gate: inout GateStateMachine<String>) -> (ticket: Int?, wakes: [String]) {
        switch gate.arrive(name) {
        case .pass: (nil, [])
        case .wait(let ticket, let wakes): (ticket, wakes)
        }
    }

    @Test func letsWaitersGoInOrderOfArrivalAndOnce() throws {
        var gate = GateStateMachine<String>(isOpen: false)
        let names = (0..<20).map { "\($0)" }
        let tickets = names.map { arrive($0, at: &gate).ticket }
        gate.removeWaiter(try #require(tickets[7]))
        #expect(gate.open() == names.filter { $0 != "7" })
        #expect(gate.open() == [])
        gate.removeWaiter(try #require(tickets[8]))
        #expect(arrive("late", at: &gate).ticket == nil)
        #expect(gate.waiterCount == 0)
    }

    @Test("A line is written once, when tasks wait and no watcher tells about them")
    func reportsWaitersOnce() throws {
        var gate = GateStateMachine<String>(isOpen: false)
        #expect(gate.reportWaiters() == nil)
        _ = arrive("a", at: &gate)
        let watcher = gate.watch("two", count: 2)
        #expect(gate.reportWaiters() == nil && !gate.hasReportedWaiters)
        gate.removeWatcher(try #require(watcher))
        #expect(gate.reportWaiters() == 1 && gate.hasReportedWaiters)
        #expect(gate.reportWaiters() == nil)
    }

    @Test func tellsThoseWhoWatchForWaiters() throws {
        var gate = GateStateMachine<String>(isOpen: false)
        let none = gate.watch("none", count: 0)
        #expect(none == nil)
        for (name, count) in [("two", 2), ("one", 1), ("two more", 2), ("nine", 9)] {
            _ = gate.watch(name, count: count)
        }
        #expect(arrive("a", at: &gate).wakes == ["one"])
        let forgotten = gate.watch("forgotten", count: 2)
        gate.removeWatcher(try #require(forgotten))
        #expect(arrive("b", at: &gate).wakes == ["two", "two more"])
        #expect(arrive("c", at: &gate).wakes == [])
        #expect(gate.open() == ["a", "b", "c", "nine"])
        let late = gate.watch("late", count: 10)
        #expect(late == nil)
    }
}
