// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

/// The tests in `BadInput` cover cycles of every shape.
@Suite(.timeLimit(.minutes(10))) struct CycleGuarantees {
    @Test func G8_aCycleFailsAtTheAddOfItsLastMember() {
        let stage = TestQueue()
        let a = stage.noting("a")
        let b = stage.noting("b", after: a)
        let c = stage.noting("c", after: b)
        a.addDependency(c)
        stage.queue.add(a)
        stage.queue.add(c)
        #expect([a, b, c].map(\.ending) == ["waiting", "created", "waiting"])
        stage.queue.add(b)
        for operation in [a, b, c] { #expect(operation.failure?.cycleNames == ["a", "c", "b"]) }
        stage.steps.runAll()
        #expect(stage.ran == [])
    }

    @Test func G8_whatDependsOnACycleFollowsItsEdges() {
        let stage = TestQueue()
        let a = AsyncOperation("a") { 1 }
        let b = AsyncOperation("b") { 2 }
        a.addDependency(b)
        b.addDependency(a)
        let after = stage.noting("after", after: a, b)
        let reader = a.then { $0 }
        stage.run(after, reader, a, b)
        #expect(stage.ran == ["after"])
        #expect(after.ending == "success")
        guard case .dependencyFailed(let source, let via, let cause)? = reader.failure else {
            Issue.record("\(reader.ending)")
            return
        }
        #expect(source.name == "a" && via.name == "a")
        #expect(cause.cycleNames == ["a", "b"])
    }

    @Test func G8_aCycleAcrossQueues() {
        let here = TestQueue()
        let there = TestQueue(on: here.steps)
        let a = here.noting("a")
        let b = here.noting("b", after: a)
        a.addDependency(b)
        here.queue.add(a)
        there.queue.add(b)
        #expect([a, b].map { $0.failure?.cycleNames } == [["a", "b"], ["a", "b"]])
        #expect(here.queue.operationCount == 0 && there.queue.operationCount == 0)
    }

    /// Several threads add the last members of a cycle at the same time. At least one of them must find the cycle.
    @Test func G8_twoThreadsThatAddTheLastMembersCannotBothMissIt() async {
        let queue = AsyncOperationQueue()
        for length in 0..<400 {
            let members = (0..<(2 + length % 3)).map { number in AsyncOperation("\(number)") {} }
            for (index, member) in members.enumerated() { member.addDependency(members[(index + 1) % members.count]) }
            let meeting = MeetingPoint(of: members.count)
            await withTaskGroup { group in
                for member in members {
                    group.addTask {
                        await meeting.arriveAndWait()
                        queue.add(member)
                    }
                }
            }
            for member in members {
                #expect(member.failure?.cycleNames?.count == members.count, "\(member.ending)")
            }
        }
    }

    @Test func G8_waitingThroughContextRunCounts() {
        let stage = TestQueue(width: 1)
        let child = stage.noting("child")
        let parent = AsyncOperation("parent") { context in try await context.run(child) }
        child.addDependency(parent)
        stage.run(parent)
        #expect(child.failure?.cycleNames == ["child", "parent"])
        guard case .failed(let error)? = parent.failure else {
            Issue.record("\(parent.ending)")
            return
        }
        #expect((error as? OperationError)?.cycleNames == ["child", "parent"])
    }

    /// Only the members of the cycle fail. An operation that a member depends on still runs.
    @Test func G8_whatACycleDependsOnRuns() {
        let stage = TestQueue()
        let before = stage.noting("before")
        let a = stage.noting("a", after: before)
        let b = stage.noting("b", after: a)
        a.addDependency(b)
        stage.run(a, b, before)
        #expect(stage.ran == ["before"])
        #expect(a.failure?.cycleNames == ["a", "b"])
    }
}

/// A meeting point that lets its tasks continue when all of them have arrived.
struct MeetingPoint: Sendable {
    private let arrivals = EventLog<Void>()
    private let size: Int

    init(of size: Int) { self.size = size }

    func arriveAndWait() async {
        arrivals(())
        await arrivals.waitForCount(size)
    }
}
