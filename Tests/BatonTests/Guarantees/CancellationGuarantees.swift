// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct CancellationGuarantees {
    @Test func G15_cancelledBeforeTheRunTheBodyNeverRuns() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        let running = stage.waiting("running", at: gate)
        let ready = stage.noting("ready")
        stage.run(running, ready)
        #expect(ready.ending == "ready")
        ready.cancel(reason: .because("of rain"))
        #expect(ready.ending == "cancelled because of rain")
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["running"])
    }

    @Test func G15_itDoesNotWaitForItsDependencies() {
        let stage = TestQueue()
        let gate = Gate()
        let running = stage.waiting("running", at: gate)
        let waiting = stage.noting("waiting", after: running)
        let after = stage.noting("after", after: waiting)
        stage.run(running, waiting, after)
        waiting.cancel()
        #expect(waiting.ending == "cancelled on request")
        stage.steps.runAll()
        #expect(after.ending == "success", "Its dependents need not wait either.")
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["running", "after"])
    }

    @Test func G16_theBodyAndItsChildTasksSeeIt() {
        let stage = TestQueue()
        let gate = Gate()
        let seen = EventLog<Bool>()
        let operation = AsyncOperation("operation") {
            async let child: Void = {
                await gate.wait()
                seen(Task.isCancelled)
            }()
            await gate.wait()
            seen(Task.isCancelled)
            await child
        }
        stage.run(operation)
        operation.cancel()
        gate.open()
        stage.steps.runAll()
        #expect(seen.events == [true, true])
    }

    /// The probe calls `cancel` while the first call has marked the operation and not yet cancelled the task.
    @Test func G16_aSecondCallThatReturnsFirstHasCancelledTheBody() {
        let gate = Gate()
        let seen = EventLog<String>()
        let operation = AsyncOperation("operation") {
            await withTaskCancellationHandler {
                await gate.wait()
            } onCancel: {
                seen("cancelled")
            }
        }
        let stage = TestQueue { event in
            guard case .cancelRequested = event.kind else { return }
            operation.cancel()
            seen("the second call has returned")
        }
        stage.run(operation)
        operation.cancel()
        seen("the first call has returned")
        gate.open()
        stage.steps.runAll()
        #expect(seen.events == ["cancelled", "the second call has returned", "the first call has returned"])
    }

    /// One worker would run all of these operations, so the cancelled operation must be its last one.
    @Test(arguments: [1, 2]) func G16_nothingElseSeesIt(width: Int) {
        let stage = TestQueue(width: width)
        let seen = EventLog<String>()
        let before = AsyncOperation("before") { seen("before \(Task.isCancelled)") }
        let cancelled = AsyncOperation("cancelled") { context in
            context.operation.cancel()
            seen("cancelled \(Task.isCancelled)")
        }
        cancelled.addDependency(before)
        cancelled.didFinish { _ in seen("handler \(Task.isCancelled)") }
        let follower = AsyncOperation("follower") { seen("follower \(Task.isCancelled)") }
        follower.addDependency(cancelled)
        let next = AsyncOperation("next") { seen("next \(Task.isCancelled)") }
        next.addDependency(cancelled)
        stage.run(before, cancelled, follower, next)
        #expect(
            Set(seen.events) == [
                "before false", "cancelled true", "handler false", "follower false", "next false",
            ])
        #expect(seen.count == 5)
    }

    @Test func G16_underThreadsNothingElseSeesIt() async {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 4)
        let strangers = EventLog<Int>()
        let cancelled = EventLog<Bool>()
        var operations: [AnyOperation] = []
        for number in 0..<2_000 {
            if number % 5 == 0 {
                operations.append(
                    AsyncOperation { context in
                        context.operation.cancel()
                        cancelled(Task.isCancelled)
                    })
            } else {
                operations.append(AsyncOperation { if Task.isCancelled { strangers(number) } })
            }
        }
        queue.add(operations)
        await queue.waitUntilIdle()
        #expect(strangers.events == [])
        #expect(cancelled.count == 400)
    }

    @Test func G17_theOutcomeComesWhenTheBodyHasReturned() {
        let stage = TestQueue()
        let gate = Gate()
        let stubborn = stage.waiting("stubborn", at: gate)
        let after = stage.noting("after", after: stubborn)
        stage.run(stubborn, after)
        stubborn.cancel()
        stage.steps.runAll()
        #expect(stubborn.ending == "executing")
        #expect(stubborn.isCancelled)
        #expect(stage.ran == ["stubborn"])
        gate.open()
        stage.steps.runAll()
        #expect(stubborn.ending == "success")
        #expect(stage.ran == ["stubborn", "after"])
    }

    @Test func G18_aValueAfterACancelIsASuccess() {
        let stage = TestQueue()
        let operation = AsyncOperation { context in
            context.operation.cancel()
            return 7
        }
        stage.run(operation)
        #expect(try! operation.result?.get() == 7)
        #expect(operation.isCancelled)
    }

    @Test func G18_anErrorAfterACancelIsTheCancel() {
        let stage = TestQueue()
        let operation = AsyncOperation<Void> { context in
            context.operation.cancel(reason: .because("of rain"))
            context.operation.cancel(reason: .because("of snow"))
            throw Oops()
        }
        let plain = AsyncOperation<Void> { context in
            context.operation.cancel()
            try Task.checkCancellation()
        }
        stage.run(operation, plain)
        #expect(operation.ending == "cancelled because of rain")
        #expect(plain.ending == "cancelled on request")
    }

    @Test func G18_anErrorWithoutACancelIsAFailure() {
        let stage = TestQueue()
        let operation = AsyncOperation<Void> { throw CancellationError() }
        stage.run(operation)
        guard case .failed(let error)? = operation.failure else {
            Issue.record("\(operation.ending)")
            return
        }
        #expect(error is CancellationError)
    }
}
