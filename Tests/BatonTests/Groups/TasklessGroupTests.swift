import BatonTesting
import Testing

@testable import Baton

/// The consequences of the fact that a group has no task while its children run.
extension GroupTests {
    @Test func nestedGroupsRunOnOneTask() {
        let stage = TestQueue(width: 1)
        var group = GroupOperation(stage.noting("innermost"))
        for _ in 0..<1_000 { group = GroupOperation(group) }
        stage.queue.add(group)
        // With a task for each of the thousand groups there would be at least a thousand jobs.
        #expect(stage.steps.runAll() < 100)
        #expect(group.ending == "success")
    }

    /// Groups with a timeout, an executor or an `around` hook wait on a task of their own.
    @Test func aGroupWithATimeoutAnExecutorOrAHookHasATask() {
        let stage = TestQueue(width: 1)
        let timed = GroupOperation(stage.noting("timed")).timeout(.seconds(1))
        let elsewhere = GroupOperation(stage.noting("elsewhere"))
        elsewhere.executor = stage.steps
        stage.run(timed, elsewhere)
        stage.queue.around { context, body in
            stage.log("before \(context.operation.name ?? "")")
            try await body()
            stage.log("after")
        }
        stage.run(GroupOperation("hooked"))
        #expect([timed, elsewhere].map(\.ending) == ["success", "success"])
        #expect(stage.ran == ["timed", "elsewhere", "before hooked", "after"])
    }

    @Test func handlersOfAChildAreCalledBeforeThoseOfItsGroup() {
        let stage = TestQueue(width: 1)
        let child = stage.noting("child").didFinish { _ in stage.log("child has finished") }
        let inner = GroupOperation(child).didFinish { _ in stage.log("inner has finished") }
        let outer = GroupOperation(inner).didFinish { _ in stage.log("outer has finished") }
        stage.run(outer)
        #expect(stage.ran == ["child", "child has finished", "inner has finished", "outer has finished"])
    }

    /// The operations that a finishing group releases become ready before the worker of its last child picks its next
    /// operation.
    @Test func dependentsOfAGroupKeepTheirPriority() {
        let stage = TestQueue(width: 1)
        let group = GroupOperation(stage.noting("child"))
        let urgent = stage.noting("urgent", after: group)
        urgent.priority = .high
        stage.run(group, stage.noting("other"), urgent)
        #expect(stage.ran == ["child", "urgent", "other"])
    }

    @Test func dependentsOfTheLastChildStartAfterUrgentOperations() {
        let stage = TestQueue(width: 1)
        let child = stage.noting("child")
        let group = GroupOperation(child)
        let urgent = stage.noting("urgent", after: group)
        urgent.priority = .high
        stage.run(group, stage.noting("follower", after: child), urgent)
        #expect(stage.ran == ["child", "urgent", "follower"])
    }

    /// The task of the worker is cancelled together with the group, so no other operation may run there, whether a
    /// child is left or not.
    @Test(arguments: [false, true]) func aGroupThatIsCancelledAsItStartsEndsItsWorker(hasUnfinishedChild: Bool) {
        let cancelled = Locked<AnyOperation?>(nil)
        let stage = TestQueue(width: 2) { event in
            guard case .started = event.kind, event.operation.name == "group" else { return }
            cancelled.withLock { $0 }?.cancel()
        }
        let gate = Gate()
        let left = stage.waiting("left", at: gate)
        let children = [stage.noting("never")] + (hasUnfinishedChild ? [left] : [])
        let group = GroupOperation("group", children)
        cancelled.withLock { $0 = group }
        stage.run(left)
        stage.run(group, AsyncOperation("other") { stage.log("other, cancelled: \(Task.isCancelled)") })
        #expect(stage.ran == ["left", "other, cancelled: false"])
        #expect(group.hasFinished == !hasUnfinishedChild)
        gate.open()
        stage.steps.runAll()
        #expect(group.ending == "cancelled on request")
        #expect(stage.queue.operationCount == 0)
    }

    @Test func aGroupNeedsNoPermitToFinish() {
        let (stage, elsewhere) = (TestQueue(width: 1), TestQueue(width: 1))
        let (childGate, longGate) = (Gate(), Gate())
        let child = elsewhere.waiting("child", at: childGate)
        elsewhere.run(child)
        let group = GroupOperation(child)
        stage.run(group, stage.waiting("long", at: longGate))
        #expect(stage.ran == ["long"])
        stage.queue.isSuspended = true
        childGate.open()
        elsewhere.steps.runAll()
        #expect(group.ending == "success")
        stage.queue.add(stage.noting("waits"))
        #expect(stage.queue.waitingOperationCount == 1)
        stage.queue.isSuspended = false
        longGate.open()
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
    }

    @Test func aWillFinishHandlerOfAGroupMayAwaitAnotherOperation() {
        let stage = TestQueue(width: 1)
        let other = stage.noting("other")
        let group = GroupOperation(stage.noting("child")).willFinish { _ in
            stage.queue.add(other)
            _ = try? await other.value
            stage.log("before the finish")
        }
        stage.run(group, stage.noting("after", after: group))
        #expect(stage.ran == ["child", "other", "before the finish", "after"])
        #expect(stage.queue.operationCount == 0)
    }

    @Test("One child can end several groups")
    func oneChildEndsSeveralGroups() {
        let stage = TestQueue(width: 2)
        let gate = Gate()
        let shared = stage.waiting("shared", at: gate)
        let groups = (1...3).map { _ in GroupOperation(shared) }
        stage.run(groups[0], groups[1], groups[2], stage.noting("after", after: groups[0], groups[1], groups[2]))
        gate.open()
        stage.steps.runAll()
        #expect(groups.map(\.ending) == ["success", "success", "success"])
        #expect(stage.ran == ["shared", "after"])
        #expect(stage.queue.operationCount == 0)
    }
}
