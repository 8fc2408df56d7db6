import BatonTesting
import Testing

@testable import Baton

/// The seats of a hub as values, and their end.
@Suite struct EventHubTests {
    private var seats = EventHub.Seats()
    private var effects = EventHub.Seats.Effects()
    private let operation = OperationReference(id: 1, name: "a")

    private var started: [UInt64] {
        effects.compactMap { if case .start(let call) = $0 { call.id } else { nil } }
    }

    private mutating func isAtEnd(_ reader: UInt64) -> Bool {
        let next = seats.withReader(reader) { $0.next() }
        if case .end? = next { return true }
        return false
    }

    @Test("Suspensions are noted for those that record them, in the order in which the queue was changed")
    mutating func suspensionsAreRecorded() {
        seats = EventHub.Seats(isSuspended: true)
        let (reader, recorder) = (seats.addReader(limit: nil), seats.addReader(limit: nil))
        seats.recordSuspensions(for: recorder, at: .seconds(1))
        seats.noteSuspension(false, number: 2, at: .seconds(3))
        // The one before comes late, and one comes twice.
        seats.noteSuspension(true, number: 1, at: .seconds(2))
        seats.noteSuspension(true, number: 2, at: .seconds(4))
        #expect(!seats.isSuspended)
        // It was not suspended.
        seats.noteSuspension(false, number: 3, at: .seconds(5))
        seats.noteSuspension(true, number: 4, at: .seconds(6))
        let told = seats.withReader(recorder) { $0.takeSuspensions() }
        #expect(
            told == [
                SuspensionChange(time: .seconds(1), isSuspended: true),
                SuspensionChange(time: .seconds(3), isSuspended: false),
                SuspensionChange(time: .seconds(6), isSuspended: true),
            ])
        #expect(seats.withReader(recorder) { $0.takeSuspensions() } == [])
        #expect(seats.withReader(reader) { $0.takeSuspensions() } == [])
    }

    @Test mutating func aStreamEndsWithTheQueueAndTheLastEventOfItsOperations() {
        let reader = seats.addReader(limit: nil)
        seats.operationCame(&effects)
        seats.operationCame(&effects)
        seats.queueHasGone(&effects)
        #expect(!isAtEnd(reader))
        for number in 1...2 as ClosedRange<UInt64> {
            #expect(!isAtEnd(reader))
            seats.operationEnded(isLast: false, .sample(number), &effects)
        }
        #expect(isAtEnd(reader))
    }

    /// Another thread has told its end before the one that begins to observe it has counted it.
    @Test mutating func anEndThatComesBeforeItsBeginningIsCountedAllTheSame() {
        let reader = seats.addReader(limit: nil)
        seats.operationEnded(isLast: false, .sample(1), &effects)
        seats.queueHasGone(&effects)
        #expect(!isAtEnd(reader))
        seats.operationCame(&effects)
        #expect(isAtEnd(reader))
    }

    @Test mutating func numbersRiseAndTimesNeverGoBack() {
        let times = [3, 1, 4].map { time in
            seats.numbered(.ready, of: EventSubject(operation, in: nil), at: .seconds(time))
        }
        #expect(times.map(\.number) == [1, 2, 3])
        #expect(times.map(\.time) == [.seconds(3), .seconds(3), .seconds(4)])
    }

    @Test mutating func whoComesAfterTheEndOfAnOperationGetsThat() {
        seats.operationEnded(isLast: true, .sample(7), &effects)
        let reader = seats.addReader(limit: 1)
        let event = seats.withReader(reader) { $0.next() }
        guard case .event(let last)? = event else {
            Issue.record("there is no event")
            return
        }
        #expect(last.number == 7)
        #expect(isAtEnd(reader))
        let observer = seats.add(NotingObserver(), &effects)
        #expect(started == [observer])
        #expect(seats.withListener(observer) { $0.nextCall()?.number } == 7)
        #expect(seats.withListener(observer) { $0.nextCall()?.number } == .some(nil))
        #expect(seats.withListener(observer) { $0.isDone } == nil, "It is gone.")
    }

    @Test mutating func nobodyIsToldAfterTheEnd() {
        let reader = seats.addReader(limit: nil)
        let observer = seats.add(NotingObserver(), &effects)
        seats.end(&effects)
        seats.tell(.sample(1), &effects)
        #expect(isAtEnd(reader))
        #expect(started.isEmpty)
        #expect(seats.withListener(observer) { $0.isDone } == nil)
    }
}
