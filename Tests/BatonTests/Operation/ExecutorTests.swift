import BatonTesting
import Testing

@testable import Baton

/// Executors of single operations, and the priority of a queue's tasks.
@Suite(.timeLimit(.minutes(10))) struct ExecutorTests {
    @Test func theBodyRunsOnTheExecutorOfItsOperation() {
        let stage = TestQueue()
        let other = StepExecutor()
        let operation = stage.noting("operation")
        operation.executor = other
        operation.willFinish { [log = stage.log] _ in log("will finish") }
        operation.didFinish { [log = stage.log] _ in log("did finish") }
        let next = stage.noting("next", after: operation)
        stage.run(operation, next, stage.noting("beside"))
        #expect(stage.ran == ["beside"])
        #expect(operation.state == .executing)
        other.runAll()
        #expect(stage.ran == ["beside", "operation"])
        stage.steps.runAll()
        #expect(Set(stage.ran.dropFirst(2)) == ["will finish", "did finish", "next"])
        #expect(other.runAll() == 0)
    }

    @Test("An operation on its own executor keeps its permit, and its task is cancelled with it")
    func itKeepsItsPermitAndIsCancelledAsOthers() {
        let stage = TestQueue(width: 1)
        let other = StepExecutor()
        let operation = AsyncOperation("operation") { [log = stage.log] in
            log("cancelled: \(Task.isCancelled)")
            try Task.checkCancellation()
        }
        operation.executor = other
        stage.run(operation, stage.noting("next"))
        #expect(stage.ran == [])
        operation.cancel()
        other.runAll()
        stage.steps.runAll()
        #expect(stage.ran == ["cancelled: true", "next"])
        #expect(operation.ending == "cancelled on request")
    }

    @Test("Waits of an operation on its own executor release the permit")
    func itsWaitsReleaseThePermit() {
        let stage = TestQueue(width: 1)
        let other = StepExecutor()
        let operation = AsyncOperation("operation") { [log = stage.log] context in
            try await context.run(AsyncOperation("child") { log("child") })
            log("operation")
        }
        operation.executor = other
        stage.run(operation)
        while other.runAll() + stage.steps.runAll() > 0 {}
        #expect(stage.ran == ["child", "operation"])
    }

    @Test func anExecutorAfterTheAddIsMisuse() {
        let stage = TestQueue()
        let operation = stage.noting("operation")
        stage.queue.add(operation)
        operation.executor = StepExecutor()
        #expect(stage.misuseKinds == [.changedAfterAdding("the executor")])
        stage.steps.runAll()
        #expect(stage.ran == ["operation"])
    }

    @Test func theTaskPriorityOfAQueueIsThatOfItsTasks() async throws {
        for priority in [TaskPriority.high, .low] {
            let queue = AsyncOperationQueue(taskPriority: priority)
            let seen = EventLog<TaskPriority>()
            let operation = queue.add { seen(Task.basePriority ?? .medium) }
            operation.didFinish { _ in seen(Task.basePriority ?? .medium) }
            await queue.waitUntilIdle()
            #expect(seen.events == [priority, priority])
        }
    }

    @Test func operationsListsWhatHasNotFinished() {
        let stage = TestQueue()
        let gate = Gate()
        let (running, waiting, done) = (
            stage.waiting("running", at: gate), stage.noting("waiting"), stage.noting("done")
        )
        waiting.addDependency(running)
        stage.run(running, waiting, done)
        #expect(Set(stage.queue.operations.map { $0.name! }) == ["running", "waiting"])
        #expect(stage.queue.operationCount == 2)
        #expect(stage.queue.waitingOperationCount == 1)
        gate.open()
        stage.steps.runAll()
        #expect(stage.queue.operations.isEmpty)
    }

    @Test func errorIsThereWhenTheOperationHasFailed() {
        let stage = TestQueue()
        let failing = AsyncOperation<Int>("failing") { throw Oops() }
        #expect(failing.error == nil)
        let fine = stage.noting("fine")
        stage.run(failing, fine)
        #expect(failing.error?.inShort == "failed: oops")
        #expect(fine.error == nil)
    }
}
