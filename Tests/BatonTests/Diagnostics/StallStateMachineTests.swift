import Testing

@testable import Baton

@Suite struct StallStateMachineTests {
    private typealias Machine = StallStateMachine<String>

    private var machine = Machine()
    private var deadlines = TimerHeap<Duration, EngineTimer>()

    private func counters(_ added: Int, _ finished: Int = 0, taken: Int = 0) -> Machine.Counters {
        Machine.Counters(added: added, finished: finished, taken: taken)
    }

    private func calls(_ call: Machine.Call?) -> [String] {
        call.map { call in call.handlers.map { "\($0) \(call.quiet)" } } ?? []
    }

    /// Returns the number of the timer to set, or nil if no timer is to be set.
    private mutating func adjust(isEmpty: Bool = false) -> UInt64? {
        if case .setTimer(let number) = machine.adjust(isEmpty: isEmpty) { number } else { nil }
    }

    private mutating func wasSet(_ number: UInt64) -> Bool {
        let timer = StallTimer(core: AsyncOperationQueue().core, number: number)
        return machine.wasSet(number, deadlines.add(.stall(timer), at: .zero))
    }

    @Test mutating func nothingIsSetForAnEmptyQueueOrWithoutAWatcher() {
        #expect(adjust() == nil)
        _ = machine.add("a", after: .seconds(4), at: .zero)
        #expect(adjust(isEmpty: true) == nil)
        #expect(adjust() == 1)
        #expect(adjust() == nil, "Somebody is about to set it.")
    }

    @Test("The state machine checks four times in each limit, and reports a stall once")
    mutating func itLooksFourTimesAndTellsOnce() {
        _ = machine.add("a", after: .seconds(4), at: .zero)
        _ = adjust()
        #expect(machine.begin(1, at: .seconds(1), counters: counters(1)) == .seconds(2))
        #expect(calls(machine.timerFired(1, at: .seconds(2), counters: counters(1, taken: 1))) == [])
        _ = adjust()
        #expect(machine.begin(2, at: .seconds(2), counters: counters(1, taken: 1)) == .seconds(3))
        #expect(calls(machine.timerFired(2, at: .seconds(6), counters: counters(1, taken: 1))) == ["a 4.0 seconds"])
        _ = adjust()
        #expect(machine.begin(3, at: .seconds(6), counters: counters(1, taken: 1)) == .seconds(7))
        #expect(calls(machine.timerFired(3, at: .seconds(60), counters: counters(1, taken: 1))) == [], "It was told.")
        _ = adjust()
        #expect(machine.begin(4, at: .seconds(60), counters: counters(2, taken: 1)) == .seconds(61))
        #expect(calls(machine.timerFired(4, at: .seconds(64), counters: counters(2, taken: 1))) == ["a 4.0 seconds"])
    }

    /// One operation has come, and another one has gone.
    @Test mutating func asManyAsBeforeAreNotTheSame() {
        _ = machine.add("a", after: .seconds(4), at: .zero)
        _ = adjust()
        _ = machine.begin(1, at: .zero, counters: counters(1))
        #expect(calls(machine.timerFired(1, at: .seconds(5), counters: counters(2, 1))) == [])
    }

    @Test mutating func theAlarmRingsWhenTheFirstLimitIsOver() {
        _ = machine.add("long", after: .seconds(40), at: .zero)
        _ = machine.add("short", after: .seconds(10), at: .zero)
        _ = adjust()
        #expect(machine.begin(1, at: .seconds(100), counters: counters(1)) == .milliseconds(102_500))
        #expect(calls(machine.timerFired(1, at: .milliseconds(107_500), counters: counters(1))) == [])
        _ = adjust()
        #expect(machine.begin(2, at: .milliseconds(107_500), counters: counters(1)) == .seconds(110))
        #expect(calls(machine.timerFired(2, at: .seconds(110), counters: counters(1))) == ["short 10.0 seconds"])
        #expect(calls(machine.timerFired(2, at: .seconds(200), counters: counters(1))) == [], "It has fired.")
    }

    /// The handler that was added last waits for its whole limit.
    @Test mutating func aHandlerThatIsAddedDuringAStallIsCalledLater() {
        _ = machine.add("a", after: .seconds(4), at: .zero)
        _ = adjust()
        _ = machine.begin(1, at: .zero, counters: counters(1))
        #expect(calls(machine.timerFired(1, at: .seconds(4), counters: counters(1))) == ["a 4.0 seconds"])
        _ = machine.add("b", after: .seconds(4), at: .seconds(7))
        _ = adjust()
        #expect(machine.begin(2, at: .seconds(7), counters: counters(1)) == .seconds(8))
        #expect(calls(machine.timerFired(2, at: .seconds(10), counters: counters(1))) == [])
        _ = adjust()
        _ = machine.begin(3, at: .seconds(10), counters: counters(1))
        #expect(calls(machine.timerFired(3, at: .seconds(11), counters: counters(1))) == ["b 11.0 seconds"])
    }

    @Test mutating func anEmptyQueueIsNoStall() {
        _ = machine.add("a", after: .seconds(4), at: .zero)
        _ = adjust()
        _ = machine.begin(1, at: .zero, counters: counters(1, 1))
        #expect(calls(machine.timerFired(1, at: .seconds(9), counters: counters(1, 1))) == [])
    }

    @Test mutating func aTooShortLimitIsAMillisecond() {
        _ = machine.add("a", after: .seconds(-1), at: .zero)
        _ = adjust()
        #expect(machine.begin(1, at: .zero, counters: counters(1)) == .milliseconds(1))
        #expect(calls(machine.timerFired(1, at: .milliseconds(1), counters: counters(1))) == ["a 0.001 seconds"])
    }

    // MARK: Races

    @Test mutating func anAlarmThatIsNotWantedAnyMoreIsTakenOut() {
        _ = machine.add("a", after: .seconds(4), at: .zero)
        _ = adjust()
        // The queue became empty before the timer was set.
        #expect(adjust(isEmpty: true) == nil)
        #expect(machine.begin(1, at: .zero, counters: counters(1, 1)) == nil)
        #expect(adjust() == 2)
        _ = machine.begin(2, at: .zero, counters: counters(2, 1))
        #expect(!wasSet(1))
        #expect(wasSet(2))
        guard case .removeTimer = machine.adjust(isEmpty: true) else {
            Issue.record("The timer stays.")
            return
        }
        #expect(calls(machine.timerFired(2, at: .seconds(9), counters: counters(3, 1))) == [], "It was on its way.")
    }

    @Test mutating func anAlarmMayRingBeforeItsTicketIsKnown() {
        _ = machine.add("a", after: .seconds(4), at: .zero)
        _ = adjust()
        _ = machine.begin(1, at: .zero, counters: counters(1))
        #expect(calls(machine.timerFired(1, at: .seconds(4), counters: counters(1))) == ["a 4.0 seconds"])
        #expect(!wasSet(1))
        #expect(adjust() == 2)
    }

    @Test mutating func theLastWatcherTakesTheAlarmAlong() {
        let (first, _) = machine.add("a", after: .seconds(4), at: .zero)
        let (second, _) = machine.add("b", after: .seconds(4), at: .zero)
        _ = adjust()
        _ = machine.begin(1, at: .zero, counters: counters(1))
        _ = wasSet(1)
        guard case ("a", .none) = machine.remove(first), case (nil, .none) = machine.remove(first),
            case ("b", .removeTimer) = machine.remove(second)
        else {
            Issue.record("The timer goes with the last one.")
            return
        }
        #expect(!machine.isWatched)
        #expect(adjust() == nil)
    }
}
