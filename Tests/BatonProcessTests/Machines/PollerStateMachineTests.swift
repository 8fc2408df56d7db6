import Testing

@testable import BatonProcess

@Suite struct PollerStateMachineTests {
    private typealias Machine = PollerStateMachine<String>

    @Test func aWatchIsPartOfTheNextRound() {
        var machine = Machine()
        let (ticket, mustWake) = machine.add("a", for: .writing, on: 7)
        #expect(!mustWake)
        #expect(machine.nextRound() == [Machine.Watch(ticket: ticket, descriptor: 7, interest: .writing)])
        #expect(machine.endRound(ready: [ticket]) == ["a"])
        #expect(machine.count == 0)
    }

    @Test func additionsDuringARoundWakeTheThreadOnce() {
        var machine = Machine()
        _ = machine.nextRound()
        let wakes = [machine.add("a", for: .reading, on: 7).mustWake, machine.add("b", for: .reading, on: 8).mustWake]
        #expect(wakes == [true, false])
        #expect(machine.endRound(ready: []) == [])
        let wakesAgain = machine.add("c", for: .reading, on: 9).mustWake
        #expect(!wakesAgain)
        #expect(machine.nextRound()?.count == 3)
    }

    @Test func onlyThoseThatAreReadyAreTakenOut() {
        var machine = Machine()
        let first = machine.add("a", for: .reading, on: 7).ticket
        let second = machine.add("b", for: .reading, on: 7).ticket
        _ = machine.nextRound()
        #expect(machine.endRound(ready: [second]) == ["b"])
        #expect(machine.nextRound()?.map(\.ticket) == [first])
    }

    @Test("A caller that is removed during a round is not notified")
    func oneThatIsRemovedInARoundIsNotTold() {
        var machine = Machine()
        let ticket = machine.add("a", for: .reading, on: 7).ticket
        _ = machine.nextRound()
        let mustWake = machine.remove(ticket)
        #expect(mustWake)
        // The descriptor may belong to another file by now.
        let other = machine.add("b", for: .reading, on: 7).ticket
        #expect(machine.endRound(ready: [ticket]) == [])
        #expect(machine.nextRound()?.map(\.ticket) == [other])
    }

    @Test("The removal of a watch wakes the thread once, if it polls the descriptor")
    func removalsWakeTheThread() {
        var machine = Machine()
        let early = machine.add("a", for: .reading, on: 7).ticket
        let wakesBeforeTheRound = machine.remove(early)
        let first = machine.add("b", for: .reading, on: 8).ticket
        let second = machine.add("c", for: .reading, on: 9).ticket
        let ended = machine.add("d", for: .reading, on: 10).ticket
        _ = machine.nextRound()
        let wakes = [machine.remove(early), machine.remove(first), machine.remove(first), machine.remove(second)]
        #expect(!wakesBeforeTheRound)
        #expect(wakes == [false, true, false, false])
        #expect(machine.endRound(ready: [ended]) == ["d"])
        _ = machine.nextRound()
        let wakesAfterTheEnd = machine.remove(ended)
        #expect(!wakesAfterTheEnd)
    }

    @Test func closedItEndsTheThread() {
        var machine = Machine()
        _ = machine.nextRound()
        let mustWake = machine.close()
        #expect(mustWake)
        _ = machine.endRound(ready: [])
        #expect(machine.nextRound() == nil)
    }
}
