import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct ConfigurationTests {
    @Test("A queue has these defaults")
    func itsDefaults() {
        let queue = AsyncOperationQueue()
        #expect(queue.name == nil)
        #expect(queue.maxConcurrentOperationCount == 64)
        #expect(AsyncOperationQueue.defaultMaxConcurrentOperationCount == 64)
        #expect(!queue.isSuspended)
        #expect(queue.operationCount == 0)
        #expect(queue.onMisuse == nil)
        #expect(AsyncOperationQueue.shared.name == "shared")
    }

    @Test func theWidthMayBeRaisedWhileItRuns() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        stage.queue.add((0..<4).map { stage.waiting("\($0)", at: gate) })
        stage.steps.runAll()
        #expect(stage.ran.count == 1)
        stage.queue.maxConcurrentOperationCount = 3
        stage.steps.runAll()
        #expect(stage.ran.count == 3)
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran.count == 4)
    }

    @Test func theWidthMayBeLoweredWhileItRuns() {
        let stage = TestQueue(width: 3)
        let gates = (0..<6).map { _ in Gate() }
        stage.queue.add(gates.enumerated().map { stage.waiting("\($0)", at: $1) })
        stage.steps.runAll()
        stage.queue.maxConcurrentOperationCount = 1
        gates[0].open()
        stage.steps.runAll()
        #expect(stage.ran.count == 3, "Two still run.")
        gates[1].open()
        stage.steps.runAll()
        #expect(stage.ran.count == 3, "One still runs.")
        gates[2].open()
        stage.steps.runAll()
        #expect(stage.ran == ["0", "1", "2", "3"])
        for gate in gates { gate.open() }
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
    }

    @Test func unlimitedRunsEverythingAtOnce() {
        let stage = TestQueue(width: AsyncOperationQueue.unlimited)
        let gate = Gate()
        stage.queue.add((0..<300).map { stage.waiting("\($0)", at: gate) })
        stage.steps.runAll()
        #expect(stage.ran.count == 300)
        gate.open()
        stage.steps.runAll()
    }

    @Test func theMisuseHandlerMayBeSetLater() {
        let queue = AsyncOperationQueue(name: "kitchen")
        let misuses = EventLog<Misuse>()
        queue.onMisuse = { misuses($0) }
        queue.maxConcurrentOperationCount = 0
        #expect(misuses.events.map(\.kind) == [.invalidWidth(0)])
        #expect(misuses.events.first?.queue == "kitchen")
    }

    @Test("Misuse of a handler of misuse does not call the handler again")
    func misuseInTheHandler() {
        let misuses = EventLog<Misuse>()
        let queue = AsyncOperationQueue(isSuspended: true)
        let operation = AsyncOperation("again") {}
        queue.onMisuse = { [weak queue] misuse in
            misuses(misuse)
            queue?.add(operation)
        }
        queue.add(operation)
        queue.add(operation)
        #expect(misuses.events.map(\.kind) == [.addedTwice])
        queue.add(operation)
        #expect(misuses.events.count == 2)
        queue.cancelAll()
    }

    @Test func cancelAllReachesWhatIsThereAndNothingLater() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        let running = stage.waiting("running", at: gate)
        let ready = stage.noting("ready")
        let waiting = stage.noting("waiting", after: running)
        stage.run(running, ready, waiting)
        stage.queue.cancelAll(reason: .because("of rain"))
        let later = stage.noting("later")
        stage.run(later)
        #expect([ready, waiting].map(\.ending) == ["cancelled because of rain", "cancelled because of rain"])
        #expect(running.isCancelled)
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["running", "later"])
        #expect(!later.isCancelled)
    }

    /// Otherwise a body that throws because its child was cancelled would count as failed, although it was to be
    /// cancelled as well.
    @Test func cancelAllCancelsEverythingBeforeAnyBodyNotices() async throws {
        let stage = TestQueue(width: 2)
        let (early, seen) = (Gate(), EventLog<Bool>())
        // When the first operation has finished, the child takes its index in the registry, so the child comes before
        // its parent.
        let first = stage.waiting("first", at: early)
        let parent = AsyncOperation<Void>("parent") { context in
            await early.wait()
            let parent = context.operation
            try await context.run(
                AsyncOperation("child") {
                    try await withTaskCancellationHandler {
                        try await Gate().waitUnlessCancelled()
                    } onCancel: {
                        seen(parent.isCancelled)
                    }
                })
        }
        stage.run(first, parent)
        early.open()
        stage.steps.runAll()
        #expect(first.hasFinished && stage.queue.operationCount == 2)
        stage.queue.cancelAll()
        #expect(seen.events == [true])
        stage.steps.runAll()
        #expect(parent.ending.hasPrefix("cancelled"))
    }

    @Test func aHandlerOfMisuseThatIsReplacedIsReleasedWithoutTheLock() {
        let queue = AsyncOperationQueue()
        let misuses = EventLog<Misuse>()
        var captured: Release? = Release { [weak queue] in queue?.maxWaitingOperationCount = 0 }
        queue.onMisuse = { [captured] _ in withExtendedLifetime(captured) {} }
        captured = nil
        queue.onMisuse = { misuses($0) }
        #expect(misuses.events.map(\.kind) == [.invalidWaitingLimit(0)])
    }
}
