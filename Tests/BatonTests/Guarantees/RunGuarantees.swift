// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct RunGuarantees {
    @Test func G9_runAddsWhatItNeedsThatNobodyHasAdded() {
        let stage = TestQueue()
        let gate = Gate()
        let added = stage.waiting("added", at: gate)
        stage.run(added)
        let root = stage.noting("root")
        let value = AsyncOperation("value") { 3 }
        value.addDependency(root)
        value.addDependency(added)
        let needed = value.then { $0 * 2 }
        let beside = stage.noting("beside", after: root)
        let result = EventLog<Int>()
        stage.steps.task { [queue = stage.queue] in if let value = try? await queue.run(needed) { result(value) } }
        stage.steps.runAll()
        #expect(needed.ending == "waiting")
        gate.open()
        stage.steps.runAll()
        #expect(result.events == [6])
        #expect(stage.ran == ["added", "root"])
        #expect(beside.ending == "created")
        #expect(stage.misuseKinds == [])
    }

    /// `run` also adds the dependencies of the operations that it adds.
    @Test func G9_runAddsThroughEdgesOfAnyKind() async throws {
        let queue = AsyncOperationQueue()
        let failing = AsyncOperation<Int>("failing") { throw Oops() }
        let optional = AsyncOperation(failing, default: 1) { $0 }
        let outcome = AsyncOperation(resultOf: failing, optional) { _, optional in try optional.get() + 1 }
        let all = AsyncOperation.collect([outcome, outcome.recover { _ in 0 }])
        let fallback = AsyncOperation { 5 }.addDependency(failing, on: .failure)
        let last = all.then { $0 }.addDependency(fallback, on: .success)
        #expect(try await queue.run(last) == [2, 2])
        #expect(fallback.ending == "success")
        #expect(queue.operationCount == 0)
    }

    /// An operation that was added may depend on an operation that nobody has added.
    @Test func G9_runLooksThroughWhatIsAddedAlready() {
        let stage = TestQueue()
        let root = stage.noting("root")
        let middle = stage.noting("middle", after: root)
        let top = stage.noting("top", after: middle)
        stage.run(middle)
        stage.steps.task { [queue = stage.queue] in try? await queue.run(top) }
        stage.steps.runAll()
        #expect([root, middle, top].map(\.ending) == ["success", "success", "success"])
    }

    /// Starts a run, cancels it while its first operation executes, and returns the endings of `root` and `top`.
    private func cancelledRun(_ prepare: (TestQueue, _ root: AsyncOperation<Void>, _ top: AsyncOperation<Void>) -> Void)
        -> [String]
    {
        let stage = TestQueue()
        let gate = Gate()
        let running = stage.waiting("running", at: gate)
        let root = stage.noting("root", after: running)
        let top = stage.noting("top", after: root)
        prepare(stage, root, top)
        let task = stage.steps.task { [queue = stage.queue] in _ = try? await queue.run(top) }
        stage.steps.runAll()
        task.cancel()
        gate.open()
        stage.steps.runAll()
        return [root, top].map(\.ending)
    }

    @Test func G9_cancelledRunCancelsWhatItAdded() {
        let endings = cancelledRun { _, _, _ in }
        #expect(endings == ["cancelled with the task that awaited it", "cancelled with the task that awaited it"])
    }

    @Test("A caller of `run` learns that another caller was cancelled, and not that it was cancelled itself")
    func G9_cancelOfAnotherCaller() {
        let (stage, gate) = (TestQueue(), Gate())
        let shared = AsyncOperation("shared") { try await gate.waitUnlessCancelled() }
        let errors = EventLog<String>()
        let tasks = ["first", "second"].map { name in
            stage.steps.task { [queue = stage.queue] in
                do throws(OperationError) { try await queue.run(shared) } catch { errors("\(name): \(error)") }
            }
        }
        stage.steps.runAll()
        tasks[0].cancel()
        stage.steps.runAll()
        #expect(
            Set(errors.events) == [
                "first: cancelled with the task that awaited it",
                "second: cancelled with another task that ran or awaited it",
            ])
        #expect(shared.ending == "cancelled with the task that awaited it")
    }

    @Test func G9_cancelledRunLeavesWhatOthersAdded() {
        let endings = cancelledRun { stage, root, _ in stage.queue.add([root] + root.dependencies) }
        #expect(endings == ["success", "cancelled with the task that awaited it"])
    }

    @Test func G9_cancelledRunLeavesWhatAnotherDependentNeeds() {
        let stage = TestQueue()
        let gate = Gate()
        let running = stage.waiting("running", at: gate)
        let root = stage.noting("root", after: running)
        let top = stage.noting("top", after: root)
        let other = stage.noting("other", after: root)
        let task = stage.steps.task { [queue = stage.queue] in _ = try? await queue.run(top) }
        stage.steps.runAll()
        stage.run(other)
        task.cancel()
        gate.open()
        stage.steps.runAll()
        #expect([root, top, other].map(\.ending) == ["success", "cancelled with the task that awaited it", "success"])
        #expect(running.ending == "success" && !running.isCancelled)
    }

    @Test func G9_cancelledRunLeavesWhatSomebodyAwaits() {
        let awaiting = EventLog<String>()
        let endings = cancelledRun { stage, root, _ in
            stage.steps.task {
                try? await root.value
                awaiting(root.ending)
            }
        }
        #expect(endings == ["success", "cancelled with the task that awaited it"])
        #expect(awaiting.events == ["success"])
    }

    @Test func G9_runReturnsOnlyWhenTheCancelledOperationHasFinished() {
        let stage = TestQueue()
        let gate = Gate()
        let stubborn = stage.waiting("stubborn", at: gate)
        let returned = EventLog<String>()
        let task = stage.steps.task { [queue = stage.queue] in
            try? await queue.run(stubborn)
            returned(stubborn.ending)
        }
        stage.steps.runAll()
        task.cancel()
        stage.steps.runAll()
        #expect(returned.events == [])
        #expect(stubborn.isCancelled)
        gate.open()
        stage.steps.runAll()
        #expect(returned.events == ["success"])
    }

    @Test func G9_aTaskCancelledBeforehandAddsNothing() {
        let stage = TestQueue()
        let root = stage.noting("root")
        let top = stage.noting("top", after: root)
        let task = stage.steps.task { [queue = stage.queue] in try? await queue.run(top) }
        task.cancel()
        stage.steps.runAll()
        #expect([root, top].map(\.ending) == ["created", "cancelled with the task that awaited it"])
    }

    @Test func G9_awaitingAValueIsNotInterrupted() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = stage.waiting("operation", at: gate)
        stage.run(operation)
        let returned = EventLog<String>()
        let task = stage.steps.task {
            try? await operation.value
            returned(operation.ending)
        }
        stage.steps.runAll()
        task.cancel()
        stage.steps.runAll()
        #expect(returned.events == [])
        #expect(!operation.isCancelled)
        gate.open()
        stage.steps.runAll()
        #expect(returned.events == ["success"])
    }

    @Test func G10_misuseIsReportedOnceWithItsPlaceAndChangesNothing() {
        let stage = TestQueue(name: "kitchen")
        let a = stage.noting("a")
        let b = stage.noting("b")
        stage.queue.isSuspended = true
        stage.queue.add(a)
        stage.queue.add(a)
        let line = #line - 1
        #expect(stage.misuseKinds == [.addedTwice])
        #expect(stage.misuses.events.first?.operation == a.reference)
        #expect(stage.misuses.events.first?.callSite?.hasSuffix("RunGuarantees.swift:\(line)") == true)
        a.addDependency(b)
        #expect(stage.misuseKinds.dropFirst() == [.changedAfterAdding("the dependency on ‘b’")])
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["a"])
        #expect(stage.misuses.count == 2)
    }
}
