import BatonTesting
import Testing

@testable import Baton

/// Tests of the subscriptions of a broadcaster as a value, and of the end of its events.
@Suite struct EventBroadcasterTests {
    private var subscriptions = EventBroadcaster.Subscriptions()
    private var actions = EventBroadcaster.Subscriptions.Actions()
    private let operation = OperationReference(id: 1, name: "a")

    private var started: [UInt64] {
        actions.compactMap { if case .start(let call) = $0 { call.id } else { nil } }
    }

    private mutating func isAtEnd(_ reader: UInt64) -> Bool {
        let next = subscriptions.withReader(reader) { $0.next() }
        if case .end? = next { return true }
        return false
    }

    @Test("Suspensions are noted for the readers that record them, in the order of the changes to the queue")
    mutating func suspensionsAreRecorded() {
        subscriptions = EventBroadcaster.Subscriptions(isSuspended: true)
        let (reader, recorder) = (subscriptions.addReader(limit: nil), subscriptions.addReader(limit: nil))
        subscriptions.recordSuspensions(for: recorder, at: .seconds(1))
        subscriptions.noteSuspension(false, number: 2, at: .seconds(3))
        // Change 1 arrives after change 2, and change 2 arrives twice.
        subscriptions.noteSuspension(true, number: 1, at: .seconds(2))
        subscriptions.noteSuspension(true, number: 2, at: .seconds(4))
        #expect(!subscriptions.isSuspended)
        // The queue was not suspended, so this is not a change.
        subscriptions.noteSuspension(false, number: 3, at: .seconds(5))
        subscriptions.noteSuspension(true, number: 4, at: .seconds(6))
        let suspensions = subscriptions.withReader(recorder) { $0.takeSuspensions() }
        #expect(
            suspensions == [
                SuspensionChange(time: .seconds(1), isSuspended: true),
                SuspensionChange(time: .seconds(3), isSuspended: false),
                SuspensionChange(time: .seconds(6), isSuspended: true),
            ])
        #expect(subscriptions.withReader(recorder) { $0.takeSuspensions() } == [])
        #expect(subscriptions.withReader(reader) { $0.takeSuspensions() } == [])
    }

    @Test mutating func aStreamEndsWithTheQueueAndTheLastEventOfItsOperations() {
        let reader = subscriptions.addReader(limit: nil)
        subscriptions.expectFinished(&actions)
        subscriptions.expectFinished(&actions)
        subscriptions.queueWasReleased(&actions)
        #expect(!isAtEnd(reader))
        for number in 1...2 as ClosedRange<UInt64> {
            #expect(!isAtEnd(reader))
            subscriptions.operationEnded(isLast: false, .sample(number), &actions)
        }
        #expect(isAtEnd(reader))
    }

    /// One thread begins to observe an operation, and another thread publishes the end of the operation before the
    /// first one has counted it.
    @Test mutating func anEndThatComesBeforeItsBeginningIsCountedAllTheSame() {
        let reader = subscriptions.addReader(limit: nil)
        subscriptions.operationEnded(isLast: false, .sample(1), &actions)
        subscriptions.queueWasReleased(&actions)
        #expect(!isAtEnd(reader))
        subscriptions.expectFinished(&actions)
        #expect(isAtEnd(reader))
    }

    @Test mutating func numbersRiseAndTimesNeverGoBack() {
        let times = [3, 1, 4].map { time in
            subscriptions.numbered(.ready, of: EventSubject(operation, in: nil), at: .seconds(time))
        }
        #expect(times.map(\.number) == [1, 2, 3])
        #expect(times.map(\.time) == [.seconds(3), .seconds(3), .seconds(4)])
    }

    @Test mutating func lateSubscribersOfAnOperationGetItsEnd() {
        subscriptions.operationEnded(isLast: true, .sample(7), &actions)
        let reader = subscriptions.addReader(limit: 1)
        let event = subscriptions.withReader(reader) { $0.next() }
        guard case .event(let last)? = event else {
            Issue.record("there is no event")
            return
        }
        #expect(last.number == 7)
        #expect(isAtEnd(reader))
        let observer = subscriptions.add(NotingObserver(), &actions)
        #expect(started == [observer])
        #expect(subscriptions.withListener(observer) { $0.nextCall()?.number } == 7)
        #expect(subscriptions.withListener(observer) { $0.nextCall()?.number } == .some(nil))
        #expect(subscriptions.withListener(observer) { $0.isDone } == nil, "It is gone.")
    }

    @Test mutating func nobodyIsToldAfterTheEnd() {
        let reader = subscriptions.addReader(limit: nil)
        let observer = subscriptions.add(NotingObserver(), &actions)
        subscriptions.end(&actions)
        subscriptions.deliver(.sample(1), &actions)
        #expect(isAtEnd(reader))
        #expect(started.isEmpty)
        #expect(subscriptions.withListener(observer) { $0.isDone } == nil)
    }
}
