import BatonTesting
import Testing

@testable import Baton

/// The state machine of a rate, as a value.
@Suite struct RateStateMachineTests {
    private typealias Machine = RateStateMachine<String>

    private func machine(_ count: Int, per period: Duration, burst: Int = 1) -> Machine {
        Machine(RateLimits(count: count, period: period, burst: burst), at: .zero)
    }

    @Test("Starts without a burst are an interval apart")
    func evenStarts() {
        var machine = machine(4, per: .seconds(2))
        #expect(machine.admits(1, hasTurn: false, at: .zero))
        machine.start(hasTurn: false, at: .zero)
        #expect(!machine.admits(2, hasTurn: false, at: .milliseconds(499)))
        #expect(machine.admits(2, hasTurn: false, at: .milliseconds(500)))
    }

    @Test("A burst is available at once, and again after the rate has not been used for the length of the burst")
    func bursts() {
        var machine = machine(10, per: .seconds(10), burst: 3)
        for now in [0, 0, 0, 1, 2, 5, 5, 5, 6] {
            #expect(machine.admits(1, hasTurn: false, at: .seconds(now)))
            machine.start(hasTurn: false, at: .seconds(now))
        }
        #expect(!machine.admits(1, hasTurn: false, at: .seconds(6)))
        #expect(machine.admits(1, hasTurn: false, at: .seconds(100)))
    }

    @Test("The starts in any period never exceed the count plus the burst minus one")
    func mostStarts() {
        for burst in 1...5 {
            var machine = machine(5, per: .seconds(10), burst: burst)
            var starts: [Duration] = []
            for tenth in 0..<600 {
                let now = Duration.milliseconds(100 * tenth)
                while machine.admits(1, hasTurn: false, at: now) {
                    machine.start(hasTurn: false, at: now)
                    starts.append(now)
                }
            }
            let most = starts.indices.map { first in starts[first...].count { $0 < starts[first] + .seconds(10) } }
                .max()
            #expect(most == 5 + burst - 1)
            #expect(starts.count == 60 / 2 + burst - 1)
        }
    }

    @Test("Waiting operations have their turns in the order of their numbers, whenever they return")
    func order() {
        var machine = machine(1, per: .seconds(1))
        machine.start(hasTurn: false, at: .zero)
        _ = machine.wait("second", arrival: 2)
        _ = machine.wait("third", arrival: 3)
        _ = machine.wait("first", arrival: 1)
        #expect(machine.first == "first")
        #expect(machine.turnTime == .seconds(1))
        #expect(machine.takeTurn(at: .milliseconds(999)) == nil)
        #expect(machine.takeTurn(at: .seconds(1)) == "first")
        #expect(machine.takeTurn(at: .seconds(1)) == nil)
        #expect(machine.turnTime == .seconds(2))
        #expect(machine.arrivals.sorted() == [2, 3])
    }

    @Test("An operation that comes later does not start while others wait")
    func nobodyOvertakes() {
        var machine = machine(1, per: .seconds(1))
        machine.start(hasTurn: false, at: .zero)
        _ = machine.wait("first", arrival: 1)
        #expect(!machine.admits(2, hasTurn: false, at: .seconds(5)))
        #expect(machine.admits(0, hasTurn: false, at: .seconds(5)))
    }

    @Test("A turn is kept for its operation for an interval, and then others may start in its place")
    func turnsPass() {
        var machine = machine(1, per: .seconds(1))
        machine.start(hasTurn: false, at: .zero)
        _ = machine.wait("first", arrival: 1)
        #expect(machine.takeTurn(at: .seconds(1)) == "first")
        #expect(!machine.admits(2, hasTurn: false, at: .milliseconds(1999)))
        #expect(machine.admits(1, hasTurn: true, at: .milliseconds(1999)))
        #expect(machine.admits(2, hasTurn: false, at: .seconds(2)))
        machine.start(hasTurn: false, at: .seconds(2))
        #expect(!machine.admits(1, hasTurn: true, at: .milliseconds(2999)))
        #expect(machine.admits(1, hasTurn: true, at: .seconds(3)))
    }

    @Test("At most one burst of turns that are used late starts at once")
    func lateTurns() {
        var machine = machine(10, per: .seconds(10), burst: 2)
        for arrival in 1...4 as ClosedRange<UInt64> { _ = machine.wait("\(arrival)", arrival: arrival) }
        for now in 0...9 { _ = machine.takeTurn(at: .seconds(now)) }
        var started: [UInt64] = []
        for arrival in 1...4 as ClosedRange<UInt64> where machine.admits(arrival, hasTurn: true, at: .seconds(20)) {
            machine.start(hasTurn: true, at: .seconds(20))
            started.append(arrival)
        }
        #expect(started == [1, 2])
    }

    @Test("A turn that is given back belongs to the next operation at once")
    func turnsAreGivenBack() {
        var machine = machine(1, per: .seconds(1))
        machine.start(hasTurn: false, at: .zero)
        _ = machine.wait("first", arrival: 1)
        _ = machine.wait("second", arrival: 2)
        #expect(machine.takeTurn(at: .seconds(1)) == "first")
        machine.returnTurn()
        #expect(machine.takeTurn(at: .seconds(1)) == "second")
    }

    @Test("A start that did not happen is no longer counted")
    func startsAreTakenBack() {
        var machine = machine(1, per: .seconds(1))
        machine.start(hasTurn: false, at: .seconds(4))
        #expect(!machine.isUnused(at: .seconds(4)))
        machine.undoStart()
        #expect(machine.isUnused(at: .seconds(4)))
        #expect(machine.admits(2, hasTurn: false, at: .seconds(4)))
    }

    @Test("When an operation stops waiting, the operations behind it move up")
    func leaving() {
        var machine = machine(1, per: .seconds(1))
        machine.start(hasTurn: false, at: .zero)
        let ticket = machine.wait("first", arrival: 1)
        _ = machine.wait("second", arrival: 2)
        #expect(machine.removeWaiter(ticket) == true)
        #expect(machine.removeWaiter(ticket) == false)
        #expect(machine.takeTurn(at: .seconds(1)) == "second")
    }

    @Test("After the clock has gone back, no operation waits longer than a whole burst")
    func clocksGoBack() {
        var machine = machine(10, per: .seconds(10), burst: 2)
        machine.start(hasTurn: false, at: .seconds(1000))
        machine.correct(at: .seconds(5))
        #expect(!machine.admits(1, hasTurn: false, at: .seconds(5)))
        #expect(machine.admits(1, hasTurn: false, at: .seconds(6)))
    }

    @Test("The slower of two numbers counts")
    func conflicts() {
        let fast = RateLimits(count: 2, period: .seconds(1), burst: 2)
        let slow = RateLimits(count: 1, period: .seconds(1), burst: 1)
        var machine = Machine(fast, at: .zero)
        #expect(machine.noteLimits(fast) == false)
        #expect(machine.noteLimits(slow) == true)
        #expect(machine.limits == slow)
        #expect(machine.noteLimits(fast) == true)
        #expect(machine.limits == slow)
        let bursting = RateLimits(count: 2, period: .seconds(2), burst: 2)
        #expect(RateLimits.slower(bursting, slow) == slow)
        #expect(RateLimits.slower(slow, bursting) == slow)
    }

    @Test(
        "Enormous and tiny numbers do not overflow",
        arguments: [
            (Int.max, Duration(attoseconds: .max), Int.max), (1, Duration(attoseconds: .max), 1),
            (Int.max, Duration(attoseconds: 1), Int.max), (Int.max, .seconds(Int64.max), 1), (0, .zero, 0),
        ])
    func extremes(_ count: Int, _ period: Duration, _ burst: Int) {
        var machine = machine(count, per: period, burst: burst)
        for arrival in 1...100 as ClosedRange<UInt64> {
            if machine.admits(arrival, hasTurn: false, at: .endless) { machine.start(hasTurn: false, at: .endless) }
            _ = machine.wait("\(arrival)", arrival: arrival)
            machine.correct(at: .endless)
        }
        #expect(machine.limits.interval > .zero)
        #expect(machine.turnTime != nil)
    }

    @Test("A waiting operation is told when its turn comes, and how many come before it")
    func views() {
        let limits = RateLimits(count: 1, period: .seconds(2), burst: 1)
        let view = RateTable.View(
            limits: limits, turnTime: .seconds(10), arrivals: [3, 5, 9], time: TimeSource(TestClock()))
        #expect(view.turn(of: 3).time == .seconds(10) && view.turn(of: 3).behind == 0)
        #expect(view.turn(of: 5).time == .seconds(12) && view.turn(of: 5).behind == 1)
        #expect(view.turn(of: 9).time == .seconds(14) && view.turn(of: 9).behind == 2)
        #expect(view.turn(of: 10).time == .seconds(16) && view.turn(of: 10).behind == 3)
        let endless = RateTable.View(
            limits: RateLimits(count: 1, period: .endless, burst: 1), turnTime: .endless,
            arrivals: Array(0..<veryManyArrivals), time: TimeSource(TestClock()))
        #expect(endless.turn(of: veryManyArrivals).time > .endless)
    }

    private let veryManyArrivals: UInt64 = 1000
}
