import Baton
import BatonTesting
import Testing

/// Tests the cost of operations that replace one another behind a graph that has not finished.
@Suite(.timeLimit(.minutes(10)), .serialized) struct ReplacementCostTests {
    /// A graph that does not finish before the gate is opened, from the operation on which others depend to its
    /// sources.
    enum Shape: CaseIterable {
        case chain, fan

        func graph(of size: Int, behind gate: Gate) -> [AnyOperation] {
            func wait() -> AnyOperation { AsyncOperation("source") { await gate.wait() } }
            switch self {
            case .chain:
                var chain = [wait()]
                for _ in 1..<size { chain.append(AsyncOperation {}.addDependency(chain.last!)) }
                return chain.reversed()
            case .fan:
                let sources = (1..<size).map { _ in wait() }
                let last = AsyncOperation {}
                for source in sources { last.addDependency(source) }
                return [last] + sources
            }
        }
    }

    @Test("Replacing operations behind a shared graph take time in proportion", arguments: Shape.allCases)
    func behindSharedGraph(shape: Shape) async throws {
        try await within {
            await expectNearlyLinear(1_000) { size in
                let (queue, gate) = (AsyncOperationQueue(), Gate())
                let graph = shape.graph(of: size, behind: gate)
                queue.add(graph)
                let operations = (0..<size).map { _ in replacing("shared \(shape)").addDependency(graph[0]) }
                for operation in operations { queue.add(operation) }
                gate.open()
                await queue.waitUntilIdle()
                #expect(operations.count { $0.error == nil } == 1)
            }
        }
    }

    @Test("So do operations that have brought the shared graph along", arguments: Shape.allCases)
    func behindGraphBroughtAlong(shape: Shape) async throws {
        try await within {
            await expectNearlyLinear(1_000) { size in
                let (queue, gate) = (AsyncOperationQueue(), Gate())
                let graph = shape.graph(of: size, behind: gate)
                let operations = (0..<size).map { _ in replacing("brought \(shape)").addDependency(graph[0]) }
                for operation in operations { operation.add(to: queue, includingDependencies: true) }
                gate.open()
                await queue.waitUntilIdle()
                #expect(operations.count { $0.error == nil } == 1)
                #expect(graph.allSatisfy { $0.error == nil })
            }
        }
    }

    private func replacing(_ key: String) -> AsyncOperation<Void> {
        AsyncOperation {}.unique(by: key, in: "ReplacementCostTests", policy: .replace)
    }
}
