import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct ReleasedQueueTests {
    private let steps = StepExecutor()
    private let log = EventLog<String>()

    private func noting(_ name: String) -> AsyncOperation<Void> {
        AsyncOperation(name) { [log] in log(name) }
    }

    @Test func addedOperationsContinue() {
        let gate = Gate()
        let running = AsyncOperation("running") { await gate.wait() }
        let waiting = noting("waiting")
        waiting.addDependency(running)
        weak var core: QueueCore?
        do {
            let queue = AsyncOperationQueue(executor: steps)
            core = queue.core
            queue.add(running, waiting, noting("ready"))
            steps.runAll()
        }
        gate.open()
        steps.runAll()
        #expect(log.events == ["ready", "waiting"])
        #expect(waiting.ending == "success")
        #expect(core == nil)
    }

    /// AddressSanitizer finds a use of the released queue.
    @Test("The clock of a released queue is not read")
    func clock() async throws {
        let operation = noting("operation")
        weak var core: QueueCore?
        do {
            let queue = AsyncOperationQueue(executor: steps)
            core = queue.core
            queue.add(operation)
            steps.runAll()
        }
        #expect(operation.ending == "success")
        #expect(core == nil)
        #expect(operation.coreIfUnderWay == nil)
        #expect(operation.timeOfQueue == nil)
        // Another queue is made later, because it could have the address of the released one.
        let delayed = operation.delayed(untilAtLeast: .seconds(10))
        let breaker = CircuitBreaker("service", failures: 1, retryAfter: .seconds(1))
        #expect(try await breaker.evaluate(for: operation) == .satisfied)
        let stage = TestQueue()
        stage.run(delayed)
        stage.advance(by: .seconds(10))
        #expect(delayed.ending == "success")
    }

    @Test func suspendedTheyGetQueueReleased() {
        let ready = noting("ready")
        let waiting = noting("waiting")
        waiting.addDependency(ready)
        let missing = noting("missing")
        let stuck = noting("stuck")
        stuck.addDependency(missing)
        let reader = ready.then { _ in }
        AsyncOperationQueue(isSuspended: true, executor: steps).add(ready, waiting, stuck, reader)
        steps.runAll()
        for operation in [ready, waiting, stuck, reader] { #expect(operation.ending == "queueReleased") }
        #expect(log.events == [])
    }

    @Test func suspendedTheirHandlersRun() {
        let operation = noting("operation")
        operation.didFinish { [log] _ in log("handler") }
        AsyncOperationQueue(isSuspended: true, executor: steps).add(operation)
        steps.runAll()
        #expect(log.events == ["handler"])
    }

    @Test func suspendedWithARunningParentThatHasAChild() {
        let gate = Gate()
        let source = AsyncOperation("source") { [log] in
            await gate.wait()
            log("source")
        }
        let child = noting("child")
        child.addDependency(source)
        let late = noting("late")
        let parent = AsyncOperation("parent") { [log] context in
            try await context.run(child)
            try await context.run(late)
            log("parent")
        }
        let stranded = noting("stranded")
        stranded.addDependency(parent)
        do {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1, executor: steps)
            queue.add(parent, stranded)
            steps.runAll()
            queue.isSuspended = true
        }
        steps.runAll()
        #expect(stranded.ending == "queueReleased")
        #expect(parent.ending == "executing")
        gate.open()
        steps.runAll()
        #expect(log.events == ["source", "child", "late", "parent"])
        #expect(parent.ending == "success")
    }

    @Test func readersOnOtherQueuesAreTold() {
        let stage = TestQueue(on: steps)
        let source = AsyncOperation("source") { 1 }
        let reader = source.then { $0 }
        let after = stage.noting("after", after: source)
        AsyncOperationQueue(isSuspended: true, executor: steps).add(source)
        stage.run(reader, after)
        steps.runAll()
        #expect(reader.ending == "needs source via source: queueReleased")
        #expect(stage.ran == ["after"])
    }

    @Test func resumedBeforeItIsReleasedTheyGoOn() {
        let operation = noting("operation")
        do {
            let queue = AsyncOperationQueue(isSuspended: true, executor: steps)
            queue.add(operation)
            queue.isSuspended = false
        }
        steps.runAll()
        #expect(operation.ending == "success")
    }

    @Test func theLastHandleMayGoInsideABody() {
        let operation = noting("operation")
        do {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1, executor: steps)
            queue.add(AsyncOperation { [queue, log] in log("\(queue.operationCount)") }, operation)
        }
        steps.runAll()
        #expect(log.events == ["2", "operation"])
    }
}
