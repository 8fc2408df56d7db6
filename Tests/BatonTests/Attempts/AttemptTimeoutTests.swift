import Testing

@testable import Baton

/// Tests of the time limit of the attempt that a worker runs, as a value.
@Suite struct AttemptTimeoutTests {
    private let operation = AsyncOperation<Void> {}

    private func attempt(run: Int32, until end: Duration) -> AttemptTimeout.Attempt {
        AttemptTimeout.Attempt(
            operation: Unretained(operation), run: run, end: end, limit: .seconds(1), isLast: false)
    }

    @Test("A timer that an earlier one has replaced before its ticket is known is removed")
    func replacedTimer() throws {
        var timeout = AttemptTimeout()
        var timers = TimerHeap<Duration, EngineTimer>()
        let entry = EngineTimer.waitingLimit(Unretained(operation))
        let needsFirst = timeout.begin(attempt(run: 1, until: .seconds(10)))
        let late = timers.add(entry, at: .seconds(10))
        timeout.end()
        let needsSecond = timeout.begin(attempt(run: 2, until: .seconds(5)))
        #expect(needsFirst && needsSecond)
        let early = timers.add(entry, at: .seconds(5))
        let replaced = timeout.timerWasSet(for: .seconds(5), early)
        #expect(replaced == nil)
        let unneeded = timeout.timerWasSet(for: .seconds(10), late)
        timers.remove(try #require(unneeded))
        #expect(timers.times == [.seconds(5)])
    }

    @Test("A timer that a later ticket replaces is removed")
    func formerTimer() throws {
        var timeout = AttemptTimeout()
        var timers = TimerHeap<Duration, EngineTimer>()
        let entry = EngineTimer.waitingLimit(Unretained(operation))
        let needsFirst = timeout.begin(attempt(run: 1, until: .seconds(10)))
        let replaced = timeout.timerWasSet(for: .seconds(10), timers.add(entry, at: .seconds(10)))
        timeout.end()
        let needsSecond = timeout.begin(attempt(run: 2, until: .seconds(5)))
        #expect(needsFirst && needsSecond && replaced == nil)
        let unneeded = timeout.timerWasSet(for: .seconds(5), timers.add(entry, at: .seconds(5)))
        timers.remove(try #require(unneeded))
        #expect(timers.times == [.seconds(5)])
        timeout.end()
        let needsThird = timeout.begin(attempt(run: 3, until: .seconds(20)))
        #expect(!needsThird)
    }
}
