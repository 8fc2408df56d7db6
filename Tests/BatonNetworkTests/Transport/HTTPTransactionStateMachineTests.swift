import Foundation
import Testing

@testable import BatonNetwork

/// Takes the next bytes of a state machine, and describes them.
private func taken(_ machine: inout HTTPTransactionStateMachine<Int>) -> String {
    switch machine.take() {
    case .value(let data): "\(data.count) kept"
    case .stored(let offset, let count): "\(count) stored at \(offset)"
    case .end(.complete): "complete"
    case .end(.failed(let error)): "\(error)"
    case .nothing: "nothing"
    }
}

/// Gives bytes to a state machine, and describes what it does with them.
private func coming(_ count: Int, _ machine: inout HTTPTransactionStateMachine<Int>) -> String {
    switch machine.receive(Data(count: count), at: ContinuousClock().now) {
    case .kept(let waiters): "kept for \(waiters)"
    case .write(let offset): "written at \(offset)"
    case .dropped: "dropped"
    }
}

@Suite struct HTTPTransactionStateMachineTests {
    private let start = ContinuousClock().now
    private let head = HTTPHead(status: 200, url: nil)
    private let most = HTTPTransactionStateMachine<Int>.maxBufferedBytes

    @Test func theReaderIsWokenByWhatItWaitsFor() {
        var machine = HTTPTransactionStateMachine<Int>(at: start)
        let waitsForHead = machine.wait(1, forHead: true)
        let wokenByHead = machine.receive(head, at: start)
        let waitsForBody = machine.wait(2, forHead: false)
        #expect(waitsForHead && waitsForBody)
        #expect(wokenByHead == [1])
        #expect(coming(1, &machine) == "kept for [2]")
        let waitsAgain = machine.wait(3, forHead: false)
        #expect(!waitsAgain)
    }

    @Test func receivedBytesAreTakenInOnePiece() {
        var machine = HTTPTransactionStateMachine<Int>(at: start)
        _ = coming(2, &machine)
        _ = coming(1, &machine)
        #expect(taken(&machine) == "3 kept")
        #expect(taken(&machine) == "nothing")
    }

    @Test func theEndComesAfterWhatWasThere() {
        var machine = HTTPTransactionStateMachine<Int>(at: start)
        _ = coming(1, &machine)
        _ = machine.end(.complete)
        #expect(taken(&machine) == "1 kept")
        #expect(taken(&machine) == "complete")
    }

    @Test func theFirstEndingCounts() {
        var machine = HTTPTransactionStateMachine<Int>(at: start)
        _ = machine.wait(1, forHead: true)
        let first = machine.end(.complete)
        let second = machine.end(.failed(CancellationError()))
        #expect(first == [1] && second.isEmpty)
        #expect(taken(&machine) == "complete")
        #expect(coming(1, &machine) == "dropped")
    }

    @Test func bytesBeyondTheMemoryLimitAreWrittenToDisk() {
        var machine = HTTPTransactionStateMachine<Int>(at: start)
        #expect(coming(most, &machine) == "kept for []")
        #expect(coming(10, &machine) == "written at 0")
        _ = machine.hasWritten(10)
        #expect(coming(5, &machine) == "written at 10")
        #expect(taken(&machine) == "\(most) kept")
        #expect(taken(&machine) == "10 stored at 0")
    }

    /// Otherwise later bytes would be read before those in the file.
    @Test func whileTheFileIsNotReadToItsEndAllIsWritten() {
        var machine = HTTPTransactionStateMachine<Int>(at: start)
        _ = coming(most, &machine)
        _ = coming(10, &machine)
        _ = machine.hasWritten(10)
        _ = taken(&machine)
        #expect(coming(5, &machine) == "written at 10")
        _ = machine.hasWritten(5)
        #expect(taken(&machine) == "15 stored at 0")
        machine.hasRead(15)
        #expect(coming(7, &machine) == "kept for []")
        #expect(taken(&machine) == "7 kept")
    }

    @Test func theFileBeginsAnewWhenItHasBeenRead() {
        var machine = HTTPTransactionStateMachine<Int>(at: start)
        for _ in 0..<2 {
            _ = coming(most, &machine)
            #expect(coming(10, &machine) == "written at 0")
            _ = machine.hasWritten(10)
            _ = taken(&machine)
            #expect(taken(&machine) == "10 stored at 0")
            machine.hasRead(10)
        }
    }

    @Test func butNotUnderTheHandsOfWhoWrites() {
        var machine = HTTPTransactionStateMachine<Int>(at: start)
        _ = coming(most, &machine)
        _ = coming(10, &machine)
        _ = machine.hasWritten(10)
        _ = taken(&machine)
        #expect(coming(5, &machine) == "written at 10")
        machine.hasRead(10)
        _ = machine.hasWritten(5)
        #expect(taken(&machine) == "5 stored at 10")
    }

    @Test func aReaderIsWokenWhenSomethingWasWritten() {
        var machine = HTTPTransactionStateMachine<Int>(at: start)
        _ = coming(most, &machine)
        _ = coming(10, &machine)
        _ = taken(&machine)
        let waits = machine.wait(1, forHead: false)
        let woken = machine.hasWritten(10)
        #expect(waits && woken == [1])
    }

    @Test func aCancelIsForURLSessionOnceAndNotAfterTheEnd() {
        var machine = HTTPTransactionStateMachine<Int>(at: start)
        let first = machine.cancel()
        let second = machine.cancel()
        #expect(first && !second)
        var ended = HTTPTransactionStateMachine<Int>(at: start)
        _ = ended.end(.complete)
        let third = ended.cancel()
        #expect(!third)
    }

    @Test func afterACancelNothingIsTakenUntilItsEnd() {
        var machine = HTTPTransactionStateMachine<Int>(at: start)
        _ = machine.receive(head, at: start)
        _ = coming(1, &machine)
        _ = machine.cancel()
        #expect(coming(1, &machine) == "dropped")
        #expect(taken(&machine) == "nothing")
        let waits = machine.wait(1, forHead: false)
        let woken = machine.end(.failed(CancellationError()))
        #expect(waits && woken == [1])
        #expect(taken(&machine) == "CancellationError()")
    }

    @Test func nothingForTooLongIsTheEnd() {
        var machine = HTTPTransactionStateMachine<Int>(at: start)
        _ = machine.receive(head, at: start + .seconds(3))
        guard case .again(.seconds(3)) = machine.checkIdle(at: start + .seconds(5), limit: .seconds(5)) else {
            Issue.record("it was too early")
            return
        }
        guard case .expired = machine.checkIdle(at: start + .seconds(8), limit: .seconds(5)) else {
            Issue.record("it was late enough")
            return
        }
        _ = machine.end(.complete)
        guard case .ended = machine.checkIdle(at: start + .seconds(9), limit: .seconds(5)) else {
            Issue.record("it had ended")
            return
        }
    }
}
