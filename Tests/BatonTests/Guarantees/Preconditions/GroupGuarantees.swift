import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct GroupGuarantees {
    /// The group is cancelled at a random time. It finishes after its children and their children, and accepts no more
    /// children.
    @Test func G19_cancellingAGroupCancelsItsChildrenAndWaitsForThem() async throws {
        try await exploring(schedules: tries(500)) { scheduler in
            let queue = AsyncOperationQueue(
                maxConcurrentOperationCount: scheduler.random(in: 1...3), executor: scheduler)
            let log = EventLog<String>()
            func leaf(_ name: String) -> AsyncOperation<Void> {
                let leaf = AsyncOperation(name) {
                    for _ in 0..<3 { await Task.yield() }
                    try Task.checkCancellation()
                }
                leaf.willFinish { _ in log(name) }
                return leaf
            }
            let inner = GroupOperation("inner", [leaf("a"), leaf("b")])
            let group = GroupOperation("outer", [inner, leaf("c")])
            inner.willFinish { _ in log("inner") }
            group.willFinish { _ in log("outer") }
            let (started, innerStarted) = (Gate(), Gate())
            group.didStart { started.open() }
            inner.didStart { innerStarted.open() }
            queue.add(group)
            for _ in 0..<scheduler.random(in: 0...20) { await Task.yield() }
            group.cancel()
            let late = leaf("late")
            try #require((try? group.add(late)) == nil)
            await queue.waitUntilIdle()
            try #require(inner.isCancelled || inner.state == .finished)
            if !started.isOpen { return }
            // Children of a group that never started finish in no queue. Their handlers run elsewhere, and the group
            // does not wait for them.
            let events = log.events.filter { innerStarted.isOpen || !["a", "b"].contains($0) }
            try #require(events.last == "outer")
            try #require(events.contains("c") && events.contains("inner"))
            if inner.error == nil { try #require(Set(events).count == 5) }
        }
    }

    @Test func G19_cancellingAnOperationThatRunsChildren() {
        let stage = TestQueue()
        let gate = Gate()
        let child = stage.waiting("child", at: gate)
        let parent = AsyncOperation("parent") { context in
            do { try await context.run(child) } catch {}
            try await context.run(stage.noting("another"))
        }
        stage.run(parent)
        parent.cancel()
        #expect(child.isCancelled)
        stage.steps.runAll()
        #expect(!parent.hasFinished)
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["child"])
        #expect(parent.ending == "cancelled on request")
    }

    @Test func G8_waitingThroughGroupsCounts() {
        let stage = TestQueue()
        let child = stage.noting("child")
        let group = GroupOperation("outer", GroupOperation("inner", child))
        let after = stage.noting("after", after: group)
        child.addDependency(after)
        stage.run(after, group)
        #expect(child.error?.cycleNames == ["after", "outer", "inner", "child"])
        #expect(stage.queue.operationCount == 0)
    }

    @Test(arguments: [1, 2]) func G25_groupsInGroupsAtAnyWidth(width: Int) {
        let stage = TestQueue(width: width)
        let tally = Tally()
        func tree(_ depth: Int) -> AnyOperation {
            if depth == 0 { return AsyncOperation { tally.add() } }
            return GroupOperation((0..<3).map { _ in tree(depth - 1) })
        }
        let root = tree(7)
        stage.run(root)
        #expect(root.ending == "success")
        #expect(tally.count == 2_187)
    }
}
