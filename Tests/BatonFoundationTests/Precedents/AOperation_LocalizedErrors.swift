import Baton
import BatonFoundation
import Foundation
import Testing

/// The statements of AOperation about errors that need Foundation.
@Suite(.timeLimit(.minutes(10))) struct AOperation_LocalizedErrors {
    struct AccessDenied: LocalizedError {
        var errorDescription: String? { "You may not do this." }
        var failureReason: String? { "You are a guest." }
        var recoverySuggestion: String? { "Sign in." }
        var helpAnchor: String? { "guests" }
    }

    private let queue = AsyncOperationQueue()
    private let denial = AccessDenied()

    private func error(of operation: AnyOperation) async -> OperationError? {
        operation.add(to: queue)
        await queue.waitUntilIdle()
        return operation.error
    }

    @Test func AOperation_22_theLocalizedDescriptionPassesThrough() async {
        let denial = denial
        let failing = AsyncOperation<Int>("failing") { throw denial }
        let conditional = AsyncOperation("conditional") { 1 }.addCondition("has access") { _ in throw denial }
        let reader = AsyncOperation<Int>("source") { throw denial }.then { $0 }.then { $0 }
        let group = GroupOperation(AsyncOperation<Int>("child") { throw denial })
        for operation in [failing, conditional, reader, group] as [AnyOperation] {
            let error = await error(of: operation)
            #expect(error?.localizedDescription == "You may not do this.")
            #expect(error?.localizedDescription == error?.underlyingError?.localizedDescription)
            #expect(error?.failureReason == "You are a guest.")
            #expect(error?.recoverySuggestion == "Sign in.")
            #expect(error?.helpAnchor == "guests")
        }
    }

    @Test func AOperation_22_withoutAnOriginalErrorItIsTheDescription() async {
        let operation = AsyncOperation("cancelled") { 1 }
        operation.cancel(reason: .because("of a whim"))
        let error = await error(of: operation)
        #expect(error?.localizedDescription == "cancelled because of a whim")
        #expect(error?.failureReason == nil)
        #expect((error as (any Error)?)?.localizedDescription == "cancelled because of a whim")
    }

    @Test func anErrorWithoutWordsOfItsOwnSaysWhatFoundationSays() async {
        let operation = AsyncOperation<Int>("failing") { throw Oops() }
        let error = await error(of: operation)
        #expect(error?.localizedDescription == Oops().localizedDescription)
    }
}
