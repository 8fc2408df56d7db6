import BatonTesting
import Testing

@testable import Baton

extension GroupTests {
    @Test func cancellingItCancelsItsChildrenAndWaitsForThem() {
        let stage = TestQueue()
        let gate = Gate()
        let stubborn = stage.waiting("stubborn", at: gate)
        let inner = GroupOperation("inner", stubborn, stage.noting("later", after: stubborn))
        let group = GroupOperation("outer", inner)
        stage.run(group)
        group.cancel(reason: .because("of rain"))
        stage.steps.runAll()
        #expect(inner.isCancelled && stubborn.isCancelled)
        #expect(!group.hasFinished && !inner.hasFinished)
        gate.open()
        stage.steps.runAll()
        #expect(stubborn.ending == "success")
        #expect(inner.ending == "cancelled with ‘outer’, its parent")
        #expect(group.ending == "cancelled because of rain")
    }

    @Test func allChildrenThatSucceedAllTheSameMakeItASuccess() {
        let stage = TestQueue()
        let gate = Gate()
        let group = GroupOperation(stage.waiting("one", at: gate), stage.waiting("two", at: gate))
        stage.run(group)
        group.cancel()
        gate.open()
        stage.steps.runAll()
        #expect(group.ending == "success")
        #expect(group.isCancelled)
    }

    @Test("A group that never starts cancels its children")
    func oneThatNeverStartsCancelsItsChildren() {
        let stage = TestQueue(isSuspended: true)
        let children = (0..<4).map { stage.noting("child \($0)") }
        let cancelled = GroupOperation(children[0])
        let neverAdded = GroupOperation(GroupOperation(children[1]))
        let skipped = GroupOperation(children[2]).addCondition("no") { _ in .skip("no") }
        stage.run(cancelled, skipped)
        cancelled.cancel()
        neverAdded.cancel()
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(children.prefix(3).map { $0.error?.outcome } == [.cancelled, .cancelled, .cancelled])
        #expect(children[3].state == .created)
        #expect(stage.ran.isEmpty)
    }

    @Test(arguments: [1_000, veryMany]) func deepGroupsAreCancelledAndReleasedInALoop(depth: Int) {
        let stage = TestQueue(isSuspended: true)
        let tokens = Tokens()
        func nest() -> GroupOperation {
            var group = GroupOperation(AsyncOperation { [token = tokens.make()] in token })
            for _ in 0..<depth { group = GroupOperation(group) }
            return group
        }
        do {
            let cancelled = nest()
            stage.run(cancelled)
            cancelled.cancel()
            _ = nest()
        }
        #expect(tokens.alive == 0)
    }

    @Test("A group that is cancelled before it starts accepts no children while its handlers run")
    func oneThatIsCancelledBeforeItStartsTakesNoMoreWhileItsHandlersRun() {
        let stage = TestQueue(isSuspended: true)
        let gate = Gate()
        let child = stage.noting("child")
        let group = GroupOperation(child)
        group.willFinish { _ in await gate.wait() }
        stage.run(group)
        group.cancel()
        #expect(throws: OperationError.self) { try group.add(stage.noting("late")) }
        #expect(child.error?.outcome == .cancelled)
        gate.open()
        stage.steps.runAll()
        #expect(group.ending == "cancelled on request")
    }

    /// Otherwise a child that needs the output of another one could have failed, although the group has only cancelled
    /// both.
    @Test func allChildrenAreCancelledBeforeAnyNotices() {
        let stage = TestQueue()
        let children = EventLog<AsyncOperation<Void>>()
        for name in ["one", "two"] {
            let gate = Gate()
            children(
                AsyncOperation(name) {
                    try await withTaskCancellationHandler {
                        try await gate.waitUnlessCancelled()
                    } onCancel: {
                        stage.log("\(name): \(children.events.map(\.isCancelled))")
                    }
                })
        }
        let group = GroupOperation(children.events)
        stage.run(group)
        group.cancel()
        stage.steps.runAll()
        #expect(Set(stage.ran) == ["one: [true, true]", "two: [true, true]"])
    }

    /// The last handler of the child is still running when the group begins.
    @Test func aChildOfAnOrderedGroupMayHaveBeenCancelledBefore() async {
        let queue = AsyncOperationQueue()
        let misuses = EventLog<Misuse>()
        queue.onMisuse = { misuses($0) }
        let gate = Gate()
        let child = AsyncOperation("cancelled") {}.willFinish { _ in await gate.wait() }
        child.cancel()
        let group = GroupOperation(.ordered, AsyncOperation("first") { gate.open() }, child, AsyncOperation("last") {})
        _ = try? await queue.run(group)
        #expect(misuses.events.isEmpty)
    }
}
