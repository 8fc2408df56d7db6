// Statements of AOperation, ‘Basics’
//
// The delegate and the queue.
//
// Test names begin with the number of their statement in Documentation/Precedents.md.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

/// AOperation's `OperationDelegateManager`.
private final class OperationDelegateManager: OperationDelegate {
    let log = EventLog<String>()

    func operationDidStart(_ operation: OperationReference) async { log("\(operation.name) starts") }

    func operationDidFinish(_ operation: OperationReference, error: OperationError?) async {
        log("\(operation.name) finishes\(error.map { " with \($0)" } ?? "")")
    }
}

private final class Silent: OperationDelegate {}

private final class OnlyFinishes: OperationDelegate {
    let log = EventLog<String>()

    func operationDidFinish(_ operation: OperationReference, error: OperationError?) async { log(operation.name) }
}

private struct UserAccess: OperationCondition {
    let log: EventLog<String>
    let exclusions: [Exclusion]

    /// Names belong to the whole process, so each test uses its own.
    init(log: EventLog<String>, for test: String = #function) {
        self.log = log
        exclusions = [.mutuallyExclusive("access for \(test)")]
    }

    func dependency(for operation: AnyOperation) -> AnyOperation? {
        AsyncOperation("request") { [log] in log("request") }
    }

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
}

@Suite(.timeLimit(.minutes(10))) struct AOperation_DelegateAndQueue {
    private let stage = TestQueue()

    @Test func AOperation_10_theDelegateIsToldOfStartAndFinish() {
        let delegate = OperationDelegateManager()
        let good = AsyncOperation("good") {}
        let bad = AsyncOperation<Void>("bad") { throw Oops() }
        for operation in [good, bad] {
            operation.delegate = delegate
            stage.run(operation)
        }
        #expect(delegate.log.events == ["good starts", "good finishes", "bad starts", "bad finishes with oops"])
    }

    @Test func AOperation_10_bothMethodsAreOptional() {
        let (silent, half) = (Silent(), OnlyFinishes())
        let first = stage.noting("first")
        let second = stage.noting("second")
        first.delegate = silent
        second.delegate = half
        stage.run(first, second)
        #expect(stage.ran == ["first", "second"])
        #expect(half.log.events == ["second"])
    }

    @Test func AOperation_10_theDelegateIsNotRetained() {
        let operation = stage.noting("operation")
        var delegate: OperationDelegateManager? = OperationDelegateManager()
        let log = delegate!.log
        operation.delegate = delegate
        weak let seen = delegate
        delegate = nil
        #expect(seen == nil)
        stage.run(operation)
        #expect(stage.ran == ["operation"])
        #expect(log.events == [])
    }

    /// The delegate is also called for operations that never ran, and for operations that the queue added itself.
    @Test func AOperation_11_theQueueTellsItsDelegateOfEveryCompletion() {
        let delegate = OnlyFinishes()
        stage.queue.delegate = delegate
        let cancelled = stage.noting("cancelled")
        let failed = AsyncOperation<Int>("failed") { throw Oops() }
        let reader = failed.then { _ in }
        reader.name = "reader"
        let skipped = stage.noting("skipped").addCondition("no") { _ in .skip("no") }
        let group = GroupOperation("group", stage.noting("child"))
        let producer = AsyncOperation("producer") { [stage] context in
            _ = try context.produce(stage.noting("product"))
        }
        let conditional = stage.noting("conditional").addCondition(UserAccess(log: stage.log))
        stage.queue.isSuspended = true
        stage.queue.add([cancelled, failed, reader, skipped, group, producer, conditional])
        cancelled.cancel()
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(
            delegate.log.events.sorted() == [
                "cancelled", "child", "conditional", "failed", "group", "producer", "product", "reader", "request",
                "skipped",
            ])
        #expect(stage.queue.operationCount == 0)
    }

    @Test func AOperation_11_theQueueRunsWhatConditionsBringAlong() {
        stage.run(stage.noting("operation").addCondition(UserAccess(log: stage.log)))
        #expect(stage.ran == ["request", "operation"])
    }

    @Test func AOperation_11_theQueueKeepsApartWhatExcludesItself() {
        let gate = Gate()
        let first = stage.waiting("first", at: gate).addCondition(UserAccess(log: stage.log))
        let second = stage.noting("second").addCondition(UserAccess(log: stage.log))
        stage.run(first)
        stage.run(second)
        #expect(stage.ran == ["request", "first"], "The second one cannot even ask.")
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["request", "first", "request", "second"])
    }

    @Test func AOperation_12_bothWaysOfAddingAreTheSame() {
        let first = stage.noting("first")
        let second = stage.noting("second")
        stage.queue.add(first)
        let same = second.add(to: stage.queue)
        #expect(same === second)
        #expect(Set(stage.queue.operations) == [first, second])
        stage.steps.runAll()
        #expect(stage.ran == ["first", "second"])
        #expect(stage.misuseKinds == [])
    }

    @Test func AOperation_12_thereIsOneSharedQueue() async throws {
        let sample = AsyncOperation("sample") { context in context.operation.core === AsyncOperationQueue.shared.core }
            .add(to: .shared)
        #expect(try await sample.value)
    }
}
