import Testing

@testable import Baton

@Suite struct TimingTests {
    /// Its thread was held up between adding the alarm and saying so; the alarm rang, the next run paused, too.
    @Test func aPauseThatIsOverIsNotTakenForTheNext() {
        let operation = AsyncOperation {}
        var deadlines = Deadlines<Duration, Alarm>()
        let timing = Timing()
        let first = deadlines.add(.pauseEnd(.passUnretained(operation)), at: .seconds(1))
        #expect(!timing.pauses(until: .seconds(1), first))
        timing.isPaused = true
        let second = deadlines.add(.pauseEnd(.passUnretained(operation)), at: .seconds(2))
        #expect(timing.pauses(until: .seconds(2), second))
        #expect(!timing.pauses(until: .seconds(1), first))
        #expect(timing.rare?.pauseEnd == .seconds(2))
        #expect(timing.rare?.pauseTicket.flatMap { deadlines.remove($0) } != nil)
        #expect(deadlines.next == .seconds(1))
    }
}
