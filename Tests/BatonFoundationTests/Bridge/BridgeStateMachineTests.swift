import Testing

@testable import BatonFoundation

@Suite struct BridgeStateMachineTests {
    @Test("A bridge goes through its phases once")
    func itGoesThroughItsPhasesOnce() {
        var machine = BridgeStateMachine()
        #expect(!machine.isExecuting && !machine.isFinished)
        #expect(machine.claimStart() == true)
        #expect(!machine.isExecuting)
        machine.execute()
        #expect(machine.isExecuting && !machine.isFinished)
        #expect(machine.claimFinish() == true)
        #expect(machine.isExecuting && !machine.isFinished)
        machine.finish()
        #expect(!machine.isExecuting && machine.isFinished)
    }

    @Test("A bridge is started once and finished once")
    func itIsStartedOnceAndFinishedOnce() {
        var machine = BridgeStateMachine()
        #expect(machine.claimFinish() == false)
        #expect(machine.claimStart() == true)
        #expect(machine.claimStart() == false)
        #expect(machine.claimFinish() == false)
        machine.execute()
        #expect(machine.claimStart() == false)
        #expect(machine.claimFinish() == true)
        #expect(machine.claimFinish() == false)
        machine.finish()
        #expect(machine.claimStart() == false)
        #expect(machine.claimFinish() == false)
    }
}
