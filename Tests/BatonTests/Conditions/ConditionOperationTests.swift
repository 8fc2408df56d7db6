import BatonTesting
import Testing

@testable import Baton

/// A condition that brings an operation along.
private struct Brings: OperationCondition {
    var name = "brings"
    var exclusions: [Exclusion] = []
    let bring: @Sendable (AnyOperation) -> AnyOperation?

    func dependency(for operation: AnyOperation) -> AnyOperation? { bring(operation) }

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
}

/// Tests of the operations that conditions bring along.
@Suite(.timeLimit(.minutes(10))) struct ConditionOperationTests {
    @Test("The dependency of a condition runs before the evaluation and the body")
    func itRunsBeforeTheEvaluationAndTheBody() {
        struct Asks: OperationCondition {
            let log: EventLog<String>
            func dependency(for operation: AnyOperation) -> AnyOperation? {
                AsyncOperation("request") { [log] in log("request") }
            }
            func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
                log("evaluate")
                return .satisfied
            }
        }
        let stage = TestQueue(width: 1)
        let operation = stage.noting("body").addCondition(Asks(log: stage.log))
        stage.run(operation)
        #expect(stage.ran == ["request", "evaluate", "body"])
        #expect(operation.ending == "success")
    }

    @Test func severalRunSideBySide() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = stage.noting("body")
            .addCondition(Brings { _ in stage.waiting("one", at: gate) })
            .addCondition(Brings { _ in stage.waiting("two", at: gate) })
        stage.run(operation)
        #expect(stage.ran == ["one", "two"])
        #expect(operation.explain().waitsFor.map(\.name) == ["one", "two"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["one", "two", "body"])
    }

    @Test("A condition fails if its dependency fails")
    func oneThatFailsFailsTheCondition() {
        let stage = TestQueue()
        let operation = stage.noting("body").addCondition(
            Brings { _ in AsyncOperation<Void>("request") { throw Oops() } })
        stage.run(operation)
        #expect(operation.ending == "condition brings: oops")
        #expect(operation.error?.underlyingError as? Oops == Oops())
        #expect(
            operation.error?.description
                == "the condition ‘brings’ failed: its operation ‘request’ failed: oops")
        #expect(stage.ran.isEmpty)
    }

    @Test("The error of a condition says what became of its dependency")
    func errorsNameTheOutcomeOfItsDependency() {
        let stage = TestQueue()
        let cancelled = stage.noting("cancelled")
        cancelled.cancel()
        let failed = AsyncOperation<Int>("failed") { throw Oops() }
        let expected: [(AnyOperation, String)] = [
            (cancelled, "‘cancelled’ was cancelled on request"),
            (
                stage.noting("skipped").addCondition("no") { _ in .skip("up to date") },
                "‘skipped’ was skipped by a condition: up to date"
            ),
            (failed.then { $0 + 1 }.name("reader"), "‘reader’ has no output, because ‘failed’ failed: oops"),
        ]
        for (dependency, text) in expected {
            let operation = stage.noting("body").addCondition(Brings { _ in dependency })
            stage.run(operation)
            let error = "\(operation.error!)"
            #expect(error.hasPrefix("the condition ‘brings’ failed: its operation \(text)"), "\(error)")
        }
        var late = AsyncOperation("late") {}.reference
        late.isOfCondition = true
        let error = OperationError.timedOut(after: .seconds(3)).asDependencyFailure(via: late)
        #expect("\(error)" == "its operation ‘late’ timed out after 3.0 seconds")
    }

    @Test("A condition fails if its dependency was cancelled")
    func oneThatWasCancelledFailsTheCondition() {
        let stage = TestQueue()
        let request = stage.noting("request")
        request.cancel()
        let operation = stage.noting("body").addCondition(Brings { _ in request })
        stage.run(operation)
        #expect(operation.ending == "condition brings: cancelled on request")
        #expect(stage.ran.isEmpty)
    }

    @Test("A condition's dependency that was added before is only awaited")
    func oneThatWasAddedBeforeIsAwaited() {
        let stage = TestQueue()
        let gate = Gate()
        let request = stage.waiting("request", at: gate)
        stage.run(request)
        let operation = stage.noting("body").addCondition(Brings { _ in request })
        stage.run(operation)
        #expect(stage.ran == ["request"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["request", "body"])
        let late = stage.noting("late").addCondition(Brings { _ in request })
        stage.run(late)
        #expect(late.ending == "success")
        #expect(stage.misuses.events.isEmpty)
    }

    @Test("A condition's dependency that depends on the operation itself is a cycle", arguments: [1, 2])
    func oneThatDependsOnTheOperationItself(width: Int) {
        let stage = TestQueue(width: width)
        let operation = stage.noting("operation")
            .addCondition(Brings { operation in stage.noting("request", after: operation) })
        stage.run(operation, stage.noting("beside"))
        #expect(operation.error?.cycleNames == ["operation", "request"])
        #expect(stage.ran == ["beside"])
        #expect(stage.queue.operationCount == 0)
    }

    @Test func theOperationItself() {
        let stage = TestQueue()
        let operation = stage.noting("operation").addCondition(Brings { $0 })
        stage.run(operation, stage.noting("beside"))
        #expect(operation.error?.cycleNames == ["operation"])
        #expect(stage.ran == ["beside"])
    }

    @Test("A condition's dependency whose body awaits the operation is a cycle")
    func oneWhoseBodyAwaitsTheOperation() {
        let stage = TestQueue()
        let operation = stage.noting("operation")
        let request = AsyncOperation("request") { try await operation.value }
        operation.addCondition(Brings { _ in request })
        stage.run(operation, stage.noting("beside"))
        #expect(stage.queue.operationCount == 0)
        #expect(stage.ran == ["beside"])
        #expect(operation.hasFinished && request.hasFinished)
    }

    @Test("The dependencies of a condition's dependency are added with it")
    func itNeedsWhatNobodyHasAdded() {
        let stage = TestQueue()
        let operation = stage.noting("body")
            .addCondition(Brings { _ in stage.noting("request", after: stage.noting("first")) })
        stage.run(operation)
        #expect(stage.ran == ["first", "request", "body"])
    }

    @Test("Cancelling an operation cancels the dependencies of its conditions")
    func itIsCancelledWithTheOperation() {
        let stage = TestQueue()
        let gate = Gate()
        let request = stage.waiting("request", at: gate)
        let operation = stage.noting("body").addCondition(Brings { _ in request })
        stage.run(operation)
        operation.cancel()
        #expect(request.isCancelled)
        stage.steps.runAll()
        #expect(operation.state == .evaluating)
        gate.open()
        stage.steps.runAll()
        #expect(operation.ending == "cancelled on request")
        #expect(stage.ran == ["request"])
    }

    @Test("A condition's dependency does not run if the condition cancels the operation")
    func itDoesNotRunIfTheConditionCancelsTheOperation() {
        let stage = TestQueue()
        let request = stage.noting("request")
        let operation = stage.noting("body").addCondition(
            Brings { operation in
                operation.cancel()
                return request
            })
        stage.run(operation)
        #expect(operation.ending == "cancelled on request")
        #expect(request.ending == "cancelled with ‘body’, its parent")
        #expect(stage.ran.isEmpty)
    }

    @Test("A condition's dependency that has begun finishes while the queue is suspended")
    func itRunsInASuspendedQueueOnceItWasBegun() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = stage.noting("body")
            .addCondition(Brings { _ in stage.noting("second", after: stage.waiting("first", at: gate)) })
        stage.run(operation)
        stage.queue.isSuspended = true
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["first", "second"])
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["first", "second", "body"])
    }

    @Test("A condition's dependency runs while the condition's exclusions are held")
    func itRunsUnderTheNamesOfItsCondition() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = stage.noting("body").addCondition(
            Brings(exclusions: [.mutuallyExclusive("x in ConditionOperationTests")]) { _ in
                stage.waiting("request", at: gate)
            })
        let other = stage.noting("other").addCondition(.mutuallyExclusive("x in ConditionOperationTests"))
        stage.run(operation, other)
        #expect(stage.ran == ["request"])
        gate.open()
        stage.steps.runAll()
        #expect(Set(stage.ran) == ["request", "other", "body"])
    }
}
