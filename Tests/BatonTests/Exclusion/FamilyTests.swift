import BatonTesting
import Testing

@testable import Baton

/// Names and the operations that run inside one another.
@Suite(.timeLimit(.minutes(5))) struct FamilyTests {
    @Test func childrenThatDoNotAskRunUnderTheirParents() {
        let name = Names()
        let stage = Stage(width: 1)
        let parent = AsyncOperation { context in
            try await context.run(stage.noting("child"))
        }.addCondition(.mutuallyExclusive(name("x")))
        stage.run(parent)
        #expect(parent.ending == "success")
        #expect(stage.ran == ["child"])
    }

    @Test func aChildMayAskForWhatItsParentHolds() {
        let name = Names()
        let stage = Stage(width: 1)
        let parent = AsyncOperation { context in
            try await context.run(stage.noting("child").addCondition(.mutuallyExclusive(name("x"))))
        }.addCondition(.mutuallyExclusive(name("x")))
        stage.run(parent)
        #expect(parent.ending == "success")
        #expect(stage.ran == ["child"])
    }

    @Test func childrenOfOneParentExcludeOneAnother() {
        let name = Names()
        let stage = Stage()
        let gate = Gate()
        let parent = GroupOperation(
            stage.waiting("one", at: gate).addCondition(.mutuallyExclusive(name("x"))),
            stage.noting("two").addCondition(.mutuallyExclusive(name("x"))), stage.noting("three")
        ).addCondition(.mutuallyExclusive(name("x")))
        stage.run(parent)
        stage.run(stage.noting("outside").addCondition(.mutuallyExclusive(name("x"))))
        #expect(stage.ran == ["one", "three"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["one", "three", "two", "outside"])
    }

    @Test func aGrandchildIsInsideToo() {
        let name = Names()
        let stage = Stage(width: 1)
        let grandchild = stage.noting("grandchild").addCondition(.mutuallyExclusive(name("x")))
        let child = AsyncOperation { context in try await context.run(grandchild) }
        let parent = AsyncOperation { context in
            try await context.run(child)
        }.addCondition(.mutuallyExclusive(name("x")))
        stage.run(parent)
        #expect(parent.ending == "success")
        #expect(stage.ran == ["grandchild"])
    }

    @Test func whatAChildNeedsIsInsideToo() {
        let name = Names()
        let stage = Stage(width: 1)
        let parent = AsyncOperation { context in
            let needed = stage.noting("needed").addCondition(.mutuallyExclusive(name("x")))
            try await context.run(stage.noting("child", after: needed))
        }.addCondition(.mutuallyExclusive(name("x")))
        stage.run(parent)
        #expect(stage.ran == ["needed", "child"])
    }

    @Test func childrenShareTheirParentsPermits() {
        let name = Names()
        let stage = Stage()
        let gate = Gate()
        let limit = Exclusion.limited(name("x"), to: 3)
        let children = (1...2).map { stage.waiting("child \($0)", at: gate).addCondition(limit) }
        let parent = GroupOperation(children).addCondition(.limited(name("x"), to: 3, weight: 2))
        stage.run(parent)
        #expect(stage.ran == ["child 1", "child 2"])
        stage.run(stage.waiting("beside", at: gate).addCondition(limit))
        stage.run(stage.noting("later").addCondition(limit))
        #expect(stage.ran == ["child 1", "child 2", "beside"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["child 1", "child 2", "beside", "later"])
    }

    @Test func whatABodyProducesIsOutside() {
        let name = Names()
        let stage = Stage()
        let gate = Gate()
        let parent = AsyncOperation { context in
            try context.produce(stage.noting("product").addCondition(.mutuallyExclusive(name("x"))))
            await gate.wait()
        }.addCondition(.mutuallyExclusive(name("x")))
        stage.run(parent)
        #expect(stage.ran.isEmpty)
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["product"])
    }

    @Test func whatAConditionBringsAlongRunsInsideTheHoldersAroundItsOperation() {
        struct Brings: OperationCondition {
            let operation: AnyOperation
            func dependency(for operation: AnyOperation) -> AnyOperation? { self.operation }
        }
        let name = Names()
        let stage = Stage(width: 1)
        let parent = AsyncOperation { context in
            let request = stage.noting("request").addCondition(.mutuallyExclusive(name("x")))
            try await context.run(stage.noting("child").addCondition(Brings(operation: request)))
        }.addCondition(.mutuallyExclusive(name("x")))
        stage.run(parent)
        #expect(stage.ran == ["request", "child"])
    }
}

/// Circles of those who hold names and those who wait for them.
@Suite(.timeLimit(.minutes(5))) struct DeadlockTests {
    /// Holds `held`, and when the gate opens runs `child`.
    private func holder(
        _ title: String, of held: Exclusion, _ gate: Gate, thenRuns child: AsyncOperation<Void>
    ) -> AsyncOperation<Void> {
        AsyncOperation(title) { context in
            await gate.wait()
            try await context.run(child)
        }.addCondition(held)
    }

    @Test func twoHoldersWhoseChildrenAskForEachOthersNames() {
        let name = Names()
        let (x, y) = (Exclusion.mutuallyExclusive(name("x")), Exclusion.mutuallyExclusive(name("y")))
        let stage = Stage()
        let gate = Gate()
        let first = stage.noting("first").addCondition(y)
        let second = stage.noting("second").addCondition(x)
        let one = holder("one", of: x, gate, thenRuns: first)
        let two = holder("two", of: y, gate, thenRuns: second)
        stage.run(one, two)
        gate.open()
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
        #expect(second.ending == "deadlock second one first two")
        #expect(two.ending == "failed: \(second.error!)" || two.error?.underlyingError == nil)
        #expect(first.ending == "success")
        #expect(one.ending == "success")
        #expect(stage.ran == ["first"])
    }

    @Test func aHolderThatAwaitsSomebodyBehindItself() {
        let name = Names()
        let x = Exclusion.mutuallyExclusive(name("x"))
        let stage = Stage()
        let gate = Gate()
        let behind = stage.noting("behind").addCondition(x)
        let one = AsyncOperation("one") {
            await gate.wait()
            try await behind.value
        }.addCondition(x)
        stage.run(one)
        stage.run(behind)
        gate.open()
        stage.steps.runAll()
        #expect(behind.ending == "deadlock behind one")
        #expect(one.hasFinished)
        #expect(stage.queue.operationCount == 0)
    }

    @Test func throughADependencyThatIsAddedLast() {
        let name = Names()
        let x = Exclusion.mutuallyExclusive(name("x"))
        let stage = Stage()
        let waits = stage.noting("waits").addCondition(x)
        let needed = stage.noting("needed", after: waits)
        let one = AsyncOperation("one") { try await needed.value }.addCondition(x)
        stage.run(one)
        stage.run(waits)
        #expect(!waits.hasFinished)
        stage.run(needed)
        #expect(waits.ending == "deadlock waits one needed")
        #expect(stage.ran == ["needed"])
        #expect(one.ending == "success")
    }

    @Test func oneThatIsOnlyBehindInLineGoesAhead() {
        let name = Names()
        let (x, y) = (Exclusion.mutuallyExclusive(name("x")), Exclusion.mutuallyExclusive(name("y")))
        let stage = Stage()
        let gate = Gate()
        let child = stage.noting("child").addCondition(x)
        let one = holder("one", of: y, gate, thenRuns: child)
        stage.run(one)
        // First in the line for x, and waits for y, which `one` holds.
        stage.run(stage.noting("both").addCondition(x).addCondition(y))
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["child", "both"])
        #expect(child.ending == "success")
    }

    @Test func ofSeveralHoldersOneThatEndsIsEnough() {
        let name = Names()
        let limit = Exclusion.limited(name("x"), to: 2)
        let stage = Stage()
        let gate = Gate()
        let rest = Gate()
        let child = stage.noting("child").addCondition(.limited(name("x"), to: 2, weight: 2))
        let one = holder("one", of: limit, gate, thenRuns: child)
        stage.run(one)
        stage.run(stage.waiting("two", at: rest).addCondition(limit))
        gate.open()
        stage.steps.runAll()
        // No deadlock: it gets the second permit when `two` has finished.
        #expect(!child.hasFinished)
        rest.open()
        stage.steps.runAll()
        #expect(stage.ran == ["two", "child"])
    }

    @Test func permitsThatAllWouldHaveToGiveUp() {
        let name = Names()
        let limit = Exclusion.limited(name("x"), to: 2)
        let stage = Stage()
        let gate = Gate()
        let children = (1...2).map {
            stage.noting("child \($0)").addCondition(.limited(name("x"), to: 2, weight: 2))
        }
        for (number, child) in children.enumerated() {
            stage.run(holder("parent \(number)", of: limit, gate, thenRuns: child))
        }
        gate.open()
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
        #expect(children.filter { $0.ending == "success" }.count == 1)
        #expect(children.filter { $0.ending.hasPrefix("deadlock") }.count == 1)
    }

    @Test func anEvaluationThatWaitsForNames() {
        struct Under: OperationCondition {
            let exclusions: [Exclusion]
        }
        let name = Names()
        let x = Exclusion.mutuallyExclusive(name("x"))
        let stage = Stage()
        let asked = stage.noting("asked").addCondition(Under(exclusions: [x]))
        let one = AsyncOperation("one") { try await asked.value }.addCondition(x)
        stage.run(one)
        stage.run(asked)
        #expect(asked.ending == "deadlock asked one")
        #expect(stage.queue.operationCount == 0)
    }

    @Test func threeInACircleAcrossQueues() {
        let name = Names()
        let stages = [Stage()] + [0, 0].map { _ in Stage() }
        let steps = stages[0].steps
        let queues = (0..<3).map { _ in Stage(on: steps) }
        let gate = Gate()
        let names = (0..<3).map { Exclusion.mutuallyExclusive(name("\($0)")) }
        let children = (0..<3).map { queues[$0].noting("child \($0)").addCondition(names[($0 + 1) % 3]) }
        for index in 0..<3 {
            queues[index].run(holder("parent \(index)", of: names[index], gate, thenRuns: children[index]))
        }
        gate.open()
        steps.runAll()
        #expect(queues.allSatisfy { $0.queue.operationCount == 0 })
        #expect(children.filter { $0.ending.hasPrefix("deadlock") }.count == 1)
        #expect(children.filter { $0.ending == "success" }.count == 2)
    }

    @Test func severalHoldersWaitAndNoCircleArises() {
        let name = Names()
        let (x, y) = (Exclusion.mutuallyExclusive(name("x")), Exclusion.mutuallyExclusive(name("y")))
        let stage = Stage()
        let gate = Gate()
        let child = stage.noting("child").addCondition(y)
        let one = holder("one", of: x, gate, thenRuns: child)
        let two = holder("two", of: y, gate, thenRuns: stage.noting("other"))
        stage.run(one, two)
        gate.open()
        stage.steps.runAll()
        #expect(one.ending == "success")
        #expect(two.ending == "success")
        #expect(Set(stage.ran) == ["other", "child"])
    }
}

extension DeadlockTests {
    /// Its task has not gone on when somebody searches.
    @Test func anEvaluationThatIsCancelledInLineIsInNoCircle() {
        struct Under: OperationCondition {
            let exclusions: [Exclusion]
        }
        let name = Names()
        let x = Exclusion.mutuallyExclusive(name("x"))
        let stage = Stage()
        let gate = Gate()
        let asked = stage.noting("asked").addCondition(Under(exclusions: [x]))
        let one = AsyncOperation("one") {
            await gate.wait()
            asked.cancel()
            _ = try? await asked.value
        }.addCondition(x)
        stage.run(one)
        stage.run(asked)
        gate.open()
        stage.steps.runAll()
        #expect(asked.ending == "cancelled on request")
        #expect(one.ending == "success")
    }
}

extension DeadlockTests {
    /// A circle through one of two holders, and the other one has all it needs.
    @Test func aHolderThatAwaitsSomebodyWhomAnotherHolderCanLetIn() {
        let name = Names()
        let limit = Exclusion.limited(name("x"), to: 2)
        let stage = Stage()
        let gate = Gate()
        let rest = Gate()
        let behind = stage.noting("behind").addCondition(limit)
        let one = AsyncOperation("one") {
            await gate.wait()
            try await behind.value
        }.addCondition(limit)
        stage.run(one)
        stage.run(stage.waiting("two", at: rest).addCondition(limit))
        stage.run(behind)
        gate.open()
        stage.steps.runAll()
        #expect(!behind.hasFinished)
        rest.open()
        stage.steps.runAll()
        #expect(stage.ran == ["two", "behind"])
        #expect(one.ending == "success")
    }
}
