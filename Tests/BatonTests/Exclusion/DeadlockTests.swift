import BatonTesting
import Testing

@testable import Baton

/// Tests of cycles between operations that hold names and operations that wait for them.
@Suite(.timeLimit(.minutes(10))) struct DeadlockTests {
    /// Makes an operation that holds `held` and runs `child` when the gate opens.
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
        let stage = TestQueue()
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
        let stage = TestQueue()
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
        let stage = TestQueue()
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

    @Test("An operation goes ahead of a further attempt that waits for its holder", arguments: [true, false])
    func aFurtherAttemptThatPassesAClaim(isChild: Bool) {
        let name = Names()
        let (x, y) = (Exclusion.mutuallyExclusive(name("x")), Exclusion.mutuallyExclusive(name("y")))
        let stage = TestQueue()
        let gate = Gate()
        let again = AsyncOperation("again") { context in
            if context.attempt == 1 { throw Oops() }
            stage.log("again")
        }
        stage.run(again.retry(.constant(.seconds(1)), attempts: 2).addCondition(x).addCondition(y))
        stage.run(stage.waiting("holder", at: gate).addCondition(x))
        let behind = stage.noting("behind").addCondition(x)
        let waits = AsyncOperation("waits") { context in
            if isChild { try await context.run(behind) } else { try await behind.value }
            stage.log("waits")
        }
        stage.run(waits.addCondition(y))
        if !isChild { stage.run(behind) }
        // The attempt waits for `y`, which is held by the operation that waits for what the attempt has passed.
        stage.advance(by: .seconds(1))
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["holder", "behind", "waits", "again"])
        #expect(stage.queue.operationCount == 0)
    }

    @Test("An operation that only a wait queue keeps from its exclusion goes ahead")
    func oneThatIsOnlyBehindInLineGoesAhead() {
        let name = Names()
        let (x, y) = (Exclusion.mutuallyExclusive(name("x")), Exclusion.mutuallyExclusive(name("y")))
        let stage = TestQueue()
        let gate = Gate()
        let child = stage.noting("child").addCondition(x)
        let one = holder("one", of: y, gate, thenRuns: child)
        stage.run(one)
        // The operation is the first in the queue for x, and waits for y, which `one` holds.
        stage.run(stage.noting("both").addCondition(x).addCondition(y))
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["child", "both"])
        #expect(child.ending == "success")
    }

    @Test func ofSeveralHoldersOneThatEndsIsEnough() {
        let name = Names()
        let limit = Exclusion.limited(name("x"), to: 2)
        let stage = TestQueue()
        let gate = Gate()
        let rest = Gate()
        let child = stage.noting("child").addCondition(.limited(name("x"), to: 2, weight: 2))
        let one = holder("one", of: limit, gate, thenRuns: child)
        stage.run(one)
        stage.run(stage.waiting("two", at: rest).addCondition(limit))
        gate.open()
        stage.steps.runAll()
        // This is not a deadlock: the child gets the second permit when `two` has finished.
        #expect(!child.hasFinished)
        rest.open()
        stage.steps.runAll()
        #expect(stage.ran == ["two", "child"])
    }

    @Test func permitsThatAllWouldHaveToGiveUp() {
        let name = Names()
        let limit = Exclusion.limited(name("x"), to: 2)
        let stage = TestQueue()
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

            func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
        }
        let name = Names()
        let x = Exclusion.mutuallyExclusive(name("x"))
        let stage = TestQueue()
        let asked = stage.noting("asked").addCondition(Under(exclusions: [x]))
        let one = AsyncOperation("one") { try await asked.value }.addCondition(x)
        stage.run(one)
        stage.run(asked)
        #expect(asked.ending == "deadlock asked one")
        #expect(stage.queue.operationCount == 0)
    }

    @Test func threeInACycleAcrossQueues() {
        let name = Names()
        let stages = [TestQueue()] + [0, 0].map { _ in TestQueue() }
        let steps = stages[0].steps
        let queues = (0..<3).map { _ in TestQueue(on: steps) }
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

    @Test func severalHoldersWaitAndNoCycleArises() {
        let name = Names()
        let (x, y) = (Exclusion.mutuallyExclusive(name("x")), Exclusion.mutuallyExclusive(name("y")))
        let stage = TestQueue()
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
    /// The task of the evaluation has not continued when the search for deadlocks runs.
    @Test func anEvaluationThatIsCancelledInLineIsInNoCycle() {
        struct Under: OperationCondition {
            let exclusions: [Exclusion]

            func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
        }
        let name = Names()
        let x = Exclusion.mutuallyExclusive(name("x"))
        let stage = TestQueue()
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
    /// The cycle leads through one of two holders. The other holder can finish, so this is not a deadlock.
    @Test func aHolderThatAwaitsSomebodyWhomAnotherHolderCanLetIn() {
        let name = Names()
        let limit = Exclusion.limited(name("x"), to: 2)
        let stage = TestQueue()
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

extension DeadlockTests {
    /// A cycle is not a deadlock while an operation outside it can release the permits. But a claim in a cycle must not
    /// wait behind another claim whose operation waits for a member of the same cycle.
    @Test("A claim in a cycle does not wait behind a claim that waits for the same cycle")
    func oneInLineIsNotHeldForAnotherThatCanFinish() {
        let name = Names()
        func permits(_ weight: Int) -> Exclusion { .limited(name("x"), to: 4, weight: weight) }
        let stage = TestQueue()
        let (begins, rest) = (Gate(), Gate())
        let first = stage.noting("first").addCondition(permits(3))
        let second = stage.noting("second").addCondition(permits(3))
        let both = stage.noting("both", after: first, second)
        let holder = AsyncOperation("holder") {
            await begins.wait()
            try await both.value
        }.addCondition(permits(1))
        stage.run(holder)
        stage.run(stage.waiting("other", at: rest).addCondition(permits(2)))
        // The operation is the first in the queue, and waits for the holder.
        stage.run(stage.noting("all").addCondition(.mutuallyExclusive(name("x"))))
        for operation in [first, second, both] { stage.run(operation) }
        begins.open()
        stage.steps.runAll()
        // The cycle through `first` is not a deadlock, because `other` can finish.
        #expect(!first.hasFinished)
        rest.open()
        stage.steps.runAll()
        #expect(stage.ran == ["other", "first", "second", "both", "all"])
        #expect(holder.ending == "success")
        #expect(stage.queue.operationCount == 0)
    }

    /// The shortest cycle is not a deadlock, because the other holder can finish. The search must also find the longer
    /// cycle, which is a deadlock.
    @Test func aLongerCycleIsFoundBehindOneThatIsNone() {
        let name = Names()
        let permit = Exclusion.limited(name("x"), to: 2)
        let y = Exclusion.mutuallyExclusive(name("y"))
        let stage = TestQueue()
        let (begins, rest) = (Gate(), Gate())
        let near = stage.noting("near").addCondition(permit)
        let far = stage.noting("far").addCondition(y)
        let afterFar = stage.noting("after far", after: far)
        let both = stage.noting("both", after: near, afterFar)
        let holder = AsyncOperation("holder") {
            await begins.wait()
            try await both.value
        }.addCondition(permit).addCondition(y)
        stage.run(holder)
        stage.run(stage.waiting("other", at: rest).addCondition(permit))
        for operation in [near, far, afterFar, both] { stage.run(operation) }
        begins.open()
        stage.steps.runAll()
        #expect(far.ending == "deadlock far holder both after far")
        #expect(!near.hasFinished)
        rest.open()
        stage.steps.runAll()
        #expect(stage.ran == ["other", "after far", "near", "both"])
        #expect(holder.ending == "success")
        #expect(stage.queue.operationCount == 0)
    }
}

extension DeadlockTests {
    @Test("A cycle that is too long for the thread that closes it is found in the background")
    func aVeryLongCycle() {
        let name = Names()
        let stage = TestQueue(width: 1_000)
        let gate = Gate()
        let count = 400
        let names = (0..<count).map { Exclusion.mutuallyExclusive(name("\($0)")) }
        let children = (0..<count).map { AsyncOperation("child \($0)") {}.addCondition(names[($0 + 1) % count]) }
        let holders = (0..<count).map { holder("holder \($0)", of: names[$0], gate, thenRuns: children[$0]) }
        stage.queue.add(holders)
        stage.steps.runAll()
        gate.open()
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
        #expect(children.count { $0.ending.hasPrefix("deadlock") } == 1)
        #expect(children.count { $0.ending == "success" } == count - 1)
    }

    @Test("When a deadlock is broken, its members precede the operations in the queues for their names")
    func thoseInADeadlockGoAhead() {
        let name = Names()
        let (x, y) = (Exclusion.mutuallyExclusive(name("x")), Exclusion.mutuallyExclusive(name("y")))
        let stage = TestQueue()
        let gate = Gate()
        let (first, second) = (stage.noting("first").addCondition(y), stage.noting("second").addCondition(x))
        stage.run(holder("one", of: x, gate, thenRuns: first), holder("two", of: y, gate, thenRuns: second))
        stage.run(stage.noting("came before").addCondition(y))
        gate.open()
        stage.steps.runAll()
        #expect(second.ending == "deadlock second one first two")
        #expect(stage.ran == ["first", "came before"])
    }
}
