import Testing

@testable import Baton

/// Tests that a subscriber can take all events of its buffer at once.
@Suite(.timeLimit(.minutes(10))) struct EventBufferTests {
    private func event(_ number: UInt64) -> OperationEvent {
        OperationEvent(
            number: number, time: .zero, subject: EventSubject(.sketched(1, "a"), in: nil), kind: .ready)
    }

    /// Takes all events, and returns their numbers; a negative number is a count of dropped events.
    private func taken(_ buffer: inout EventBuffer) -> [Int] {
        buffer.takeAll().map { event in
            if case .dropped(let count) = event.kind { return -count }
            return Int(event.number)
        }
    }

    @Test func allAreTakenOnce() {
        var buffer = EventBuffer()
        for number in 1...3 { _ = buffer.append(event(UInt64(number))) }
        #expect(taken(&buffer) == [1, 2, 3])
        #expect(taken(&buffer) == [] && buffer.isEmpty)
        _ = buffer.append(event(4))
        #expect(taken(&buffer) == [4])
    }

    @Test func eventsThatWereReadBeforeAreNotTaken() {
        var buffer = EventBuffer()
        for number in 1...3 { _ = buffer.append(event(UInt64(number))) }
        #expect(buffer.next()?.number == 1)
        #expect(taken(&buffer) == [2, 3])
    }

    @Test func theCountOfDroppedEventsComesFirst() {
        var buffer = EventBuffer(limit: 2)
        for number in 1...5 { _ = buffer.append(event(UInt64(number))) }
        #expect(taken(&buffer) == [-3, 4, 5])
        _ = buffer.append(event(6))
        #expect(taken(&buffer) == [6])
    }
}
