import Baton
import BatonTesting
import Testing

/// Tests the cost of operations that have very many rates.
@Suite(.timeLimit(.minutes(10)), .serialized) struct RateCostTests {
    @Test("An operation with very many rates takes time in proportion")
    func manyRates() async throws {
        try await within {
            await expectNearlyLinear(1_000) { count in
                let operation = limited(by: count)
                let queue = AsyncOperationQueue(clock: TestClock())
                queue.add(operation)
                await queue.waitUntilIdle()
                #expect(operation.error == nil)
            }
        }
    }

    @Test("So does an operation that waits for its turn at very many rates")
    func waitingForManyRates() async throws {
        try await within {
            await expectNearlyLinear(1_000) { count in
                let clock = TestClock()
                let queue = AsyncOperationQueue(clock: clock)
                let (first, second) = (limited(by: count), limited(by: count))
                queue.add(first)
                _ = try? await first.value
                queue.add(second)
                await clock.waitForSleepers(count: 1)
                clock.advance(by: .seconds(1))
                await queue.waitUntilIdle()
                #expect(second.error == nil)
            }
        }
    }

    /// Makes an operation whose rates count on the clock of its queue.
    private func limited(by count: Int) -> AsyncOperation<Void> {
        let operation = AsyncOperation {}
        for number in 0..<count { operation.addCondition(.rate("RateCostTests \(number)", 1, per: .seconds(1))) }
        return operation
    }
}
