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

    /// Says something under ThreadSanitizer only.
    @Test func whatWasWrittenBeforeOpeningIsSeenByWhoWaited() async {
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
}

@Suite struct GateMachineTests {
    @Test func letsWaitersGoInOrderOfArrivalAndOnce() {
        var gate = GateMachine<String>(isOpen: false)
        #expect(gate.arrive("a") == .wait(wake: []))
        #expect(gate.arrive("b") == .wait(wake: []))
        #expect(gate.arrive("c") == .wait(wake: []))
        gate.remove("b")
        #expect(gate.open() == ["a", "c"])
        #expect(gate.open() == [])
        #expect(gate.arrive("d") == .pass)
        #expect(gate.waiterCount == 0)
    }

    @Test func tellsThoseWhoWaitForWaiters() {
        var gate = GateMachine<String>(isOpen: false)
        let booked = [gate.watch("two", count: 2), gate.watch("one", count: 1), gate.watch("none", count: 0)]
        #expect(booked == [true, true, false])
        #expect(gate.arrive("a") == .wait(wake: ["one"]))
        let again = gate.watch("forgotten", count: 2)
        #expect(again)
        gate.remove("forgotten")
        #expect(gate.arrive("b") == .wait(wake: ["two"]))
        #expect(gate.arrive("c") == .wait(wake: []))
    }
}

@Suite struct CountWatchersTests {
    @Test func takesThoseWhoAreContentOnce() {
        var watchers = CountWatchers<Int>()
        for target in [5, 1, 3, 2] { watchers.add(target, target: target) }
        #expect(watchers.take(at: 0) == [])
        #expect(watchers.take(at: 3) == [1, 3, 2])
        #expect(watchers.take(at: 4) == [])
        watchers.remove(5)
        #expect(watchers.take(at: 9) == [])
    }
}
