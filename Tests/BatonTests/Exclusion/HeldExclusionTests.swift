import BatonTesting
import Testing

@testable import Baton

/// Names that no other test has, nor another case of the same test. Tests run at the same time, and names are shared by
/// the whole process.
struct Names {
    private static let count = Locked(0)

    let prefix: String

    init(_ prefix: String = #function) {
        let number = Names.count.withLock { count in
            count += 1
            return count
        }
        self.prefix = "\(prefix) \(number)"
    }

    func callAsFunction(_ name: String) -> String { "\(name) in \(prefix)" }
}

@Suite(.timeLimit(.minutes(10))) struct HeldExclusionTests {
    @Test func twoOfOneNameExcludeEachOtherOnAllQueues() {
        let name = Names()
        let here = TestQueue()
        let there = TestQueue(on: here.steps)
        let gate = Gate()
        here.run(here.waiting("first", at: gate).addCondition(.mutuallyExclusive(name("x"))))
        let second = there.noting("second").addCondition(.mutuallyExclusive(name("x")))
        there.run(second)
        #expect(there.ran.isEmpty)
        #expect(second.state == .ready)
        #expect(second.explain().roots.map(\.operation.name) == ["second", "first"])
        #expect(
            "\(second.explain())"
                == "‘second’ waits for the exclusion ‘\(name("x"))’, after ‘first’. ‘first’ is executing.")
        gate.open()
        here.steps.runAll()
        #expect(there.ran == ["second"])
    }

    @Test func byTypeAndByTextAreTwoNames() {
        enum Camera {}
        let stage = TestQueue()
        let gate = Gate()
        stage.run(stage.waiting("type", at: gate).addCondition(.mutuallyExclusive(Camera.self)))
        stage.run(stage.noting("text").addCondition(.mutuallyExclusive("Camera")))
        stage.run(stage.noting("same type").addCondition(.mutuallyExclusive(Camera.self)))
        #expect(stage.ran == ["type", "text"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["type", "text", "same type"])
    }

    @Test func readersShareAndAWriterDoesNot() {
        let name = Names()
        let stage = TestQueue()
        let gate = Gate()
        for reader in ["one", "two"] {
            stage.run(stage.waiting(reader, at: gate).addCondition(.mutuallyExclusive(name("x"), mode: .shared)))
        }
        stage.run(stage.noting("writer").addCondition(.mutuallyExclusive(name("x"))))
        stage.run(stage.noting("three").addCondition(.mutuallyExclusive(name("x"), mode: .shared)))
        #expect(stage.ran == ["one", "two"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["one", "two", "writer", "three"])
    }

    @Test func aLimitLetsSoManyIn() {
        let name = Names()
        let stage = TestQueue()
        let gate = Gate()
        for number in 1...3 {
            stage.run(stage.waiting("\(number)", at: gate).addCondition(.limited(name("x"), to: 2)))
        }
        #expect(stage.ran == ["1", "2"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["1", "2", "3"])
    }

    @Test func weightsCount() {
        let name = Names()
        let stage = TestQueue()
        let gate = Gate()
        stage.run(stage.waiting("three", at: gate).addCondition(.limited(name("x"), to: 4, weight: 3)))
        stage.run(stage.noting("two").addCondition(.limited(name("x"), to: 4, weight: 2)))
        // This operation waits behind the one before it, although its weight would fit.
        stage.run(stage.noting("one").addCondition(.limited(name("x"), to: 4)))
        #expect(stage.ran == ["three"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["three", "two", "one"])
    }

    @Test func waitingOnesAreServedInOrderOfArrivalAndHoldNoPermit() {
        let name = Names()
        let stage = TestQueue(width: 1)
        let gate = Gate()
        let elsewhere = TestQueue(on: stage.steps)
        elsewhere.run(elsewhere.waiting("holder", at: gate).addCondition(.mutuallyExclusive(name("x"))))
        for number in 1...3 { stage.run(stage.noting("\(number)").addCondition(.mutuallyExclusive(name("x")))) }
        stage.run(stage.noting("beside"))
        #expect(stage.ran == ["beside"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["beside", "1", "2", "3"])
    }

    @Test func allNamesAreTakenAtOnce() {
        let name = Names()
        let stage = TestQueue()
        let gate = Gate()
        stage.run(stage.waiting("holds x", at: gate).addCondition(.mutuallyExclusive(name("x"))))
        stage.run(
            stage.noting("wants both").addCondition(.mutuallyExclusive(name("y")))
                .addCondition(.mutuallyExclusive(name("x"))))
        #expect(stage.ran == ["holds x"])
        // No operation holds y, but `wants both` is before this operation in the queue.
        stage.run(stage.noting("wants y").addCondition(.mutuallyExclusive(name("y"))))
        #expect(stage.ran == ["holds x"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["holds x", "wants both", "wants y"])
    }

    @Test("An operation that is cancelled while it waits leaves the wait queue")
    func oneThatIsCancelledWhileItWaitsLeavesTheLine() {
        let name = Names()
        let stage = TestQueue()
        let gate = Gate()
        stage.run(stage.waiting("holder", at: gate).addCondition(.mutuallyExclusive(name("x"))))
        let second = stage.noting("second").addCondition(.mutuallyExclusive(name("x"), mode: .exclusive))
        stage.run(second)
        stage.run(stage.noting("third").addCondition(.mutuallyExclusive(name("x"))))
        second.cancel()
        #expect(second.ending == "cancelled on request")
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["holder", "third"])
        #expect(stage.queue.operationCount == 0)
    }

    @Test("An operation that fails or is cancelled in its body releases its exclusions")
    func oneThatFailsOrIsCancelledInItsBodyGivesBack() {
        let name = Names()
        let stage = TestQueue()
        let failing = AsyncOperation<Void> { throw Oops() }.addCondition(.mutuallyExclusive(name("x")))
        let cancelled = AsyncOperation<Void> { context in
            context.operation.cancel()
            try Task.checkCancellation()
        }.addCondition(.mutuallyExclusive(name("x")))
        stage.run(failing, cancelled, stage.noting("third").addCondition(.mutuallyExclusive(name("x"))))
        #expect(stage.ran == ["third"])
    }

    @Test func namesAreHeldUntilTheWillFinishHandlersHaveReturned() {
        let name = Names()
        let stage = TestQueue()
        let gate = Gate()
        let first = stage.noting("first").addCondition(.mutuallyExclusive(name("x")))
        first.willFinish { _ in await gate.wait() }
        stage.run(first, stage.noting("second").addCondition(.mutuallyExclusive(name("x"))))
        #expect(stage.ran == ["first"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["first", "second"])
    }

    @Test func namesAreGivenBackBeforeTheDependentsStart() {
        let name = Names()
        let stage = TestQueue(width: 1)
        let first = stage.noting("first").addCondition(.mutuallyExclusive(name("x")))
        let second = stage.noting("second", after: first).addCondition(.mutuallyExclusive(name("x")))
        stage.run(first, second)
        #expect(stage.ran == ["first", "second"])
    }

    @Test func aSuspendedQueueHoldsNoNamesForWhatHasNotStarted() {
        let name = Names()
        let stage = TestQueue()
        let other = TestQueue(on: stage.steps)
        let gate = Gate()
        other.run(other.waiting("holder", at: gate).addCondition(.mutuallyExclusive(name("x"))))
        stage.run(stage.noting("waits").addCondition(.mutuallyExclusive(name("x"))))
        stage.queue.isSuspended = true
        gate.open()
        stage.steps.runAll()
        // The queue of `waits` is suspended when the name is granted, so the next operation gets the name.
        other.run(other.noting("other").addCondition(.mutuallyExclusive(name("x"))))
        #expect(other.ran == ["holder", "other"])
        #expect(stage.ran.isEmpty)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["waits"])
    }

    @Test func aQueueThatIsSuspendedBetweenTheGrantAndTheStartGivesTheNamesBack() {
        let name = Names()
        let stage = TestQueue(width: 1)
        let other = TestQueue(on: stage.steps)
        let gate = Gate()
        let busy = Gate()
        other.run(other.waiting("holder", at: gate).addCondition(.mutuallyExclusive(name("x"))))
        stage.run(stage.noting("waits").addCondition(.mutuallyExclusive(name("x"))))
        stage.run(stage.waiting("busy", at: busy))
        gate.open()
        other.steps.runAll()
        // The operation holds x, and waits for a permit.
        stage.queue.isSuspended = true
        other.run(other.noting("other").addCondition(.mutuallyExclusive(name("x"))))
        #expect(other.ran == ["holder", "other"])
        busy.open()
        stage.steps.runAll()
        #expect(stage.ran == ["busy"])
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["busy", "waits"])
    }

    @Test func aReleasedQueueGoesOn() {
        let name = Names()
        let steps = StepExecutor()
        let log = EventLog<String>()
        let other = TestQueue(on: steps)
        let gate = Gate()
        other.run(other.waiting("holder", at: gate).addCondition(.mutuallyExclusive(name("x"))))
        do {
            let queue = AsyncOperationQueue(executor: steps)
            queue.add(AsyncOperation("waits") { log("waits") }.addCondition(.mutuallyExclusive(name("x"))))
            steps.runAll()
        }
        gate.open()
        steps.runAll()
        #expect(log.events == ["waits"])
    }

    @Test func nothingIsKeptOfThoseThatHeldOrWaited() {
        let name = Names()
        let tokens = Tokens()
        do {
            let stage = TestQueue()
            let gate = Gate()
            stage.run(stage.waiting("holder", at: gate).addCondition(.mutuallyExclusive(name("x"))))
            for _ in 0..<3 {
                let operation = AsyncOperation { [token = tokens.make()] in token }
                stage.run(operation.addCondition(.mutuallyExclusive(name("x"))))
            }
            let cancelled = AsyncOperation { [token = tokens.make()] in token }
            stage.run(cancelled.addCondition(.mutuallyExclusive(name("x"))))
            cancelled.cancel()
            #expect(tokens.alive == 3)
            gate.open()
            stage.steps.runAll()
            #expect(stage.queue.operationCount == 0)
        }
        #expect(tokens.alive == 0)
    }
}

/// Tests of exclusions that no operation can ever hold.
@Suite(.timeLimit(.minutes(10))) struct ImpossibleExclusionTests {
    @Test(arguments: [
        Exclusion.limited("x", to: 2, weight: 3), .limited("x", to: 0), .limited("x", to: 2, weight: 0),
        .limited("x", to: -1, weight: -1),
    ])
    func whatNobodyCouldHoldEndsTheOperation(exclusion: Exclusion) {
        let stage = TestQueue()
        let operation = stage.noting("body").addCondition(exclusion)
        stage.run(operation, stage.noting("other"))
        guard case .misuse(let misuse)? = operation.error, case .invalidExclusion(let text) = misuse.kind else {
            Issue.record("\(operation)")
            return
        }
        #expect(text.contains("‘x’"))
        #expect(misuse.operation == operation.reference)
        #expect(stage.ran == ["other"])
    }

    @Test func twoThatAreImpossibleTogether() {
        let stage = TestQueue()
        let operation = stage.noting("body").addCondition(.limited("x", to: 2)).addCondition(
            .limited("x", to: 4, weight: 3))
        stage.run(operation)
        #expect(operation.error?.stage == .misuse)
    }

    @Test func twoLimitsOfOneName() {
        let name = Names()
        let stage = TestQueue()
        let gate = Gate()
        stage.run(stage.waiting("one", at: gate).addCondition(.limited(name("x"), to: 3)))
        stage.run(stage.noting("two").addCondition(.limited(name("x"), to: 1)))
        #expect(
            stage.misuseKinds == [.conflictingLimits(name: "‘\(name("x"))’", limit: 1, other: 3)])
        #expect(stage.ran == ["one"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["one", "two"])
    }
}

/// Tests of the reports on limits that disagree.
@Suite(.timeLimit(.minutes(10))) struct ConflictingLimitTests {
    @Test("A report on two limits names the other operation, and both places")
    func placesOfTwoOperations() {
        let (name, stage, gate) = (Names(), TestQueue(), Gate())
        let first = stage.waiting("first", at: gate).addCondition(.limited(name("x"), to: 3))
        let second = stage.noting("second").addCondition(.limited(name("x"), to: 1))
        let line = #line - 1
        stage.run(first, second)
        #expect(
            stage.misuses.events.map(\.description) == [
                "‘second’: ‘\(name("x"))’ is limited to 1 here and to 3 by ‘first’ (\(#fileID):\(line - 1)); "
                    + "the smaller limit counts. Use one limit for one name (\(#fileID):\(line))"
            ])
        #expect(stage.misuses.events.first?.callSite == "\(#fileID):\(line)")
        gate.open()
        stage.steps.runAll()
    }

    @Test("A report on two limits whose other operation has ended names the place alone")
    func aPlaceWithoutAnOperation() {
        let (name, stage, gate) = (Names(), TestQueue(), Gate())
        func limited(_ operation: AsyncOperation<Void>) -> AnyOperation {
            operation.addCondition(.limited(name("x"), to: 3))
        }
        let line = #line - 2
        let last = stage.noting("last")
        stage.run(limited(stage.waiting("first", at: gate)), limited(last))
        #expect(last.hasFinished)
        stage.run(stage.noting("second").addCondition(.limited(name("x"), to: 1)))
        let text = "\(stage.misuses.events.first!)"
        #expect(text.contains("to 1 here and to 3 at \(#fileID):\(line);"), "\(text)")
        gate.open()
        stage.steps.runAll()
    }

    @Test("A child that its parent leaves no room learns who has given the other limit")
    func anImpossibleChild() {
        let (name, stage) = (Names(), TestQueue())
        let child = stage.noting("child").addCondition(.limited(name("x"), to: 2))
        let parent = GroupOperation("parent", child).addCondition(.limited(name("x"), to: 4, weight: 3))
        stage.run(parent)
        #expect("\(child.error!)".contains("is limited to 2 here and to 4 by ‘parent’ (\(#fileID):"))
    }

    @Test("Two limits that one operation gives a name are reported, and the smaller one counts")
    func ofOneOperation() {
        let (name, stage, gate) = (Names(), TestQueue(), Gate())
        let operation = stage.waiting("operation", at: gate)
        operation.addCondition(.limited(name("x"), to: 3)).addCondition(.mutuallyExclusive(name("y")))
        operation.addCondition(.limited(name("x"), to: 2))
        let line = #line - 1
        stage.run(operation)
        #expect(stage.misuseKinds == [.conflictingLimits(name: "‘\(name("x"))’", limit: 2, other: 3)])
        #expect(
            "\(stage.misuses.events.first!)".contains(
                "to 2 here and to 3 by the same operation (\(#fileID):\(line - 1)); the smaller limit counts."))
        stage.run(stage.noting("next").addCondition(.limited(name("x"), to: 2, weight: 2)))
        #expect(stage.ran == ["operation"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.misuses.count == 1)
    }

    @Test("Two limits of one operation are reported once, whatever is between them and however often it tries")
    func ofOneOperationThatTriesAgain() {
        let (name, stage) = (Names(), TestQueue())
        let operation = AsyncOperation<Void>("flaky") { throw Oops() }.retry(.immediately, attempts: 3)
        operation.addCondition(.limited(name("x"), to: 3)).addCondition(.mutuallyExclusive(name("x")))
        operation.addCondition(.limited(name("x"), to: 2))
        stage.run(operation)
        #expect(operation.hasFinished)
        #expect(stage.misuseKinds == [.conflictingLimits(name: "‘\(name("x"))’", limit: 2, other: 3)])
    }

    @Test("Exclusions of one operation that agree are not reported")
    func thatAgree() {
        let (name, stage) = (Names(), TestQueue())
        let operation = stage.noting("operation")
        operation.addCondition(.limited(name("x"), to: 3)).addCondition(.limited(name("x"), to: 3, weight: 2))
        operation.addCondition(.mutuallyExclusive(name("y"))).addCondition(.mutuallyExclusive(name("y"), mode: .shared))
        stage.run(operation)
        #expect(stage.ran == ["operation"])
        #expect(stage.misuseKinds == [])
    }
}

extension ImpossibleExclusionTests {
    @Test func aChildThatLimitsANameToLessThanItsParentHolds() {
        let name = Names()
        let stage = TestQueue()
        let child = stage.noting("child").addCondition(.limited(name("x"), to: 2))
        let parent = GroupOperation(child).addCondition(.limited(name("x"), to: 4, weight: 3))
        stage.run(parent)
        #expect(child.ending == "misuse: conflictingLimits(name: \"‘\(name("x"))’\", limit: 2, other: 4)")
        #expect(child.error.map { "\($0)" }?.contains(", too few for it beside what its parents hold; the") == true)
        #expect(stage.queue.operationCount == 0)
        stage.run(stage.noting("next").addCondition(.limited(name("x"), to: 2)))
        #expect(stage.ran == ["next"])
    }

    @Test("A queued operation that is cancelled leaves the wait queue before its handlers return")
    func oneInLineThatIsCancelledLeavesItBeforeItsHandlersHaveReturned() {
        let name = Names()
        let stage = TestQueue()
        let gate = Gate()
        let handler = Gate()
        stage.run(stage.waiting("holder", at: gate).addCondition(.mutuallyExclusive(name("x"))))
        let cancelled = stage.noting("cancelled").addCondition(.mutuallyExclusive(name("x")))
        cancelled.willFinish { _ in await handler.wait() }
        stage.run(cancelled)
        stage.run(stage.noting("third").addCondition(.mutuallyExclusive(name("x"))))
        cancelled.cancel()
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["holder", "third"])
        #expect(cancelled.state == .finishing)
        handler.open()
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
    }
}

/// Tests of conditions that hold names while they are evaluated.
@Suite(.timeLimit(.minutes(10))) struct EvaluationUnderExclusionTests {
    private struct Under: OperationCondition {
        let exclusions: [Exclusion]
        let log: EventLog<String>
        var gate: Gate?

        func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
            log("asked \(operation.name ?? "")")
            await gate?.wait()
            return .satisfied
        }
    }

    @Test("A condition is not evaluated while another operation holds its exclusion")
    func oneIsNotAskedWhileAnotherHoldsItsName() {
        let name = Names()
        let x = Exclusion.mutuallyExclusive(name("x"))
        let stage = TestQueue()
        let gate = Gate()
        stage.run(stage.waiting("holder", at: gate).addCondition(x))
        let waits = stage.noting("waits").addCondition(Under(exclusions: [x], log: stage.log))
        stage.run(waits)
        #expect(stage.ran == ["holder"])
        #expect(
            "\(waits.explain())"
                == "‘waits’ waits for the exclusion ‘\(name("x"))’, after ‘holder’. ‘holder’ is executing.")
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["holder", "asked waits", "waits"])
    }

    @Test func nobodyHoldsTheNameWhileOneIsAsked() {
        let name = Names()
        let x = Exclusion.mutuallyExclusive(name("x"))
        let stage = TestQueue()
        let gate = Gate()
        stage.run(stage.noting("first").addCondition(Under(exclusions: [x], log: stage.log, gate: gate)))
        stage.run(stage.noting("second").addCondition(Under(exclusions: [x], log: stage.log)))
        stage.run(stage.noting("third").addCondition(x))
        #expect(stage.ran == ["asked first"])
        gate.open()
        stage.steps.runAll()
        #expect(Set(stage.ran) == ["asked first", "asked second", "first", "second", "third"])
    }

    @Test("An operation that is cancelled while it waits for an exclusion ends at once")
    func oneThatIsCancelledInLineGoesAtOnce() {
        let name = Names()
        let x = Exclusion.mutuallyExclusive(name("x"))
        let stage = TestQueue()
        let gate = Gate()
        stage.run(stage.waiting("holder", at: gate).addCondition(x))
        let waits = stage.noting("waits").addCondition(Under(exclusions: [x], log: stage.log))
        stage.run(waits)
        waits.cancel()
        stage.steps.runAll()
        #expect(waits.ending == "cancelled on request")
        stage.run(stage.noting("last").addCondition(x))
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["holder", "last"])
    }
}
