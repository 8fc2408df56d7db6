import BatonTesting
import Testing

@testable import Baton

/// Tests of names that are held by operations which run inside one another.
@Suite(.timeLimit(.minutes(10))) struct FamilyTests {
    @Test func childrenThatDoNotAskRunUnderTheirParents() {
        let name = Names()
        let stage = TestQueue(width: 1)
        let parent = AsyncOperation { context in
            try await context.run(stage.noting("child"))
        }.addCondition(.mutuallyExclusive(name("x")))
        stage.run(parent)
        #expect(parent.ending == "success")
        #expect(stage.ran == ["child"])
    }

    @Test func aChildMayAskForWhatItsParentHolds() {
        let name = Names()
        let stage = TestQueue(width: 1)
        let parent = AsyncOperation { context in
            try await context.run(stage.noting("child").addCondition(.mutuallyExclusive(name("x"))))
        }.addCondition(.mutuallyExclusive(name("x")))
        stage.run(parent)
        #expect(parent.ending == "success")
        #expect(stage.ran == ["child"])
    }

    @Test func childrenOfOneParentExcludeOneAnother() {
        let name = Names()
        let stage = TestQueue()
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
        let stage = TestQueue(width: 1)
        let grandchild = stage.noting("grandchild").addCondition(.mutuallyExclusive(name("x")))
        let child = AsyncOperation { context in try await context.run(grandchild) }
        let parent = AsyncOperation { context in
            try await context.run(child)
        }.addCondition(.mutuallyExclusive(name("x")))
        stage.run(parent)
        #expect(parent.ending == "success")
        #expect(stage.ran == ["grandchild"])
    }

    @Test func dependenciesOfAChildRunInsideTheHolder() {
        let name = Names()
        let stage = TestQueue(width: 1)
        let parent = AsyncOperation { context in
            let needed = stage.noting("needed").addCondition(.mutuallyExclusive(name("x")))
            try await context.run(stage.noting("child", after: needed))
        }.addCondition(.mutuallyExclusive(name("x")))
        stage.run(parent)
        #expect(stage.ran == ["needed", "child"])
    }

    @Test func childrenShareTheirParentsPermits() {
        let name = Names()
        let stage = TestQueue()
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

    @Test func productsRunOutsideTheHolder() {
        let name = Names()
        let stage = TestQueue()
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

    @Test func dependenciesOfAConditionRunInsideTheHoldersOfItsOperation() {
        struct Brings: OperationCondition {
            let operation: AnyOperation
            func dependency(for operation: AnyOperation) -> AnyOperation? { self.operation }

            func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
        }
        let name = Names()
        let stage = TestQueue(width: 1)
        let parent = AsyncOperation { context in
            let request = stage.noting("request").addCondition(.mutuallyExclusive(name("x")))
            try await context.run(stage.noting("child").addCondition(Brings(operation: request)))
        }.addCondition(.mutuallyExclusive(name("x")))
        stage.run(parent)
        #expect(stage.ran == ["request", "child"])
    }
}
