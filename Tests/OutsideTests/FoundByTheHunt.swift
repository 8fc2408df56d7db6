import Baton
import BatonTesting
import Testing

/// What `make hunt` has found, made small.
@Suite("What the hunt has found", .timeLimit(.minutes(10)))
struct FoundByTheHunt {
    @Test("One that nobody has added, and that is cancelled, says that it waits for its willFinish handlers")
    func explanationOfOneThatWasNeverAdded() async throws {
        try await within {
            let gate = Gate()
            let operation = AsyncOperation("cancelled") {}.willFinish { _ in await gate.wait() }
            operation.cancel()
            await gate.waitForWaiters(count: 1)
            #expect(operation.explain().description == "‘cancelled’ waits for its willFinish handlers.")
            gate.open()
        }
    }
}
