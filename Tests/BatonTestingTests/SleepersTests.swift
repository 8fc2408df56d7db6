import Testing

@testable import BatonTesting

@Suite struct SleepersTests {
    private func instant(_ seconds: Int) -> TestClock.Instant { .init(sinceStart: .seconds(seconds)) }

    @Test func wakesInOrderOfDeadlineThenOfArrival() {
        var sleepers = Sleepers<String>()
        for (name, second) in [("c", 3), ("a1", 1), ("b", 2), ("a2", 1), ("d", 4), ("a3", 1)] {
            let asleep = sleepers.add(name, until: instant(second))
            #expect(asleep)
        }
        #expect(sleepers.count == 6)
        #expect(sleepers.nextDeadline == instant(1))
        let woken = sleepers.advance(to: instant(3))
        #expect(woken == ["a1", "a2", "a3", "b", "c"])
        #expect(sleepers.nextDeadline == instant(4))
        #expect(sleepers.now == instant(3))
    }

    @Test func aDeadlineThatHasComeNeedsNoSleep() {
        var sleepers = Sleepers<String>()
        _ = sleepers.advance(to: instant(2))
        let now = sleepers.add("now", until: instant(2))
        let past = sleepers.add("past", until: instant(1))
        #expect(!now && !past)
        #expect(sleepers.count == 0)
    }

    @Test func timeNeverGoesBack() {
        var sleepers = Sleepers<String>()
        _ = sleepers.advance(to: instant(5))
        _ = sleepers.advance(to: instant(1))
        #expect(sleepers.now == instant(5))
    }

    @Test func aForgottenSleeperDoesNotWake() {
        var sleepers = Sleepers<String>()
        _ = sleepers.add("a", until: instant(1))
        _ = sleepers.add("b", until: instant(1))
        sleepers.remove("a")
        sleepers.remove("never there")
        let woken = sleepers.advance(to: instant(1))
        #expect(woken == ["b"])
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func anyOrderOfArrivalWakesInOrderOfDeadline(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var sleepers = Sleepers<Int>()
        let deadlines = (0..<50).map { _ in 1 + generator.next(below: 10) }
        for (index, second) in deadlines.enumerated() { _ = sleepers.add(index, until: instant(second)) }
        let expected = deadlines.indices.sorted { (deadlines[$0], $0) < (deadlines[$1], $1) }
        let woken = sleepers.advance(to: instant(10))
        #expect(woken == expected)
    }
}
