import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct DependencyTests {
    @Test("Dependencies are listed once, inputs first")
    func theyAreListedOnceInputsFirst() {
        let data = AsyncOperation("data") { 1 }
        let key = AsyncOperation("key") { 2 }
        let warmUp = AsyncOperation("warm up") {}
        let operation = AsyncOperation(data, key) { $0 + $1 }
        operation.addDependency(warmUp).addDependency(data).addDependency(warmUp)
        #expect(operation.dependencies.map(\.name) == ["data", "key", "warm up"])
    }

    @Test("An operation that has finished has no dependencies")
    func theyAreEmptyAfterTheFinish() {
        let stage = TestQueue()
        let source = stage.noting("source")
        let operation = stage.noting("operation", after: source)
        stage.queue.add(operation)
        #expect(operation.dependencies.count == 1)
        stage.run(source)
        #expect(operation.dependencies.isEmpty)
    }

    @Test("A dependency that was removed is not waited for")
    func oneThatIsRemovedIsNotWaitedFor() {
        let stage = TestQueue()
        let never = stage.noting("never")
        let source = stage.noting("source")
        let operation = stage.noting("operation", after: never, source, never)
        operation.removeDependency(never)
        operation.removeDependency(never)
        #expect(operation.dependencies.map(\.name) == ["source"])
        stage.run(operation, source)
        #expect(stage.ran == ["source", "operation"])
        #expect(stage.misuseKinds == [])
    }

    @Test func theSameDependencyTwiceIsWaitedForOnce() {
        let stage = TestQueue()
        let source = stage.noting("source")
        let operation = stage.noting("operation", after: source, source, source)
        stage.run(operation, source)
        #expect(stage.ran == ["source", "operation"])
    }

    @Test("A dependency that has finished is not waited for")
    func oneThatHasFinishedIsNotWaitedFor() {
        let stage = TestQueue()
        let source = AsyncOperation("source") { 1 }
        stage.run(source)
        let operation = source.then { $0 + 1 }
        stage.run(operation)
        #expect(try! operation.result?.get() == 2)
    }

    @Test("Dependencies may be on another queue")
    func theyMayBeOnAnotherQueue() {
        let here = TestQueue()
        let there = TestQueue(on: here.steps)
        let source = AsyncOperation("source") { 1 }
        let operation = source.then { $0 + 1 }
        here.queue.add(operation)
        there.queue.add(source)
        here.steps.runAll()
        #expect(try! operation.result?.get() == 2)
    }

    /// The queue of the dependent was released when its source on another queue finishes.
    @Test("A cancelled dependent may outlive its queue")
    func oneThatWasCancelledMayOutliveItsQueue() {
        let stage = TestQueue()
        let gate = Gate()
        let source = stage.waiting("source", at: gate)
        let dependent = stage.noting("dependent", after: source)
        let after = stage.noting("after", after: dependent, source)
        stage.run(source)
        do {
            let other = AsyncOperationQueue(executor: stage.steps)
            other.add(dependent)
            dependent.cancel()
        }
        stage.run(after)
        gate.open()
        stage.steps.runAll()
        #expect([source, dependent, after].map(\.ending) == ["success", "cancelled on request", "success"])
    }

    @Test func addToAddsTheWholeChain() {
        let stage = TestQueue()
        let first = stage.noting("first")
        let second = stage.noting("second", after: first)
        let third = stage.noting("third", after: second).add(to: stage.queue, includingDependencies: true)
        stage.steps.runAll()
        #expect(stage.ran == ["first", "second", "third"])
        third.add(to: stage.queue)
        #expect(stage.misuseKinds == [.addedTwice])
    }

    /// Any thread may read the dependencies at any time.
    @Test("Dependencies may be read while the operation finishes")
    func theyMayBeAskedForWhileItFinishes() async {
        let queue = AsyncOperationQueue()
        let sources = (0..<20).map { _ in AsyncOperation {} }
        let operations = (0..<20_000).map { _ in
            let operation = AsyncOperation {}
            for source in sources { operation.addDependency(source) }
            return operation
        }
        let asking = EventLog<Int>()
        async let highest = Task {
            var highest = 0
            while operations.last?.state != .finished {
                for operation in operations { highest = max(highest, operation.dependencies.count) }
                asking(highest)
                await Task.yield()
            }
            return highest
        }.value
        await asking.waitForCount(1)
        queue.add(operations)
        queue.add(sources)
        #expect(await highest == 20)
        await queue.waitUntilIdle()
        #expect(operations.allSatisfy { $0.dependencies.isEmpty })
    }
}
