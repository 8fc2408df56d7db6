import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct WorkerTests {
    @Test("A child task of a body belongs to it, and an unstructured task does not")
    func childTasksBelongToTheBody() async {
        let stage = TestQueue(width: 1)
        let seen = EventLog<String>()
        let operation = AsyncOperation("operation") { context in
            seen("body \(WorkerTaskContext.current?.running === context.operation)")
            async let child = WorkerTaskContext.current?.running === context.operation
            seen("child task \(await child)")
            await Task { seen("task \(WorkerTaskContext.current == nil)") }.value
            await Task.yield()
            seen("body again \(WorkerTaskContext.current?.running === context.operation)")
        }
        operation.didFinish { _ in seen("handler \(WorkerTaskContext.current?.running == nil)") }
        #expect(WorkerTaskContext.current == nil)
        stage.queue.add(operation)
        // The unstructured task runs on another executor.
        while operation.state != .finished {
            stage.steps.runAll()
            await Task.yield()
        }
        stage.steps.runAll()
        #expect(
            seen.events == ["body true", "child task true", "task true", "body again true", "handler true"])
    }

    @Test("One worker runs many operations")
    func sharedWorkers() {
        let stage = TestQueue(width: 64)
        stage.queue.add((0..<50).map { stage.noting("\($0)") })
        let jobs = stage.steps.runAll()
        #expect(jobs < 10, "The operations share tasks.")
        #expect(stage.ran.count == 50)
    }

    @Test("Further workers start when bodies suspend")
    func suspendedBodies() {
        let stage = TestQueue(width: 64)
        let gate = Gate()
        stage.queue.add((0..<50).map { stage.waiting("\($0)", at: gate) })
        stage.steps.runAll()
        #expect(stage.ran.count == 50)
        gate.open()
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
    }

    /// The first operation of a worker may be cancelled before the thread that started the worker knows its task.
    @Test("A cancel before the worker's task is known still reaches the body")
    func cancelBeforeTheTaskIsKnown() async {
        let seen = EventLog<Bool>()
        await Task(executorPreference: ImmediateExecutor()) {
            let queue = AsyncOperationQueue(executor: ImmediateExecutor())
            let gate = Gate()
            let operation = AsyncOperation { context in
                context.operation.cancel()
                await gate.wait()
                seen(Task.isCancelled)
            }
            queue.add(operation)
            gate.open()
        }.value
        await seen.waitForCount(1)
        #expect(seen.events == [true])
    }

    /// A body that returns while a wait is open has released its permit, so the worker must not run another body
    /// without one.
    @Test("A body that returns while a wait is open returns its permit once")
    func openWait() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        let child = stage.waiting("child", at: gate)
        let parent = AsyncOperation("parent") { [steps = stage.steps] context in
            steps.task { _ = try? await context.run(child) }
            await Task.yield()
            await Task.yield()
        }
        stage.run(parent)
        #expect(parent.ending == "success")
        #expect(stage.ran == ["child"])
        stage.run(stage.noting("next"))
        #expect(stage.ran == ["child"], "The child holds the only permit.")
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["child", "next"])
        #expect(stage.queue.core.state.withLock { $0.scheduler.running } == 0)
    }

    /// The body begins another wait after the end of the first one, before it has reacquired a permit.
    @Test("A permit that a body no longer needs is returned")
    func unneededPermit() {
        let stage = TestQueue(width: 1)
        let elsewhere = AsyncOperationQueue(executor: stage.steps)
        let (childGate, permitGate, bodyGate) = (Gate(), Gate(), Gate())
        let first = stage.waiting("first", at: childGate)
        let second = stage.noting("second")
        elsewhere.add(first)
        let parent = AsyncOperation("parent") { context in
            async let wait: Void = context.run(first)
            await bodyGate.wait()
            try await context.run(second)
            try await wait
        }
        stage.run(parent, stage.waiting("next", at: permitGate))
        #expect(stage.ran == ["first", "next"])
        childGate.open()
        stage.steps.runAll()
        bodyGate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["first", "next"], "‘next’ holds the only permit.")
        permitGate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["first", "next", "second"])
        #expect(parent.ending == "success")
        #expect(stage.queue.core.state.withLock { $0.scheduler.running } == 0)
    }
}
