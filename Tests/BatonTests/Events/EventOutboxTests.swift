import Testing

@testable import Baton

@Suite struct EventOutboxTests {
    private let hub = EventBroadcaster()

    private func names(_ batch: EventOutbox.Batch?) -> [String]? {
        batch?.kinds.all.map { OperationEvent.sample(0, $0).inShort.replacing("sample ", with: "") }
    }

    @Test func whatIsNotedIsToldInOrderByOneThread() {
        var outbox = EventOutbox(hub: hub)
        outbox.append(.ready)
        outbox.append(.started(attempt: 1))
        #expect(names(outbox.startTelling()) == ["ready", "started"])
        outbox.append(.cancelRequested(.requested))
        #expect(outbox.startTelling() == nil, "Somebody else tells.")
        #expect(names(outbox.continueTelling()) == ["cancel"])
        #expect(outbox.continueTelling() == nil)
        outbox.append(.finished(.success, error: nil))
        #expect(names(outbox.startTelling()) == ["finished success"])
    }

    @Test func withNothingToTellNobodyTells() {
        var outbox = EventOutbox(hub: hub)
        #expect(outbox.startTelling() == nil)
        outbox.append(.ready)
        #expect(names(outbox.startTelling()) == ["ready"])
    }

    @Test(arguments: [false, true]) func whileItIsBeingAddedEverythingWaitsForTheAdd(isWaiting: Bool) {
        var outbox = EventOutbox()
        outbox.hold(for: hub)
        outbox.append(.cancelRequested(.requested))
        #expect(outbox.startTelling() == nil)
        #expect(outbox.heldFor === hub)
        outbox.release(edges: [], isWaiting: isWaiting, parent: nil)
        #expect(outbox.heldFor == nil)
        let batch = outbox.startTelling()
        #expect(names(batch) == (isWaiting ? ["added", "waiting", "cancel"] : ["added", "cancel"]))
        #expect(batch?.hub?.takeUnretainedValue() === hub)
    }

    @Test func anAddThatBeginsWhileAnotherThreadTellsHoldsItBack() {
        var outbox = EventOutbox()
        let misuse = Misuse(.addedTwice)
        outbox.append(.misuse(misuse))
        #expect(outbox.startTelling() != nil)
        outbox.hold(for: hub)
        outbox.append(.cancelRequested(.requested))
        #expect(outbox.continueTelling() == nil)
        outbox.release(edges: [], isWaiting: false, parent: nil)
        #expect(names(outbox.startTelling()) == ["added", "cancel"])
    }

    @Test func nothingOfItsLifeComesAfterTheEnd() {
        var outbox = EventOutbox(hub: hub)
        outbox.append(.finished(.success, error: nil))
        outbox.append(.ready)
        outbox.append(.finished(.failure, error: nil))
        outbox.appendProgress(1, version: 9)
        let isTaken = outbox.append(.misuse(Misuse(.addedTwice)))
        #expect(isTaken)
        #expect(names(outbox.startTelling()) == ["finished success", "misuse addedTwice"])
        #expect(outbox.continueTelling() == nil)
        let isTakenLate = outbox.append(.misuse(Misuse(.addedTwice)))
        #expect(!isTakenLate)
    }

    @Test func oneThatStartedBeforeItWasObservedDoesNotTellOfThat() {
        var outbox = EventOutbox(hub: hub, ignoresStart: true)
        outbox.append(.started(attempt: 1))
        outbox.append(.started(attempt: 2))
        #expect(names(outbox.startTelling()) == ["started 2"])
    }

    @Test func progressIsToldOncePerWholePerCentAndNeverInTheWrongOrder() {
        var outbox = EventOutbox(hub: hub)
        outbox.appendProgress(0.001, version: 1)
        outbox.appendProgress(0.29, version: 2)
        outbox.appendProgress(0.5, version: 5)
        outbox.appendProgress(0.4, version: 4)
        outbox.appendProgress(0.501, version: 6)
        outbox.appendProgress(0.25, version: 7)
        #expect(names(outbox.startTelling()) == ["progress 0.29", "progress 0.5", "progress 0.25"])
    }

    @Test func whoObservesItAloneIsLetGoWithTheEnd() {
        var outbox = EventOutbox(hub: hub)
        let own = EventBroadcaster()
        #expect(outbox.audience(or: own) === own)
        #expect(outbox.audience(or: EventBroadcaster()) === own)
        outbox.append(.finished(.success, error: nil))
        #expect(outbox.audience(or: EventBroadcaster()) === own, "The end is still to be told.")
        let batch = outbox.startTelling()
        #expect(batch?.own?.takeUnretainedValue() === own)
        #expect(outbox.audience(or: EventBroadcaster()) == nil)
        _ = outbox.continueTelling()
        #expect(outbox.audience == nil)
    }

    @Test func whoWaitsForTheEndIsGivenBackWhenItIsTold() async {
        let box = EventOutbox.Box(hub: hub, ignoresStart: false)
        await withUnsafeContinuation { continuation in
            let isKept = box.machine.keep(.task(continuation))
            #expect(isKept, "The thread that finishes it has not come yet.")
            box.machine.append(.finished(.success, error: nil))
            var waiters = box.machine.takeWaiters()
            #expect(waiters.isEmpty)
            #expect(names(box.machine.startTelling()) == ["finished success"])
            waiters = box.machine.takeWaiters()
            #expect(waiters.isEmpty, "It is being told.")
            #expect(box.machine.continueTelling() == nil)
            waiters = box.machine.takeWaiters()
            #expect(waiters.count == 1)
            for waiter in waiters { waiter.endIsTold() }
        }
        await withUnsafeContinuation { continuation in
            let isKept = box.machine.keep(.task(continuation))
            #expect(!isKept, "It has been told.")
            continuation.resume()
        }
    }
}
