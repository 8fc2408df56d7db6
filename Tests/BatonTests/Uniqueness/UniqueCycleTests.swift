import BatonTesting
import Testing

@testable import Baton

/// Operations that join an operation that waits for them.
@Suite(.timeLimit(.minutes(10))) struct UniqueCycleTests {
    private let stage = TestQueue()

    /// Creates an operation that runs another one and logs its outcome.
    private func parent(_ name: String, running child: AsyncOperation<Void>) -> AsyncOperation<Void> {
        AsyncOperation(name) { [log = stage.log] context in
            do throws(OperationError) { try await context.run(child) } catch { log(error.inShort) }
            log(name)
        }
    }

    @Test func aChildThatJoinsItsParent() {
        let child = stage.noting("child").unique(by: #function, policy: .join)
        let parent = parent("parent", running: child).unique(by: #function, policy: .join)
        stage.run(parent)
        #expect(child.failure?.cycleNames == ["child", "parent"])
        #expect(parent.ending == "success")
        #expect(stage.ran.last == "parent")
        #expect(stage.queue.operationCount == 0)
    }

    @Test func aGrandchildThatJoinsItsAncestor() {
        let child = stage.noting("child").unique(by: #function, policy: .join)
        let inner = parent("inner", running: child)
        let outer = parent("outer", running: inner).unique(by: #function, policy: .join)
        stage.run(outer)
        #expect(child.failure?.cycleNames == ["child", "outer", "inner"])
        #expect(stage.ran.suffix(2) == ["inner", "outer"])
    }

    @Test func aChildThatNeedsWhatJoinsItsParent() {
        let joiner = stage.noting("joiner").unique(by: #function, policy: .join)
        let child = stage.noting("child", after: joiner)
        let parent = parent("parent", running: child).unique(by: #function, policy: .join)
        stage.run(parent)
        #expect(joiner.failure?.cycleNames == ["child", "joiner", "parent"])
        #expect(parent.ending == "success")
        #expect(stage.queue.operationCount == 0)
    }

    @Test func aGroupsChildThatJoinsTheGroup() {
        let child = GroupOperation("child").unique(by: #function, policy: .join)
        let group = GroupOperation("group", child).unique(by: #function, policy: .join)
        stage.run(group)
        #expect(child.failure?.cycleNames == ["child", "group"])
        #expect(group.ending.hasPrefix("group: child cycle"))
    }

    @Test func aConditionsOperationThatJoinsTheOneItIsFor() {
        let brought = stage.noting("brought").unique(by: #function, policy: .join)
        let operation = stage.noting("operation").addCondition(DependencyCondition(operation: brought))
        stage.run(operation.unique(by: #function, policy: .join))
        #expect(brought.failure?.cycleNames == ["brought", "operation"])
        #expect(operation.hasFinished)
        #expect(stage.queue.operationCount == 0)
    }

    @Test func joiningWhatDependsOnIt() {
        let joiner = stage.noting("joiner").unique(by: #function, policy: .join)
        let original = stage.noting("original", after: joiner).unique(by: #function, policy: .join)
        stage.run(original)
        stage.run(joiner)
        #expect(joiner.failure?.cycleNames == ["joiner", "original"])
        #expect(original.failure?.cycleNames == ["joiner", "original"])
        #expect(stage.queue.operationCount == 0)
    }

    @Test func anOriginalThatBeginsToAwaitWhatHasJoinedIt() {
        let gate = Gate()
        let joiner = stage.noting("joiner").unique(by: #function, policy: .join)
        let original = AsyncOperation("original") {
            await gate.wait()
            try await joiner.value
        }.unique(by: #function, policy: .join)
        stage.run(original)
        stage.run(joiner)
        gate.open()
        stage.steps.runAll()
        #expect(joiner.failure?.cycleNames == ["joiner", "original"])
        #expect(original.hasFinished)
        #expect(stage.queue.operationCount == 0)
    }

    @Test func aChildThatJoinsOneThatWaitsForItsParentsExclusion() {
        let gate = Gate()
        let child = stage.noting("child").unique(by: #function, policy: .join)
        let holder = AsyncOperation("holder") { context in
            await gate.wait()
            try await context.run(child)
        }.addCondition(.mutuallyExclusive(#function))
        let original = stage.noting("original").addCondition(.mutuallyExclusive(#function))
        stage.run(holder)
        stage.run(original.unique(by: #function, policy: .join))
        gate.open()
        stage.steps.runAll()
        #expect(holder.hasFinished && original.hasFinished && child.hasFinished)
        #expect(original.ending.hasPrefix("deadlock"))
        #expect(stage.queue.operationCount == 0)
    }

    @Test func aBarrierIsNotInTheWayOfOneThatJoins() {
        let gate = Gate()
        let original = stage.waiting("original", at: gate).unique(by: #function, policy: .join)
        stage.run(original)
        let elsewhere = TestQueue(on: stage.steps)
        let late = elsewhere.noting("late")
        stage.queue.add(stage.noting("stuck", after: late))
        stage.queue.addBarrier(stage.noting("barrier"))
        let joiner = stage.noting("joiner").unique(by: #function, policy: .join)
        stage.run(joiner)
        #expect(joiner.dependencies == [original])
        gate.open()
        stage.steps.runAll()
        #expect(joiner.ending == "success")
        elsewhere.run(late)
        #expect(stage.ran == ["original", "stuck", "barrier"])
        #expect(stage.queue.operationCount == 0)
    }
}

private struct DependencyCondition: OperationCondition {
    let operation: AnyOperation

    func dependency(for operation: AnyOperation) -> AnyOperation? { self.operation }

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
}
