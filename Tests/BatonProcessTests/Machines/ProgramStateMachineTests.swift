import Testing

@testable import BatonProcess

@Suite struct ProgramStateMachineTests {
    private func isCancelled(_ machine: ProgramStateMachine) -> Bool {
        if case .cancelled? = machine.reason { true } else { false }
    }

    private func isFailed(_ machine: ProgramStateMachine) -> Bool {
        if case .failed? = machine.reason { true } else { false }
    }

    @Test("A program that ends by itself is reaped, and its process group left alone")
    func oneThatEndsByItselfIsReapedAndItsGroupLeftAlone() {
        var machine = ProgramStateMachine()
        #expect(machine.exited() == .reap(killingTheRest: false))
        #expect(machine.reason == nil)
    }

    @Test("A program that is ended is reaped with the rest of its process group")
    func oneThatIsEndedIsReapedWithTheRestOfItsGroup() {
        var machine = ProgramStateMachine()
        #expect(machine.end(.cancelled) == .signal)
        #expect(machine.signalSent() == .none)
        #expect(machine.exited() == .reap(killingTheRest: true))
        #expect(isCancelled(machine))
    }

    @Test("A program is not reaped while a signal is being sent to it")
    func itIsNotReapedWhileASignalIsOnItsWay() {
        var machine = ProgramStateMachine()
        #expect(machine.end(.cancelled) == .signal)
        #expect(machine.graceIsOver() == .signal)
        #expect(machine.exited() == .none)
        #expect(machine.signalSent() == .none)
        #expect(machine.signalSent() == .reap(killingTheRest: true))
    }

    @Test func nothingIsSentAfterItsExit() {
        var machine = ProgramStateMachine()
        #expect(machine.end(.cancelled) == .signal)
        #expect(machine.signalSent() == .none)
        #expect(machine.exited() == .reap(killingTheRest: true))
        #expect(machine.graceIsOver() == .none)
        #expect(machine.end(.failed(Oops())) == .none)
    }

    @Test func theFirstReasonStays() {
        var machine = ProgramStateMachine()
        #expect(machine.end(.failed(Oops())) == .signal)
        #expect(machine.end(.cancelled) == .none)
        #expect(isFailed(machine))
    }

    @Test func aCancelAfterItsExitIsNoReasonButAFailureIs() {
        var machine = ProgramStateMachine()
        _ = machine.exited()
        #expect(machine.end(.cancelled) == .none)
        #expect(machine.reason == nil)
        #expect(machine.end(.failed(Oops())) == .none)
        #expect(isFailed(machine))
    }
}
