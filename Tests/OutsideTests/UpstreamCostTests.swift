import Baton
import BatonTesting
import Testing

/// Tests the cost of the waits that a body has at the same time because of the sequences that it iterates.
@Suite("Many waits of a body that iterates", .serialized, .timeLimit(.minutes(10)))
struct UpstreamCostTests {
    /// A sequence with one element, which comes when all operations have finished.
    private struct Waiting: AsyncSequence, Sendable {
        let operations: [AsyncOperation<Void>]

        struct Iterator: AsyncIteratorProtocol {
            var operations: [AsyncOperation<Void>]?

            mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Int? {
                guard let operations = operations.take() else { return nil }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for operation in operations { group.addTask { try await operation.value } }
                    try await group.waitForAll()
                }
                return operations.count
            }
        }

        func makeAsyncIterator() -> Iterator { Iterator(operations: operations) }
    }

    @Test("Upstream that awaits very many operations at once takes time in proportion")
    func waitsOfUpstream() async throws {
        try await within {
            await expectNearlyLinear(1_000) { count in
                let (queue, other, gate) = (AsyncOperationQueue(), AsyncOperationQueue(), Gate())
                let first = other.add("first") { await gate.wait() }
                let operations = (0..<count).map { _ in AsyncOperation {}.addDependency(first) }
                other.add(operations)
                let body = queue.add("body") {
                    var count = 0
                    for try await part in Waiting(operations: operations).deliver(on: queue, { part in part }) {
                        count += part
                    }
                    return count
                }
                await eventually { body.explain().waitsFor.count == count }
                gate.open()
                #expect(try! await body.value == count)
                await other.waitUntilIdle()
            }
        }
    }
}
