import Testing

@testable import Baton

@Suite struct EventOutboxTests {
    private let broadcaster = EventBroadcaster()

    private func names(_ batch: EventOutbox.Batch?) -> [String]? {
        batch?.kinds.all.map { OperationEvent.sample(0, $0).inShort.replacing("sample ", with: "") }
    }

    @Test func eventsArePublishedInOrderByOneThread() {
        var outbox = EventOutbox(broadcaster: broadcaster)
        outbox.append(.ready)
        outbox.append(.started(attempt: 1))
        #expect(names(outbox.startPublishing()) == ["ready", "started"])
        outbox.append(.cancelRequested(.requested))
        #expect(outbox.startPublishing() == nil, "Somebody else tells.")
        #expect(names(outbox.nextBatch()) == ["cancel"])
        #expect(outbox.nextBatch() == nil)
        outbox.append(.finished(.success, error: nil))
        #expect(names(outbox.startPublishing()) == ["finished success"])
    }

    @Test func withNothingToTellNobodyTells() {
        var outbox = EventOutbox(broadcaster: broadcaster)
        #expect(outbox.startPublishing() == nil)
        outbox.append(.ready)
        #expect(names(outbox.startPublishing()) == ["ready"])
    }

    @Test(arguments: [false, true]) func whileItIsBeingAddedEverythingWaitsForTheAdd(isWaiting: Bool) {
        var outbox = EventOutbox()
        outbox.hold(for: broadcaster)
        outbox.append(.cancelRequested(.requested))
        #expect(outbox.startPublishing() == nil)
        #expect(outbox.heldFor === broadcaster)
        outbox.releaseHeldEvents(edges: [], isWaiting: isWaiting, parent: nil)
        #expect(outbox.heldFor == nil)
        let batch = outbox.startPublishing()
        #expect(names(batch) == (isWaiting ? ["added", "waiting", "cancel"] : ["added", "cancel"]))
        #expect(batch?.broadcaster?.object === broadcaster)
    }

    @Test func anAddThatBeginsWhileAnotherThreadTellsHoldsItBack() {
        var outbox = EventOutbox()
        let misuse = Misuse(.addedTwice)
        outbox.append(.misuse(misuse))
        #expect(outbox.startPublishing() != nil)
        outbox.hold(for: broadcaster)
        outbox.append(.cancelRequested(.requested))
        #expect(outbox.nextBatch() == nil)
        outbox.releaseHeldEvents(edges: [], isWaiting: false, parent: nil)
        #expect(names(outbox.startPublishing()) == ["added", "cancel"])
    }

    @Test func nothingOfItsLifeComesAfterTheEnd() {
        var outbox = EventOutbox(broadcaster: broadcaster)
        outbox.append(.finished(.success, error: nil))
        outbox.append(.ready)
        outbox.append(.finished(.failure, error: nil))
        outbox.appendProgress(1, version: 9)
        let isTaken = outbox.append(.misuse(Misuse(.addedTwice)))
        #expect(isTaken)
        #expect(names(outbox.startPublishing()) == ["finished success", "misuse addedTwice"])
        #expect(outbox.nextBatch() == nil)
        let isTakenLate = outbox.append(.misuse(Misuse(.addedTwice)))
        #expect(!isTakenLate)
    }

    @Test("An operation that started before it was observed does not publish its start")
    func oneThatStartedBeforeItWasObservedDoesNotTellOfThat() {
        var outbox = EventOutbox(broadcaster: broadcaster, ignoresStart: true)
        outbox.append(.started(attempt: 1))
        outbox.append(.started(attempt: 2))
        #expect(names(outbox.startPublishing()) == ["started 2"])
    }

    @Test func progressIsToldOncePerWholePerCentAndNeverInTheWrongOrder() {
        var outbox = EventOutbox(broadcaster: broadcaster)
        outbox.appendProgress(0.001, version: 1)
        outbox.appendProgress(0.29, version: 2)
        outbox.appendProgress(0.5, version: 5)
        outbox.appendProgress(0.4, version: 4)
        outbox.appendProgress(0.501, version: 6)
        outbox.appendProgress(0.25, version: 7)
        #expect(names(outbox.startPublishing()) == ["progress 0.29", "progress 0.5", "progress 0.25"])
    }

    @Test func theOperationsOwnBroadcasterIsReleasedAtTheEnd() {
        var outbox = EventOutbox(broadcaster: broadcaster)
        let own = EventBroadcaster()
        #expect(outbox.ownBroadcaster(or: own) === own)
        #expect(outbox.ownBroadcaster(or: EventBroadcaster()) === own)
        outbox.append(.finished(.success, error: nil))
        #expect(outbox.ownBroadcaster(or: EventBroadcaster()) === own, "The end is still to be told.")
        let batch = outbox.startPublishing()
        #expect(batch?.ownBroadcaster?.object === own)
        #expect(outbox.ownBroadcaster(or: EventBroadcaster()) == nil)
        _ = outbox.nextBatch()
        #expect(outbox.ownBroadcaster == nil)
    }

    @Test func waitersAreReturnedWhenTheEndHasBeenPublished() async {
        let box = EventOutbox.Box(broadcaster: broadcaster, ignoresStart: false)
        await withUnsafeContinuation { continuation in
            let isKept = box.machine.keep(.task(continuation))
            #expect(isKept, "The thread that finishes it has not come yet.")
            box.machine.append(.finished(.success, error: nil))
            var waiters = box.machine.takeWaiters()
            #expect(waiters.isEmpty)
            #expect(names(box.machine.startPublishing()) == ["finished success"])
            waiters = box.machine.takeWaiters()
            #expect(waiters.isEmpty, "It is being told.")
            #expect(box.machine.nextBatch() == nil)
            waiters = box.machine.takeWaiters()
            #expect(waiters.count == 1)
            for waiter in waiters { waiter.finishedWasPublished() }
        }
        await withUnsafeContinuation { continuation in
            let isKept = box.machine.keep(.task(continuation))
            #expect(!isKept, "It has been told.")
            continuation.resume()
        }
    }
}
