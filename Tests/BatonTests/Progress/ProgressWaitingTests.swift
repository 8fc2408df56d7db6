import Testing

@testable import Baton

/// The part of the state machine that serves iterators.
@Suite struct ProgressWaitingTests {
    /// Holds the state machine in a class, because `#expect` accepts no mutating calls.
    private final class Harness {
        private var machine = ProgressStateMachine<String>()

        var value: OperationProgress { machine.value }

        func report(_ completed: Int, of total: Int?) { _ = machine.report(completed: completed, of: total) }
        func advance() -> [String] { machine.advance(by: 1).waiters }
        func end() -> [String] { machine.end(.failed).waiters }
        func release() -> [String] { machine.release().waiters }

        func next(after last: OperationProgress?) -> ProgressStateMachine<String>.Next { machine.next(after: last) }
        func wait(_ id: UInt64, after last: OperationProgress, _ waiter: String) -> Bool {
            machine.wait(id, after: last, waiter)
        }
        func stopWaiting(_ id: UInt64) -> String? { machine.stopWaiting(id) }
    }

    private let machine = Harness()

    @Test func theFirstValueIsThatOfNow() {
        machine.report(1, of: 2)
        #expect(machine.next(after: nil) == .value(machine.value))
    }

    @Test func aReaderOfTheNewestValueWaits() {
        #expect(machine.next(after: machine.value) == .wait(id: 1))
        #expect(machine.wait(1, after: machine.value, "a"))
        #expect(machine.advance() == ["a"])
        #expect(machine.advance() == [], "It is told once.")
    }

    @Test func nobodyWaitsForWhatHasComeInBetween() {
        let last = machine.value
        #expect(machine.next(after: last) == .wait(id: 1))
        _ = machine.advance()
        #expect(machine.wait(1, after: last, "a") == false)
        #expect(machine.next(after: last) == .value(machine.value))
    }

    @Test func aValueThatCameBackIsNotNew() {
        let last = machine.value
        _ = machine.advance()
        machine.report(0, of: nil)
        #expect(machine.next(after: last) == .wait(id: 1))
    }

    @Test func allWhoWaitAreToldInTheirOrder() {
        for id in 1...5 as ClosedRange<UInt64> {
            #expect(machine.next(after: machine.value) == .wait(id: id))
            #expect(machine.wait(id, after: machine.value, "\(id)"))
        }
        #expect(machine.stopWaiting(3) == "3")
        #expect(machine.stopWaiting(3) == nil, "It is gone.")
        #expect(machine.advance() == ["1", "2", "4", "5"])
        #expect(machine.stopWaiting(1) == nil, "It was woken.")
    }

    @Test(arguments: [true, false]) func theEndComesAfterTheLastValue(asRelease: Bool) {
        let last = machine.value
        #expect(machine.next(after: last) == .wait(id: 1))
        #expect(machine.wait(1, after: last, "a"))
        let woken = asRelease ? machine.release() : machine.end()
        #expect(woken == ["a"])
        #expect(machine.next(after: last) == (asRelease ? .end : .value(machine.value)))
        #expect(machine.next(after: machine.value) == .end)
        #expect(machine.next(after: nil) == .value(machine.value), "A new iterator.")
    }

    @Test(arguments: [true, false]) func nobodyWaitsAfterTheEnd(asRelease: Bool) {
        #expect(machine.next(after: machine.value) == .wait(id: 1))
        let last = machine.value
        _ = asRelease ? machine.release() : machine.end()
        #expect(machine.wait(1, after: last, "a") == false)
        #expect(machine.wait(1, after: machine.value, "a") == false)
    }
}
