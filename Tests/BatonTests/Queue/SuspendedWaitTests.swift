import BatonTesting
import Testing

@testable import Baton

/// A wait for the idleness of a queue that nobody resumes is reported.
@Suite(.timeLimit(.minutes(10))) struct SuspendedWaitTests {
    private let clock = TestClock()
    private let misuses = EventLog<Misuse>()

    private func queue(name: String? = "q") -> AsyncOperationQueue {
        AsyncOperationQueue(name: name, isSuspended: true, clock: clock, onMisuse: { [misuses] in misuses($0) })
    }

    @Test("waitUntilIdle and drain of a suspended queue with operations are reported once", arguments: [false, true])
    func reportedOnce(drains: Bool) async {
        let queue = queue()
        queue.add("operation") {}
        let wait = Task { if drains { await queue.drain() } else { await queue.waitUntilIdle() } }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        let text = "\(await misuses.waitForCount(1)[0])"
        let call = drains ? "drain" : "waitUntilIdle"
        #expect(
            text == "queue ‘q’: \(call) waits for operations of the queue, which is suspended, so it does not return "
                + "unless somebody resumes the queue. Set `isSuspended` to false before")
        #expect(clock.sleeperCount == 0, "It is reported once.")
        queue.isSuspended = false
        await wait.value
        #expect(misuses.count == 1)
    }

    @Test("A wait that ends in time leaves no timer, and is not reported")
    func waitThatEnds() async {
        let queue = queue()
        queue.add("operation") {}
        let wait = Task { await queue.waitUntilIdle() }
        await clock.waitForSleepers(count: 1)
        queue.isSuspended = false
        await wait.value
        // The task of the timer is cancelled, and removes its sleeper.
        while clock.sleeperCount > 0 { await Task.yield() }
        clock.advance(by: .seconds(10))
        #expect(misuses.events.isEmpty)
    }

    @Test("A wait sets no timer if the queue has no operations, or is not suspended")
    func otherWaits() async {
        let queue = queue()
        await queue.waitUntilIdle()
        queue.isSuspended = false
        let gate = Gate()
        queue.add("operation") { await gate.wait() }
        let wait = Task { await queue.waitUntilIdle() }
        await gate.waitForWaiters(count: 1)
        #expect(clock.sleeperCount == 0)
        gate.open()
        await wait.value
        #expect(clock.sleeperCount == 0)
    }

    @Test("A wait is not reported if what is left in the queue runs, or if the queue was resumed")
    func operationsThatRun() async {
        let queue = queue()
        let gate = Gate()
        queue.isSuspended = false
        queue.add("running") { await gate.wait() }
        await gate.waitForWaiters(count: 1)
        queue.isSuspended = true
        let wait = Task { await queue.waitUntilIdle() }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        gate.open()
        await wait.value
        #expect(misuses.events.isEmpty)
    }
}
