import Testing

@testable import BatonTrace

@Suite struct LiveRateTests {
    @Test func unknownUntilSomethingEnds() {
        var rate = LiveRate()
        #expect(rate.perSecond == nil)
        rate.begin(at: .seconds(1))
        rate.tick(ended: 0, isBusy: true, at: .seconds(3))
        #expect(rate.perSecond == nil)
        #expect(rate.time(for: 5) == nil)
    }

    @Test func evenPaceIsItsRateFromTheFirstTickOn() {
        var rate = LiveRate()
        rate.begin(at: .seconds(10))
        for tick in 1...100 {
            rate.tick(ended: tick * 4, isBusy: true, at: .seconds(10) + .milliseconds(500) * tick)
            #expect(abs((rate.perSecond ?? 0) - 8) < 1e-9)
        }
        #expect(rate.time(for: 16).map { abs($0 / .seconds(1) - 2) < 1e-6 } == true)
    }

    @Test func changeOfPaceIsFollowedWithinTheWindow() {
        var rate = LiveRate()
        rate.begin(at: .zero)
        for second in 1...20 { rate.tick(ended: second * 10, isBusy: true, at: .seconds(second)) }
        for second in 1...5 { rate.tick(ended: 200 + second * 2, isBusy: true, at: .seconds(20 + second)) }
        // After one window, 1/e of the former rate remains in the average.
        let expected = 2 + 8 * 0.37
        #expect(abs((rate.perSecond ?? 0) - expected) < 0.3)
    }

    @Test func slowOperationsAreSmoothedOverTen() {
        var rate = LiveRate()
        rate.begin(at: .zero)
        // One operation ends each minute, and the rate is updated each second.
        for second in 1...1200 { rate.tick(ended: second / 60, isBusy: true, at: .seconds(second)) }
        for second in 1201...1259 {
            rate.tick(ended: 20, isBusy: true, at: .seconds(second))
            #expect(abs((rate.perSecond ?? 0) * 60 - 1) < 0.15)
        }
    }

    @Test func timeInWhichNothingRunsDoesNotCount() {
        var rate = LiveRate()
        rate.begin(at: .zero)
        rate.tick(ended: 4, isBusy: true, at: .seconds(2))
        rate.tick(ended: 4, isBusy: false, at: .seconds(1000))
        #expect(rate.perSecond == 2)
    }

    @Test func clockThatStandsOrGoesBackChangesNothing() {
        var rate = LiveRate()
        rate.tick(ended: 1, isBusy: true, at: .seconds(1))
        #expect(rate.perSecond == nil)
        rate.begin(at: .seconds(1))
        rate.tick(ended: 3, isBusy: true, at: .seconds(1))
        rate.tick(ended: 3, isBusy: true, at: .zero)
        #expect(rate.perSecond == nil)
        rate.tick(ended: 3, isBusy: true, at: .seconds(2))
        #expect(rate.perSecond == 3)
    }
}
