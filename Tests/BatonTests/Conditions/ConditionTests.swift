import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct ConditionTests {
    @Test func aSatisfiedConditionLetsTheBodyRun() {
        let stage = TestQueue()
        let operation = stage.noting("body").addCondition("yes") { [log = stage.log] _ in
            log("condition")
            return .satisfied
        }
        stage.run(operation)
        #expect(stage.ran == ["condition", "body"])
        #expect(operation.ending == "success")
    }

    @Test("A condition that throws fails its operation")
    func oneThatThrowsFailsTheOperation() {
        let stage = TestQueue()
        let operation = stage.noting("body").addCondition("no") { _ in throw Oops() }
        stage.run(operation)
        guard case .conditionFailed("no", let cause)? = operation.error else {
            Issue.record("\(operation)")
            return
        }
        #expect(cause as? Oops == Oops())
        #expect(operation.error?.stage == .condition)
        #expect(operation.error?.publisher == "no")
        #expect(stage.ran.isEmpty)
        #expect(stage.queue.operationCount == 0)
    }

    @Test("A condition that skips its operation is not a failure")
    func oneThatSkipsIsNoFailure() {
        let stage = TestQueue()
        let operation = stage.noting("body").addCondition("no") { _ in .skip("not today") }
        let fallback = stage.noting("fallback").addDependency(operation, on: .failure)
        stage.run(operation, fallback)
        #expect(operation.ending == "skipped: not today")
        #expect(fallback.error?.outcome == .skipped)
        #expect(stage.ran.isEmpty)
    }

    @Test("A condition is evaluated when the dependencies have finished")
    func itIsAskedWhenTheDependenciesHaveFinished() {
        let stage = TestQueue()
        let source = stage.noting("source")
        let operation = stage.noting("body", after: source).addCondition("asked") { [log = stage.log] _ in
            log("condition")
            return .satisfied
        }
        stage.run(operation)
        #expect(stage.ran.isEmpty)
        #expect(operation.state == .waiting)
        stage.run(source)
        #expect(stage.ran == ["source", "condition", "body"])
    }

    @Test func aMissingInputIsFoundBeforeAnyConditionIsAsked() {
        let stage = TestQueue()
        let source = AsyncOperation<Int>("source") { throw Oops() }
        let reader = source.then { $0 + 1 }.addCondition("asked") { [log = stage.log] _ in
            log("condition")
            return .satisfied
        }
        reader.name = "reader"
        stage.run(source, reader)
        #expect(reader.ending == "needs source via source: failed: oops")
        #expect(stage.ran.isEmpty)
    }

    @Test func aPolicyThatIsNotMetComesFirst() {
        let stage = TestQueue()
        let source = stage.noting("source")
        let operation = stage.noting("body").addCondition("asked") { [log = stage.log] _ in
            log("condition")
            return .satisfied
        }
        operation.addDependency(source, on: .failure)
        stage.run(source, operation)
        #expect(stage.ran == ["source"])
        #expect(operation.error?.outcome == .skipped)
    }

    @Test func severalAreAskedTogether() async {
        let gates = [Gate(), Gate()]
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let operation = AsyncOperation { 1 }
        for gate in gates {
            operation.addCondition("gate") { _ in
                await gate.wait()
                return .satisfied
            }
        }
        queue.add(operation)
        for gate in gates { await gate.waitForWaiters(count: 1) }
        #expect(operation.state == .evaluating)
        for gate in gates { gate.open() }
        #expect(try! await operation.value == 1)
    }

    @Test func twoOfOneTypeBothCount() {
        struct Digit: OperationCondition {
            let number: Int
            func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
                number == 1 ? .satisfied : .skip("\(number)")
            }
        }
        let stage = TestQueue()
        let operation = stage.noting("body").addCondition(Digit(number: 1)).addCondition(Digit(number: 2))
        stage.run(operation)
        #expect(operation.ending == "skipped: 2")
    }

    @Test("The first condition that is not satisfied decides, whatever the others answer")
    func firstInTheOrderOfAdding() {
        let stage = TestQueue()
        let skipped = stage.noting("skipped")
            .addCondition("yes") { _ in .satisfied }
            .addCondition("skips") { _ in .skip("no") }
            .addCondition("fails") { _ in throw Oops() }
        let failed = stage.noting("failed")
            .addCondition("first") { _ in throw Oops(text: "first") }
            .addCondition("skips") { _ in .skip("no") }
            .addCondition("second") { _ in throw Oops(text: "second") }
        stage.run(skipped, failed)
        #expect([skipped, failed].map(\.ending) == ["skipped: no", "condition first: first"])
    }

    /// Two conditions that answer in the given order: the first skips, and the second fails.
    @Test("The order in which conditions answer does not decide", arguments: [[0, 1], [1, 0]], [true, false])
    func orderOfAnswers(_ order: [Int], heedsCancel: Bool) {
        let stage = TestQueue()
        let gates = [Gate(), Gate()]
        @Sendable func wait(_ number: Int) async throws {
            if heedsCancel { try await gates[number].waitUnlessCancelled() } else { await gates[number].wait() }
        }
        let operation = stage.noting("body")
            .addCondition("skips") { _ in
                try await wait(0)
                return .skip("no")
            }
            .addCondition("fails") { _ in
                try await wait(1)
                throw Oops()
            }
        stage.run(operation)
        for number in order {
            gates[number].open()
            stage.steps.runAll()
        }
        #expect(operation.ending == "skipped: no")
        #expect(stage.ran == [])
    }

    @Test("A condition that decides ends those that were added after it, and no other")
    func endOfOtherConditions() {
        let stage = TestQueue()
        let (early, late) = (Gate(), Gate())
        let operation = stage.noting("body")
            .addCondition("early") { [log = stage.log] _ in
                await early.wait()
                log("early, cancelled: \(Task.isCancelled)")
                return .satisfied
            }
            .addCondition("decides") { _ in .skip("no") }
            .addCondition("late") { [log = stage.log] _ in
                do { try await late.waitUnlessCancelled() } catch { log("late, cancelled: \(Task.isCancelled)") }
                return .satisfied
            }
        stage.run(operation)
        #expect(operation.state == .evaluating)
        #expect(stage.ran == [])
        early.open()
        stage.steps.runAll()
        #expect(stage.ran == ["early, cancelled: false", "late, cancelled: true"])
        #expect(operation.ending == "skipped: no")
    }

    @Test("A condition that awaits a dependent of its operation is a cycle", arguments: [1, 2])
    func oneThatAwaitsWhatDependsOnItsOperation(conditions: Int) {
        let stage = TestQueue()
        let operation = stage.noting("operation")
        let later = stage.noting("later", after: operation)
        for number in 0..<conditions {
            operation.addCondition("awaits \(number)") { _ in
                try await later.value
                return .satisfied
            }
        }
        stage.run(operation, later, stage.noting("beside"))
        #expect(later.error?.cycleNames == ["later", "operation"])
        #expect(operation.hasFinished)
        #expect(stage.ran == ["beside"])
    }

    @Test func noPermitIsHeldWhileItIsAsked() async {
        let gate = Gate()
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let asked = AsyncOperation { 1 }.addCondition("gate") { _ in
            await gate.wait()
            return .satisfied
        }
        queue.add(asked)
        await gate.waitForWaiters(count: 1)
        #expect(try! await queue.run(AsyncOperation { 2 }) == 2)
        gate.open()
        #expect(try! await asked.value == 1)
    }

    @Test("A condition that never returns delays no other operation")
    func oneThatNeverReturnsHoldsBackNobodyElse() async {
        let never = Gate()
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 2)
        let stuck = AsyncOperation("stuck") { 1 }.addCondition("never") { _ in
            await never.wait()
            return .satisfied
        }
        queue.add(stuck)
        for number in 0..<1_000 { #expect(try! await queue.run(AsyncOperation { number }) == number) }
        #expect(stuck.explain().roots.map(\.cause) == [.evaluating(conditions: ["never"])])
        #expect(
            "\(stuck.explain())"
                == "‘stuck’ waits for the answer of the condition ‘never’: its `evaluate` has not returned.")
        stuck.cancel()
        // The operation finishes when the evaluation has returned.
        #expect(stuck.state == .evaluating)
        never.open()
        await #expect(throws: OperationError.self) { try await stuck.value }
        #expect(stuck.ending == "cancelled on request")
    }

    @Test("A condition may cancel its own operation", arguments: [1, 64])
    func oneThatCancelsItsOwnOperation(width: Int) {
        let stage = TestQueue(width: width)
        let operation = stage.noting("body").addCondition("cancels") { operation in
            operation.cancel(reason: .because("of a whim"))
            #expect(Task.isCancelled)
            return .satisfied
        }
        stage.run(operation)
        // The cancelled operation has released its permit.
        stage.run(stage.noting("other"))
        #expect(operation.ending == "cancelled because of a whim")
        #expect(stage.ran == ["other"])
    }

    @Test func nothingIsAskedWhileTheQueueIsSuspended() {
        let stage = TestQueue(isSuspended: true)
        let operation = stage.noting("body").addCondition("asked") { [log = stage.log] _ in
            log("condition")
            return .satisfied
        }
        stage.run(operation)
        #expect(stage.ran.isEmpty)
        #expect(operation.state == .evaluating)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["condition", "body"])
    }

    @Test("If a condition is satisfied while the queue is suspended, the body waits until the queue is resumed")
    func oneThatAnswersWhileTheQueueIsSuspendedWaitsWithItsBody() {
        let stage = TestQueue()
        let operation = stage.noting("body").addCondition("suspends") { [queue = stage.queue] _ in
            queue.isSuspended = true
            return .satisfied
        }
        stage.run(operation)
        #expect(stage.ran.isEmpty)
        #expect(operation.state == .ready)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["body"])
    }

    @Test func aQueueReleasedWhileAConditionIsAskedAndSuspended() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = AsyncOperation("asked") { 1 }.addCondition("gate") { _ in
            await gate.wait()
            return .satisfied
        }
        do {
            let queue = AsyncOperationQueue(executor: stage.steps)
            queue.add(operation)
            stage.steps.runAll()
            queue.isSuspended = true
        }
        gate.open()
        stage.steps.runAll()
        #expect(operation.ending == "queueReleased")
    }

    @Test("Adding a condition after the operation was added is misuse")
    func itIsMisuseAfterTheAdd() {
        let stage = TestQueue(isSuspended: true)
        let operation = stage.noting("body")
        stage.run(operation)
        operation.addCondition("late") { _ in .skip("late") }
        #expect(stage.misuseKinds == [.changedAfterAdding("the condition ‘late’")])
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["body"])
    }

    @Test func itsCapturesAreReleasedWithTheOperation() {
        let tokens = Tokens()
        let stage = TestQueue()
        let operation = stage.noting("body").addCondition("captures") { [token = tokens.make()] _ in
            token.touch()
            return .satisfied
        }
        stage.run(operation)
        #expect(operation.ending == "success")
        #expect(tokens.alive == 0)
        let failing = stage.noting("body").addCondition("captures") { [token = tokens.make()] _ in
            token.touch()
            return .skip("no")
        }
        stage.run(failing)
        #expect(failing.ending == "skipped: no")
        #expect(tokens.alive == 0)
        let cancelled = stage.noting("body").addCondition("captures") { [token = tokens.make()] _ in
            token.touch()
            return .satisfied
        }
        cancelled.cancel()
        #expect(tokens.alive == 0)
    }

    @Test func handlersAreToldOfTheStartAfterTheConditions() {
        let stage = TestQueue()
        let operation = stage.noting("body").addCondition("yes") { [log = stage.log] _ in
            log("condition")
            return .satisfied
        }
        let skipped = stage.noting("skipped").addCondition("no") { _ in .skip("no") }
        operation.didStart { [log = stage.log] in log("started") }
        skipped.didStart { [log = stage.log] in log("never") }
        skipped.didFinish { [log = stage.log] _ in log("finished") }
        stage.run(operation, skipped)
        #expect(Set(stage.ran) == ["condition", "started", "body", "finished"])
    }

    /// Another operation holds the permit when the conditions have answered.
    @Test("An operation that is cancelled during the evaluation is not listed again")
    func oneThatIsCancelledWhileItIsEvaluatedIsNotListedAgain() {
        let stage = TestQueue(width: 1)
        let (gate, busy) = (Gate(), Gate())
        let operation = stage.noting("body").addCondition("slow") { _ in
            await gate.wait()
            return .satisfied
        }
        stage.run(operation)
        stage.run(stage.waiting("other", at: busy))
        operation.cancel()
        gate.open()
        stage.steps.runAll()
        #expect(operation.ending == "cancelled on request")
        busy.open()
        stage.steps.runAll()
        #expect(stage.ran == ["other"])
    }
}
