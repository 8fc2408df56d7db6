import Testing

@testable import BatonNetwork

@Suite struct ActivityStateMachineTests {
    private func steps(_ machine: inout ActivityStateMachine, at now: Duration) -> [ActivityStateMachine.Step] {
        var steps: [ActivityStateMachine.Step] = []
        repeat { steps.append(machine.next(at: now)) } while !steps.last!.isLast
        return steps
    }

    @Test func theFirstIsShownAndTheLastAfterTheDelay() {
        var machine = ActivityStateMachine(delay: .seconds(1))
        #expect(machine.started(1) == true)
        #expect(steps(&machine, at: .zero) == [.show(true), .end])
        #expect(machine.started(2) == false)
        #expect(machine.count == 2)
        #expect(machine.ended(1, at: .seconds(2)) == false)
        #expect(machine.ended(2, at: .seconds(3)) == true)
        #expect(steps(&machine, at: .seconds(3)) == [.sleep(until: .seconds(4))])
        #expect(steps(&machine, at: .seconds(4)) == [.show(false), .end])
    }

    @Test func aShortGapIsNotShown() {
        var machine = ActivityStateMachine(delay: .seconds(1))
        _ = machine.started(1)
        _ = steps(&machine, at: .zero)
        _ = machine.ended(1, at: .seconds(1))
        _ = steps(&machine, at: .seconds(1))
        // The task sleeps until 2.
        #expect(machine.started(2) == false)
        #expect(machine.ended(2, at: .seconds(1.75)) == false)
        #expect(steps(&machine, at: .seconds(2)) == [.sleep(until: .seconds(2.75))])
        #expect(machine.started(3) == false)
        #expect(steps(&machine, at: .seconds(2.75)) == [.end])
        #expect(machine.ended(3, at: .seconds(9)) == true)
    }

    @Test("Activity that ends before its start was shown is still shown")
    func oneThatHasEndedBeforeAnybodyWasToldIsShownAllTheSame() {
        var machine = ActivityStateMachine(delay: .seconds(1))
        #expect(machine.started(1) == true)
        #expect(machine.ended(1, at: .zero) == false)
        #expect(steps(&machine, at: .zero) == [.show(true), .sleep(until: .seconds(1))])
    }

    @Test func withoutADelayItIsShownAtOnce() {
        var machine = ActivityStateMachine(delay: .zero)
        _ = machine.started(1)
        #expect(steps(&machine, at: .zero) == [.show(true), .end])
        #expect(machine.ended(1, at: .seconds(1)) == true)
        #expect(steps(&machine, at: .seconds(1)) == [.show(false), .end])
    }

    @Test func aDelayWithoutEndIsNeverOver() {
        var machine = ActivityStateMachine(delay: Duration(attoseconds: .max))
        _ = machine.started(1)
        _ = steps(&machine, at: .zero)
        #expect(machine.ended(1, at: .seconds(1)) == true)
        #expect(steps(&machine, at: .seconds(1)) == [.sleep(until: .seconds(1) + .longest)])
        #expect(machine.started(2) == false)
        #expect(steps(&machine, at: .seconds(2)) == [.end])
    }

    @Test func anUnknownEndIsIgnored() {
        var machine = ActivityStateMachine(delay: .zero)
        #expect(machine.ended(1, at: .zero) == false)
        _ = machine.started(1)
        #expect(machine.ended(2, at: .zero) == false)
        #expect(machine.count == 1)
        #expect(machine.started(1) == false)
        #expect(machine.count == 1)
    }
}

extension ActivityStateMachine.Step {
    fileprivate var isLast: Bool {
        switch self {
        case .show: false
        case .sleep, .end: true
        }
    }
}
