import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct DelegateTests {
    let stage = TestQueue()

    private final class RecordingDelegate: OperationDelegate {
        let log = EventLog<String>()

        func operationDidStart(_ operation: OperationReference) async { log("\(operation.name) start") }

        func operation(_ operation: OperationReference, didProduce product: OperationReference) async {
            log("\(operation.name) produce \(product.name)")
        }

        func operationDidCancel(_ operation: OperationReference, reason: CancellationReason) async {
            log("\(operation.name) cancel \(reason)")
        }

        func operationDidFinish(_ operation: OperationReference, error: OperationError?) async {
            log("\(operation.name) finish\(error.map { " \($0)" } ?? "")")
        }
    }

    /// A delegate that implements none of the methods, because all of them are optional.
    private final class Silent: OperationDelegate {}

    @MainActor private final class OnMain: OperationDelegate {
        let log = EventLog<String>()

        @MainActor func operationDidFinish(_ operation: OperationReference, error: OperationError?) async {
            MainActor.assertIsolated()
            log(operation.name)
        }
    }

    @Test("A delegate is called for a start, a product, a cancel and a finish")
    func itIsToldOfEveryMoment() {
        let (ofQueue, ofOperation) = (RecordingDelegate(), RecordingDelegate())
        stage.queue.delegate = ofQueue
        let operation = AsyncOperation("a") { context in
            try context.produce(AsyncOperation("product") {})
            context.operation.cancel()
            throw Oops()
        }
        operation.delegate = ofOperation
        #expect(operation.delegate === ofOperation)
        stage.run(operation)
        let expected = ["a start", "a produce product", "a cancel on request", "a finish cancelled on request"]
        #expect(ofOperation.log.events == expected)
        #expect(ofQueue.log.events.filter { $0.hasPrefix("a") } == expected)
        #expect(ofQueue.log.events.contains("product finish"))
        #expect(operation.delegate == nil, "It has finished.")
        #expect(stage.queue.delegate === ofQueue)
    }

    @Test("A delegate is not retained")
    func itIsNotRetained() {
        var delegate: RecordingDelegate? = RecordingDelegate()
        let log = delegate!.log
        stage.queue.delegate = delegate
        let operation = stage.noting("a")
        operation.delegate = delegate
        weak let seen = delegate
        delegate = nil
        #expect(seen == nil)
        #expect(stage.queue.delegate == nil && operation.delegate == nil)
        stage.run(operation)
        #expect(log.events == [])
    }

    @Test func anotherOneTakesItsPlace() {
        let (first, second) = (RecordingDelegate(), RecordingDelegate())
        let operation = stage.noting("a")
        for delegate in [first, second] {
            stage.queue.delegate = delegate
            operation.delegate = delegate
        }
        stage.run(operation)
        #expect(first.log.events == [])
        #expect(second.log.events.sorted() == ["a finish", "a finish", "a start", "a start"])
        stage.queue.delegate = nil
        #expect(stage.queue.delegate == nil)
        #expect(!stage.queue.core.broadcaster.isObserved)
    }

    @Test("A delegate that is set after the finish is called for the finish")
    func oneThatIsSetAfterTheFinishIsToldOfIt() {
        let delegate = RecordingDelegate()
        let operation = stage.noting("a")
        stage.run(operation)
        operation.delegate = delegate
        stage.steps.runAll()
        #expect(delegate.log.events == ["a finish"])
    }

    @Test func noneIsSetWithoutMakingAnythingForIt() {
        let operation = stage.noting("a")
        operation.delegate = nil
        #expect(!operation.isObserved && operation.delegate == nil)
    }

    @Test("The methods of a delegate are optional")
    func itsMethodsMayBeLeftOut() {
        let delegate = Silent()
        stage.queue.delegate = delegate
        stage.run(stage.noting("a"))
        #expect(stage.ran == ["a"])
    }

    @Test("A delegate may be isolated to the main actor")
    @MainActor func itMayBelongToTheMainActor() async {
        let delegate = OnMain()
        let queue = AsyncOperationQueue()
        queue.delegate = delegate
        queue.add(AsyncOperation("a") {})
        await delegate.log.waitForCount(1)
        #expect(delegate.log.events == ["a"])
    }
}
