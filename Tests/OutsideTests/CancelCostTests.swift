import Baton
import BatonTesting
import Testing

/// Tests the cost of cancellations that include dependencies.
@Suite("Cancellations that include dependencies take time in proportion to what they cancel", .serialized)
struct CancelCostTests {
    /// The dependencies that all readers share, from the operation that the readers read to its sources.
    enum Shape: CaseIterable {
        case chain, fan

        func graph(of size: Int) -> [AnyOperation] {
            switch self {
            case .chain:
                var chain: [AnyOperation] = [AsyncOperation {}]
                for _ in 1..<size { chain.append(AsyncOperation {}.addDependency(chain.last!)) }
                return chain.reversed()
            case .fan:
                let sources = (1..<size).map { _ in AsyncOperation {} }
                let last = AsyncOperation {}
                for source in sources { last.addDependency(source) }
                return [last] + sources
            }
        }
    }

    @Test("The readers of one graph are cancelled one by one", arguments: Shape.allCases)
    func readersOfOneGraph(shape: Shape) async throws {
        try await within(.seconds(300)) {
            await expectNearlyLinear(1_000) { size in
                let queue = AsyncOperationQueue(isSuspended: true)
                let graph = shape.graph(of: size)
                let readers = (0..<size).map { _ in AsyncOperation {}.addDependency(graph[0]) }
                queue.add(graph + readers)
                for reader in readers.dropLast() { reader.cancel(includingDependencies: true) }
                #expect(!graph.contains { $0.isCancelled })
                readers.last?.cancel(includingDependencies: true)
                #expect(graph.allSatisfy { $0.isCancelled })
            }
        }
    }

    @Test("Every operation of a layer depends on every operation of the next")
    func layers() async throws {
        try await within(.seconds(300)) {
            await expectNearlyLinear(20) { size in
                let queue = AsyncOperationQueue(isSuspended: true)
                var layers: [[AnyOperation]] = [[AsyncOperation {}]]
                for _ in 0..<size {
                    let layer = (0..<20).map { _ in AsyncOperation {} }
                    for operation in layers.last! { for source in layer { operation.addDependency(source) } }
                    layers.append(layer)
                }
                queue.add(layers.flatMap { $0 })
                layers[0][0].cancel(includingDependencies: true)
                #expect(layers.allSatisfy { $0.allSatisfy(\.isCancelled) })
            }
        }
    }
}
