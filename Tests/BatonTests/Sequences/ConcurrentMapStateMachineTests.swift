import Testing

@testable import Baton

struct ConcurrentMapStateMachineTests {
    private typealias Machine = ConcurrentMapStateMachine<String, Int, Oops>

    /// Returns a state machine with these operations in flight, whose upstream has not ended.
    private func machine(
        _ operations: String..., width: Int = 10, order: OutputOrder = .preserved, endsAtFailure: Bool = true
    ) -> Machine {
        var machine = Machine(width: width, order: order, endsAtFailure: endsAtFailure)
        _ = machine.next()
        for (place, operation) in operations.enumerated() { #expect(machine.take(operation) == place) }
        return machine
    }

    private func inShort(_ turn: Machine.ConsumerAction) -> String {
        switch turn {
        case .start: "start"
        case .wait: "wait"
        case .deliver(.success(let output)): "\(output)"
        case .deliver(.failure(let error)): error.inShort
        case .upstreamFailed(let failure): "upstream: \(failure)"
        case .cancelled: "cancelled"
        case .end: "end"
        }
    }

    private let oops = Result<Int, OperationError>.failure(.failed(Oops()))

    @Test func nothingIsTakenBeforeTheFirstIsAskedFor() {
        var machine = Machine(width: 1, order: .preserved, endsAtFailure: true)
        #expect(machine.room == .closed)
        #expect(machine.take("a") == nil)
        #expect(inShort(machine.next()) == "start")
        #expect(machine.room == .free)
        #expect(inShort(machine.next()) == "wait")
    }

    @Test func finishedOperationsTakeRoomUntilTheirDelivery() {
        var machine = machine("a", "b", width: 2)
        #expect(machine.room == .full)
        _ = machine.ended(0, .success(0))
        #expect(machine.room == .full)
        #expect(inShort(machine.next()) == "0")
        #expect(machine.room == .free)
    }

    @Test func theOrderOfTheElementsIsKept() {
        var machine = machine("a", "b", "c")
        #expect(!machine.ended(2, .success(2)).wakesConsumer)
        #expect(machine.consumerMustWait)
        #expect(machine.ended(0, .success(0)).wakesConsumer)
        #expect(inShort(machine.next()) == "0")
        #expect(inShort(machine.next()) == "wait")
        #expect(machine.ended(1, .success(1)).wakesConsumer)
        #expect(inShort(machine.next()) == "1")
        #expect(inShort(machine.next()) == "2")
    }

    @Test func onArrivalTheFirstIsTheFirst() {
        var machine = machine("a", "b", "c", order: .arrival)
        for place in [2, 0, 1] { #expect(machine.ended(place, .success(place)).wakesConsumer == (place == 2)) }
        #expect([inShort(machine.next()), inShort(machine.next()), inShort(machine.next())] == ["2", "0", "1"])
    }

    @Test func theEndComesAfterTheLastOutput() {
        var machine = machine("a")
        #expect(!machine.upstreamEnded(nil).wakesConsumer)
        #expect(machine.room == .closed)
        #expect(inShort(machine.next()) == "wait")
        _ = machine.ended(0, .success(0))
        #expect([inShort(machine.next()), inShort(machine.next()), inShort(machine.next())] == ["0", "end", "end"])
    }

    @Test func anUpstreamThatIsEmptyEndsAtOnce() {
        var machine = machine()
        #expect(machine.upstreamEnded(nil).wakesConsumer)
        #expect(inShort(machine.next()) == "end")
    }

    @Test func upstreamsErrorComesAfterTheOutputs() {
        var machine = machine("a", order: .arrival)
        _ = machine.upstreamEnded(Oops())
        _ = machine.ended(0, .success(0))
        #expect([inShort(machine.next()), inShort(machine.next())] == ["0", "upstream: oops"])
        #expect(inShort(machine.next()) == "end")
    }

    @Test func inOrderAFailureCutsOffWhatComesAfterIt() {
        var machine = machine("a", "b", "c", "d")
        _ = machine.ended(3, .success(3))
        let actions = machine.ended(1, oops)
        #expect(actions.cancel == ["c"])
        #expect(actions.stopsUpstream)
        #expect(actions.unwanted.count == 1)
        #expect(machine.take("e") == nil)
        _ = machine.ended(0, .success(0))
        #expect(inShort(machine.next()) == "0")
        // The failure is next in order, but "c" and upstream have not ended.
        #expect(inShort(machine.next()) == "wait")
        #expect(!machine.upstreamEnded(Oops(text: "too late")).wakesConsumer)
        let last = machine.ended(2, .success(2))
        #expect(last.wakesConsumer)
        #expect(last.unwanted.count == 1)
        #expect([inShort(machine.next()), inShort(machine.next())] == ["failed: oops", "end"])
    }

    @Test func anEarlierFailureTakesTheLaterOnesPlace() {
        var machine = machine("a", "b", "c")
        #expect(machine.ended(2, .failure(.inputMissing)).cancel == [])
        let actions = machine.ended(0, oops)
        #expect(actions.cancel == ["b"])
        #expect(actions.unwanted.count == 1)
        _ = machine.ended(1, .failure(.cancelled(reason: .requested)))
        _ = machine.upstreamEnded(nil)
        #expect([inShort(machine.next()), inShort(machine.next())] == ["failed: oops", "end"])
    }

    @Test func onArrivalAFailureIsTheLastThatCounts() {
        var machine = machine("a", "b", "c", order: .arrival)
        _ = machine.ended(2, .success(2))
        #expect(machine.ended(1, oops).cancel == ["a"])
        #expect(machine.ended(0, .success(0)).unwanted.count == 1)
        #expect(inShort(machine.next()) == "2")
        #expect(inShort(machine.next()) == "wait")
        #expect(machine.upstreamEnded(nil).wakesConsumer)
        #expect([inShort(machine.next()), inShort(machine.next())] == ["failed: oops", "end"])
    }

    @Test func whenResultsAreWantedAFailureEndsNothing() {
        var machine = machine("a", "b", endsAtFailure: false)
        let actions = machine.ended(0, oops)
        #expect(actions.cancel == [])
        #expect(!actions.stopsUpstream)
        #expect(inShort(machine.next()) == "failed: oops")
        #expect(machine.room == .free)
    }

    @Test func aQueueThatIsShutDownEndsTheResults() {
        var machine = machine("a", "b", endsAtFailure: false)
        let actions = machine.ended(1, .failure(.queueShutDown()))
        #expect(actions.stopsUpstream)
        #expect(actions.cancel == [])
        #expect(machine.room == .closed)
        _ = machine.upstreamEnded(nil)
        _ = machine.ended(0, .success(0))
        #expect([inShort(machine.next()), inShort(machine.next())] == ["0", "queueShutDown"])
        #expect(inShort(machine.next()) == "end")
    }

    @Test func aCancelWaitsForEverything() {
        var machine = machine("a", "b", "c")
        _ = machine.ended(1, .success(1))
        let actions = machine.cancel()
        #expect(actions.cancel == ["a", "c"])
        #expect(actions.stopsUpstream)
        #expect(actions.unwanted.count == 1)
        #expect(machine.cancel().cancel == [])
        #expect(inShort(machine.next()) == "wait")
        #expect(!machine.ended(0, .success(0)).wakesConsumer)
        #expect(!machine.ended(2, oops).wakesConsumer)
        #expect(machine.upstreamEnded(Oops()).wakesConsumer)
        #expect([inShort(machine.next()), inShort(machine.next())] == ["cancelled", "end"])
        #expect(machine.hasEnded)
    }

    @Test("An iteration that is cancelled before it began does not begin")
    func oneThatIsCancelledBeforeItBeganDoesNotBegin() {
        var machine = Machine(width: 1, order: .preserved, endsAtFailure: true)
        #expect(!machine.cancel().stopsUpstream)
        #expect([inShort(machine.next()), inShort(machine.next())] == ["cancelled", "end"])
    }

    @Test func aCancelAfterTheEndChangesNothing() {
        var machine = machine()
        _ = machine.upstreamEnded(nil)
        _ = machine.next()
        #expect(!machine.cancel().wakesConsumer)
        #expect(inShort(machine.next()) == "end")
    }

    @Test("A limited list of the operations in flight contains the last ones, in order")
    func limitedList() {
        var machine = machine("a", "b", "c", "d")
        _ = machine.ended(2, .success(2))
        #expect(machine.operationsInFlight(last: 0) == [])
        #expect(machine.operationsInFlight(last: 2) == ["b", "d"])
        #expect(machine.operationsInFlight(last: .max) == ["a", "b", "d"])
    }

    @Test func aSecondOutcomeIsIgnored() {
        var machine = machine("a", "b")
        _ = machine.ended(0, .success(0))
        let actions = machine.ended(0, oops)
        #expect(actions.cancel == [])
        #expect(!actions.wakesConsumer)
        #expect(machine.operationsInFlight == ["b"])
        #expect(inShort(machine.next()) == "0")
    }
}
