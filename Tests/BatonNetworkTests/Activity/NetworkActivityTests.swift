import Baton
import BatonNetwork
import BatonTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct NetworkActivityTests {
    let clock = TestClock()
    let reported = EventLog<Bool>()
    let activity: NetworkActivity

    init() { activity = NetworkActivity(clock: clock) { [reported] in reported($0) } }

    /// Returns when `activity` has been told that `count` operations run.
    private func waitUntilRunning(count: Int) async {
        while activity.runningCount != count { await Task.yield() }
    }

    @Test func AOperationPages_9_activityIsShownFromTheFirstToTheLastOperation() async throws {
        let queue = AsyncOperationQueue()
        queue.addObserver(activity)
        let gates = [Gate(), Gate()]
        let operations = gates.map { gate in AsyncOperation { await gate.wait() } }
        queue.add(operations)
        await waitUntilRunning(count: 2)
        await reported.waitForCount(1)
        gates[0].open()
        await waitUntilRunning(count: 1)
        gates[1].open()
        await waitUntilRunning(count: 0)
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(999))
        #expect(reported.events == [true])
        clock.advance(by: .milliseconds(1))
        await reported.waitForCount(2)
        #expect(reported.events == [true, false])
    }

    @Test func AOperationPages_9_theIndicatorStaysVisibleDuringAShortGap() async {
        let queue = AsyncOperationQueue()
        queue.addObserver(activity)
        for _ in 0..<10 {
            let gate = Gate()
            queue.add { await gate.wait() }
            await waitUntilRunning(count: 1)
            gate.open()
            await waitUntilRunning(count: 0)
            await clock.waitForSleepers(count: 1)
            clock.advance(by: .milliseconds(900))
        }
        let gate = Gate()
        queue.add { await gate.wait() }
        await waitUntilRunning(count: 1)
        // The task that hides the indicator wakes up and finds that an operation runs.
        clock.advance(by: .seconds(10))
        gate.open()
        await waitUntilRunning(count: 0)
        await clock.waitForSleepers(count: 1)
        #expect(reported.events == [true])
        clock.advance(by: .seconds(1))
        await reported.waitForCount(2)
        #expect(reported.events == [true, false])
    }

    @Test func singleOperationsAreObservedToo() async throws {
        let queue = AsyncOperationQueue()
        let gate = Gate()
        let operation = AsyncOperation { await gate.wait() }.addObserver(activity)
        queue.addObserver(activity)
        queue.add(operation)
        await waitUntilRunning(count: 1)
        await reported.waitForCount(1)
        gate.open()
        await waitUntilRunning(count: 0)
        #expect(reported.events == [true])
        await advanceUntilHidden()
    }

    @Test func waitingOperationsDoNotCount() async throws {
        let queue = AsyncOperationQueue(isSuspended: true, clock: clock)
        let observation = queue.addObserver(activity)
        let waiting = AsyncOperation { 1 }
        queue.add(waiting)
        waiting.cancel()
        await observation.delivered()
        #expect(activity.runningCount == 0)
        #expect(reported.events.isEmpty)
        // An operation that waits for its next attempt does not count either.
        let attempts = EventLog<Int>()
        let retried = AsyncOperation { context in
            attempts(context.attempt)
            if context.attempt == 1 { throw CancellationError() }
        }.retry(.constant(.seconds(60)), attempts: 2)
        queue.isSuspended = false
        queue.add(retried)
        await attempts.waitForCount(1)
        await reported.waitForCount(1)
        await waitUntilRunning(count: 0)
        #expect(!retried.hasResult)
        retried.cancel()
        await advanceUntilHidden()
    }

    @Test func repeatedOperationsDoNotCountBetweenRuns() async throws {
        let queue = AsyncOperationQueue(clock: clock)
        queue.addObserver(activity)
        let repeated = AsyncOperation {}.repeat(every: .seconds(60))
        queue.add(repeated)
        await reported.waitForCount(1)
        await waitUntilRunning(count: 0)
        #expect(!repeated.hasResult)
        repeated.cancel()
        await advanceUntilHidden()
    }

    /// Returns when the indicator is hidden. Advances the clock, because the task that hides it sleeps on that clock.
    private func advanceUntilHidden() async {
        clock.advance(by: .seconds(1))
        await reported.waitForCount(2)
    }

    @Test("The handler runs in the isolation domain that it declares")
    func theHandlerRunsInItsDeclaredIsolation() async throws {
        let shown = EventLog<Bool>()
        let activity = NetworkActivity(hideDelay: .seconds(-1), clock: clock) { @MainActor isActive in
            MainActor.assertIsolated()
            shown(isActive)
        }
        let queue = AsyncOperationQueue()
        queue.addObserver(activity)
        try await queue.run(AsyncOperation {})
        await shown.waitForCount(2)
        #expect(shown.events == [true, false])
    }

    @Test("The activity is released when it shows nothing")
    func itIsReleasedWhenNothingIsShown() async throws {
        weak var held: NetworkActivity?
        let log = EventLog<Bool>()
        do {
            let queue = AsyncOperationQueue()
            let activity = NetworkActivity(hideDelay: .zero, clock: clock) { log($0) }
            held = activity
            let observation = queue.addObserver(activity)
            try await queue.run(AsyncOperation {})
            await log.waitForCount(2)
            await observation.delivered()
            observation.cancel()
        }
        while held != nil { await Task.yield() }
    }
}

extension AsyncOperation {
    fileprivate var hasResult: Bool { result != nil }
}
