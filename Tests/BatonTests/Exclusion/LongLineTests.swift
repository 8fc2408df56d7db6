import BatonTesting
import Testing

@testable import Baton

/// Tests with very many operations that wait for one name.
@Suite(.timeLimit(.minutes(10))) struct LongLineTests {
    /// A recursive implementation would overflow the stack: each operation would give the name back inside the call of
    /// the one before it.
    @Test func aSuspendedQueueGivesNamesBackInALoop() {
        let name = Names()
        let x = Exclusion.mutuallyExclusive(name("x"))
        let other = TestQueue()
        let stage = TestQueue(on: other.steps)
        let gate = Gate()
        let meter = Meter()
        other.run(other.waiting("holder", at: gate).addCondition(x))
        stage.queue.add((0..<veryMany).map { _ in AsyncOperation { await meter.pass() }.addCondition(x) })
        stage.steps.runAll()
        stage.queue.isSuspended = true
        gate.open()
        stage.steps.runAll()
        #expect(other.queue.operationCount == 0)
        #expect(meter.passes == 0)
        #expect(ExclusionManager.isFree(.text(name("x"))))
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(meter.passes == veryMany)
        #expect(meter.most == 1)
    }

    @Test("Waiting operations keep their order across a suspension")
    func theyKeepTheirOrder() {
        let name = Names()
        let x = Exclusion.mutuallyExclusive(name("x"))
        let other = TestQueue()
        let stage = TestQueue(on: other.steps)
        let gate = Gate()
        other.run(other.waiting("holder", at: gate).addCondition(x))
        stage.queue.add((1...4).map { stage.noting("\($0)").addCondition(x) })
        stage.steps.runAll()
        stage.queue.isSuspended = true
        gate.open()
        stage.steps.runAll()
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["1", "2", "3", "4"])
    }

    @Test func soDoesOneThatIsSuspendedWhenTheFirstHasGotTheName() {
        let name = Names()
        let x = Exclusion.mutuallyExclusive(name("x"))
        let other = TestQueue()
        let stage = TestQueue(width: 1, on: other.steps)
        let (gate, busy) = (Gate(), Gate())
        let meter = Meter()
        other.run(other.waiting("holder", at: gate).addCondition(x))
        stage.queue.add((0..<veryMany).map { _ in AsyncOperation { await meter.pass() }.addCondition(x) })
        stage.steps.runAll()
        stage.run(stage.waiting("busy", at: busy))
        gate.open()
        stage.steps.runAll()
        // The next operation holds the name, and waits for a permit.
        #expect(!ExclusionManager.isFree(.text(name("x"))))
        stage.queue.isSuspended = true
        #expect(ExclusionManager.isFree(.text(name("x"))))
        stage.queue.isSuspended = false
        busy.open()
        stage.steps.runAll()
        #expect(meter.passes == veryMany)
    }

    /// A recursive implementation would overflow the stack, too, if the name becomes free while the suspended queue is
    /// released.
    @Test func aReleasedQueueEndsThoseThatGetTheNameInALoop() {
        let name = Names()
        let x = Exclusion.mutuallyExclusive(name("x"))
        let other = TestQueue()
        let gate = Gate()
        other.run(other.waiting("holder", at: gate).addCondition(x))
        var operations: [AnyOperation] = []
        do {
            let queue = AsyncOperationQueue(executor: other.steps)
            operations = (0..<veryMany).map { _ in
                let release = Release { [steps = other.steps] in
                    gate.open()
                    steps.runAll()
                }
                return AsyncOperation { withExtendedLifetime(release) {} }.addCondition(x)
            }
            queue.add(operations)
            other.steps.runAll()
            queue.isSuspended = true
        }
        #expect(other.queue.operationCount == 0)
        let haveAllEnded = operations.allSatisfy { $0.ending == "queueReleased" }
        #expect(haveAllEnded)
        #expect(ExclusionManager.isFree(.text(name("x"))))
    }

    /// The test would take many minutes if each child examined all others when it begins to wait.
    @Test func childrenThatAskForTheNameOfTheirParent() {
        let name = Names()
        let x = Exclusion.mutuallyExclusive(name("x"))
        let stage = TestQueue()
        let gate = Gate()
        let meter = Meter()
        let children = (0..<veryMany).map { _ in AsyncOperation { await meter.pass() }.addCondition(x) }
        let parent = GroupOperation([stage.waiting("first", at: gate).addCondition(x)] + children).addCondition(x)
        stage.run(parent)
        #expect(stage.ran == ["first"])
        gate.open()
        stage.steps.runAll()
        #expect(parent.ending == "success")
        #expect(meter.passes == veryMany)
        #expect(meter.most == 1)
    }
}
