// Statements of AOperation, ‘Basics’
//
// The error: where it arose, who published it, and what caused it.
//
// Test names begin with the number of their statement in Documentation/Precedents.md.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

private final class AccessDenied: Error, CustomStringConvertible {
    let description = "access denied"
}

/// A condition of AOperation that needs no other operation.
private struct UserAccessCondition: OperationCondition {
    let denial: AccessDenied?

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        if let denial { throw denial }
        return .satisfied
    }
}

private struct LikeComment: Procedure {
    let failure: AccessDenied?

    func execute(in context: OperationContext) async throws -> Int {
        if let failure { throw failure }
        return 1
    }
}

@Suite(.timeLimit(.minutes(10))) struct AOperation_Errors {
    private let stage = TestQueue()
    private let denial = AccessDenied()

    /// Runs an operation that its condition denies, or that fails by itself.
    private func like(isDenied: Bool) -> AsyncOperation<Int> {
        let operation = AsyncOperation(LikeComment(failure: isDenied ? nil : denial))
            .addCondition(UserAccessCondition(denial: isDenied ? denial : nil))
        stage.run(operation)
        return operation
    }

    @Test func AOperation_20_theStageIsThatOfTheConditionOrOfTheExecution() {
        #expect(like(isDenied: true).error?.stage == .condition)
        #expect(like(isDenied: false).error?.stage == .execution)
    }

    /// A caller that has the operation needs no name for its own error. Other callers get the name of the publisher.
    @Test func AOperation_21_thePublisherIsCalledAfterItsType() {
        #expect(like(isDenied: true).error?.publisher == "UserAccessCondition")
        let own = like(isDenied: false)
        #expect(own.error?.publisher == nil)
        #expect(own.name == "LikeComment")
        let reader = own.then { _ in }
        let group = GroupOperation(AsyncOperation(LikeComment(failure: denial)))
        stage.run(reader, group)
        #expect(reader.error?.publisher == "LikeComment")
        #expect(group.error?.publisher == "LikeComment")
    }

    @Test func AOperation_21_anotherNameMayBeGiven() {
        let operation = AsyncOperation(LikeComment(failure: denial))
        operation.name = "like"
        let reader = operation.then { _ in }
        let conditional = stage.noting("not run").addCondition("has access") { [denial] _ in throw denial }
        stage.run(operation, reader, conditional)
        #expect(reader.error?.publisher == "like")
        #expect(conditional.error?.publisher == "has access")
    }

    @Test func AOperation_22_thePublishedErrorIsTheOriginalOne() {
        let reader = AsyncOperation(LikeComment(failure: denial)).then { _ in }.add(to: stage.queue)
        stage.steps.runAll()
        for operation in [like(isDenied: true), like(isDenied: false), reader] as [AnyOperation] {
            #expect(operation.error?.underlyingError as? AccessDenied === denial)
        }
    }

    /// The description is that of the original error. The name of the publisher precedes it if that is not the
    /// operation itself.
    @Test func AOperation_22_theDescriptionPassesThrough() {
        #expect(like(isDenied: false).error.map { "\($0)" } == "access denied")
        #expect(
            like(isDenied: true).error.map { "\($0)" }
                == "the condition ‘UserAccessCondition’ failed: access denied")
    }

    @Test func AOperation_23_aCancelIsAnErrorOfItsOwn() {
        let before = stage.noting("before")
        before.cancel()
        let gate = Gate()
        let during = AsyncOperation("during") {
            await gate.wait()
            try Task.checkCancellation()
        }
        stage.run(before, during)
        during.cancel()
        gate.open()
        stage.steps.runAll()
        for operation in [before, during] {
            guard case .cancelled(.requested)? = operation.error else {
                Issue.record("\(operation.ending)")
                continue
            }
            #expect(operation.error?.stage == .cancellation)
        }
    }

    /// AOperation's `ReceivedValueIsNil`. Bodies can throw it, and `unwrapped()` does.
    @Test func AOperation_23_anInputThatIsMissingIsAnErrorOfItsOwn() {
        let nothing = AsyncOperation<Int?>("nothing") { nil }
        let byHand = nothing.then { number in
            guard let number else { throw OperationError.inputMissing }
            return number
        }
        let unwrapped: AsyncOperation<Int> = nothing.unwrapped()
        stage.run(nothing, byHand, unwrapped)
        for operation in [byHand, unwrapped] {
            guard case .inputMissing? = operation.error else {
                Issue.record("\(operation.ending)")
                continue
            }
        }
    }
}
