import BatonTesting
import Testing

@testable import Baton

/// Tests of cancellations from different places and at different times.
@Suite(.timeLimit(.minutes(10))) struct CancelTests {
    private let stage = TestQueue(width: 1)

    @Test func fromInsideTheBody() {
        let throwing = AsyncOperation<Void>("throwing") { context in
            context.operation.cancel(reason: .because("of rain"))
            try Task.checkCancellation()
        }
        let returning = AsyncOperation("returning") { context in context.operation.cancel() }
        stage.run(throwing, returning, stage.noting("next"))
        #expect(throwing.ending == "cancelled because of rain")
        #expect(returning.ending == "success")
        #expect(returning.isCancelled)
        #expect(stage.ran == ["next"])
    }

    @Test func fromDidFinish() {
        let operation = stage.noting("operation")
        let other = stage.noting("other")
        other.addDependency(stage.noting("missing"))
        operation.didFinish { _ in
            operation.cancel()
            other.cancel()
        }
        stage.run(operation, other)
        #expect(operation.ending == "success")
        #expect(!operation.isCancelled)
        #expect(other.ending == "cancelled on request")
    }

    @Test func fromADependent() {
        let source = stage.noting("source")
        let later = stage.noting("later")
        let dependent = AsyncOperation("dependent") {
            source.cancel()
            later.cancel()
        }
        dependent.addDependency(source)
        later.addDependency(dependent)
        stage.run(source, dependent, later)
        #expect([source, dependent, later].map(\.ending) == ["success", "success", "cancelled on request"])
        #expect(!source.isCancelled)
    }

    @Test func twiceTheFirstReasonStays() {
        let waiting = stage.noting("waiting", after: stage.noting("missing"))
        stage.run(waiting)
        waiting.cancel(reason: .because("of rain"))
        waiting.cancel(reason: .because("of snow"))
        #expect(waiting.ending == "cancelled because of rain")
        let gate = Gate()
        let running = AsyncOperation<Void>("running") { try await gate.waitUnlessCancelled() }
        stage.run(running)
        running.cancel(reason: .because("of rain"))
        running.cancel()
        stage.steps.runAll()
        #expect(running.ending == "cancelled because of rain")
    }

    @Test func afterTheFinish() {
        let operation = AsyncOperation("operation") { 7 }
        stage.run(operation)
        operation.cancel()
        #expect(try! operation.result?.get() == 7)
        #expect(!operation.isCancelled)
    }

    @Test func beforeTheAdd() {
        let operation = stage.noting("operation")
        let dependent = stage.noting("dependent", after: operation)
        operation.cancel()
        #expect(operation.ending == "cancelled on request")
        stage.run(operation, dependent)
        #expect(stage.ran == ["dependent"])
        #expect(stage.misuseKinds == [])
        #expect(stage.queue.operationCount == 0)
    }

    @Test func beforeTheAddItsHandlersAreCalledOnce() async {
        let handled = EventLog<String>()
        let operation = AsyncOperation {}
        operation.didFinish { handled("\($0)") }
        operation.cancel()
        await handled.waitForCount(1)
        stage.run(operation)
        #expect(handled.count == 1)
    }

    @Test func whileItsDependenciesAreUnfinishedOnAnotherQueue() {
        let gate = Gate()
        let other = TestQueue(on: stage.steps)
        let source = stage.waiting("source", at: gate)
        other.run(source)
        let waiting = stage.noting("waiting", after: source)
        stage.run(waiting)
        waiting.cancel()
        #expect(waiting.ending == "cancelled on request")
        #expect(stage.queue.operationCount == 0)
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["source"])
    }

    /// An `onCancel` handler belongs to the user, runs inside `cancel()`, and may cancel other operations.
    @Test func fromAnOnCancelHandler() {
        let gate = Gate()
        let count = 100
        let operations = EventLog<AsyncOperation<Void>>()
        let wide = TestQueue(width: count, on: stage.steps)
        for number in 0..<count {
            operations(
                AsyncOperation("\(number)") {
                    try await withTaskCancellationHandler {
                        try await gate.waitUnlessCancelled()
                    } onCancel: {
                        let all = operations.events
                        if number + 1 < all.count { all[number + 1].cancel(reason: .because("of \(number)")) }
                    }
                })
        }
        wide.queue.add(operations.events)
        wide.steps.runAll()
        operations.events[0].cancel()
        #expect(operations.events.allSatisfy { $0.isCancelled }, "Before the first call of `cancel` has returned.")
        wide.steps.runAll()
        #expect(operations.events.last?.ending == "cancelled because of 98")
    }
}
