import Testing

@testable import BatonProcess

@Suite struct ProgramLifeTests {
    private func isCancelled(_ life: ProgramLife) -> Bool {
        if case .cancelled? = life.reason { true } else { false }
    }

    private func isFailed(_ life: ProgramLife) -> Bool {
        if case .failed? = life.reason { true } else { false }
    }

    @Test func oneThatEndsByItselfIsReapedAndItsGroupLeftAlone() {
        var life = ProgramLife()
        #expect(life.exited() == .reap(killingTheRest: false))
        #expect(life.reason == nil)
    }

    @Test func oneThatIsEndedIsReapedWithTheRestOfItsGroup() {
        var life = ProgramLife()
        #expect(life.end(.cancelled) == .signal)
        #expect(life.signalSent() == .none)
        #expect(life.exited() == .reap(killingTheRest: true))
        #expect(isCancelled(life))
    }

    @Test func itIsNotReapedWhileASignalIsOnItsWay() {
        var life = ProgramLife()
        #expect(life.end(.cancelled) == .signal)
        #expect(life.graceIsOver() == .signal)
        #expect(life.exited() == .none)
        #expect(life.signalSent() == .none)
        #expect(life.signalSent() == .reap(killingTheRest: true))
    }

    @Test func nothingIsSentAfterItsExit() {
        var life = ProgramLife()
        #expect(life.end(.cancelled) == .signal)
        #expect(life.signalSent() == .none)
        #expect(life.exited() == .reap(killingTheRest: true))
        #expect(life.graceIsOver() == .none)
        #expect(life.end(.failed(Oops())) == .none)
    }

    @Test func theFirstReasonStays() {
        var life = ProgramLife()
        #expect(life.end(.failed(Oops())) == .signal)
        #expect(life.end(.cancelled) == .none)
        #expect(isFailed(life))
    }

    @Test func aCancelAfterItsExitIsNoReasonButAFailureIs() {
        var life = ProgramLife()
        _ = life.exited()
        #expect(life.end(.cancelled) == .none)
        #expect(life.reason == nil)
        #expect(life.end(.failed(Oops())) == .none)
        #expect(isFailed(life))
    }
}
