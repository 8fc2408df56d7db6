import Baton
import Synchronization

/// Layers of operations, each of which depends on three operations of the previous layer.
struct Layers {
    let all: [AnyOperation]

    init(_ size: Int, layers count: Int = 20) {
        var layers: [[AsyncOperation<Void>]] = []
        let width = size / count
        for _ in 0..<count {
            let layer = (0..<width).map { index in
                let operation = AsyncOperation {}
                if let last = layers.last {
                    for offset in [0, 13, 26] { operation.addDependency(last[(7 * index + offset) % width]) }
                }
                return operation
            }
            layers.append(layer)
        }
        all = Array(layers.joined())
    }
}

/// Returns ten consecutive graphs, each a tree that converges in one operation and branches out again.
func hourglasses(of size: Int) -> [AnyOperation] {
    let half = size / 20
    var all: [AnyOperation] = []
    var ends: [AsyncOperation<Void>] = []
    for _ in 0..<10 {
        // The operation at index i depends on those at 2i + 1 and 2i + 2.
        let upper = (0..<half).map { _ in AsyncOperation {} }
        for index in 1..<half { upper[(index - 1) / 2].addDependency(upper[index]) }
        if let end = ends.last { upper[half - 1].addDependency(end) }
        // The operation at index i depends on the one at (i - 1) / 2.
        let lower = (0..<half).map { _ in AsyncOperation {} }
        lower[0].addDependency(upper[0])
        for index in 1..<half { lower[index].addDependency(lower[(index - 1) / 2]) }
        ends = lower
        all += upper + lower
    }
    return all
}

extension AnyOperation {
    /// True if the operation has failed because of a cycle.
    var isOnCycle: Bool { cycle != nil }

    /// The cycle because of which the operation has failed.
    var cycle: [OperationReference]? {
        if case .dependencyCycle(let path)? = error { path } else { nil }
    }
}

/// A counter that several tasks can increment.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    func increment() { count.add(1, ordering: .relaxed) }
}
