import Baton
import BatonTesting
import Testing

/// Measures a graph of a certain shape, order of adding and trait: four times as many operations must not take sixteen
/// times as long.
struct HuntGrowth: Sendable, CustomStringConvertible {
    enum Shape: CaseIterable {
        case independent, chain, fanOut, fanIn, layers, tree, reversedTree, hourglasses, grid, ring, sparse
    }

    enum Order: CaseIterable {
        case topological, reversed, random
    }

    enum Way: CaseIterable {
        case oneByOne, atOnce, suspended, twoQueues
    }

    enum Trait: CaseIterable {
        case none, retry, exclusion, limited, timeout, waitingLimit, unique, joined, condition, priority, progress
        case willFinish, handlers, policies, children, nestedNames, awaitsShared, childTasks, group, cancelled, narrow
        case asked, cancelledRuns, sequence, removedDependency
    }

    let seed: UInt64
    let shape: Shape
    let order: Order
    let way: Way
    let trait: Trait

    init(seed: UInt64) {
        self.seed = seed
        // Each pair of a shape and a trait occurs once in as many seeds as there are pairs.
        let (shapes, traits) = (UInt64(Shape.allCases.count), UInt64(Trait.allCases.count))
        shape = Shape.allCases[Int(seed % shapes)]
        trait = Trait.allCases[Int(seed / shapes % traits)]
        var dice = SeededGenerator(seed: seed)
        order = Order.allCases.randomElement(using: &dice)!
        way = Way.allCases.randomElement(using: &dice)!
    }

    var description: String { "\(shape), added in \(order) order, \(way), with \(trait)" }

    /// Returns a description of the fault, or nil if the time grows slowly enough.
    func play() async -> String? {
        // Times below a few milliseconds mostly consist of waking threads.
        var size = reduced(160)
        while size < 10_000, await fastest(of: 2, size) < .milliseconds(12) { size *= 2 }
        let first = size
        var ratios: [Double] = []
        for attempt in 0..<4 {
            // Quadratic growth persists at larger sizes; a single step, as from one thread to two that wake each other,
            // does not.
            if attempt == 2 { size *= 4 }
            let small = await fastest(of: 3, size)
            let large = await fastest(of: 2, 4 * size)
            let ratio = large / small
            if ratio < 10 { return nil }
            ratios.append((ratio * 10).rounded() / 10)
        }
        return "\(self): four times as many as \(first) operations, and then as \(size), took \(ratios) times as long"
    }

    /// Returns the shortest of `count` runs, in processor time, because a hunt has a process of its own but shares the
    /// machine.
    private func fastest(of count: Int, _ size: Int) async -> Duration {
        var best = Duration.seconds(1_000_000)
        for _ in 0..<count {
            let start = processorTime
            await play(size)
            best = min(best, processorTime - start)
        }
        return best
    }

    private func dependencies(of index: Int, _ count: Int, _ dice: inout SeededGenerator) -> [Int] {
        let side = max(2, Int(Double(count).squareRoot()))
        switch shape {
        case .independent: return []
        case .chain: return index == 0 ? [] : [index - 1]
        case .fanOut: return index == 0 ? [] : [0]
        case .fanIn: return index == count - 1 ? Array(0..<index) : []
        case .layers:
            let layer = index / side
            return layer == 0 ? [] : (0..<3).map { _ in (layer - 1) * side + Int.random(in: 0..<side, using: &dice) }
        case .tree: return index == 0 ? [] : [(index - 1) / 2]
        case .reversedTree: return [2 * index - count, 2 * index - count + 1].filter { $0 >= 0 && $0 < index }
        case .hourglasses:
            let place = index % side
            let start = index - place
            return place == side / 2
                ? Array(start..<index) : place > side / 2 ? [start + side / 2] : start > 0 ? [start - 1] : []
        case .grid: return (index % side == 0 ? [] : [index - 1]) + (index < side ? [] : [index - side])
        case .ring: return [(index + count - 1) % count]
        case .sparse: return index == 0 ? [] : (0..<2).map { _ in Int.random(in: 0..<index, using: &dice) }
        }
    }

    private func play(_ count: Int) async {
        var dice = SeededGenerator(seed: seed)
        let unique = UInt64.random(in: 0...(.max))
        let width = trait == .narrow ? 1 : 8
        let queues = (0..<(way == .twoQueues ? 2 : 1)).map { _ in
            AsyncOperationQueue(
                maxConcurrentOperationCount: width, isSuspended: way == .suspended, onMisuse: { _ in })
        }
        let shared = AsyncOperation("shared") { 1 }.addDependency(AsyncOperation("behind") {}.add(to: queues[0]))
        let operations = (0..<count).map { make($0, unique, queues[0], shared) }
        for index in 0..<count {
            for dependency in Set(dependencies(of: index, count, &dice)).sorted() {
                if trait == .policies {
                    operations[index].addDependency(operations[dependency], on: .success)
                } else {
                    operations[index].addDependency(operations[dependency])
                }
                if trait == .removedDependency {
                    operations[index].addDependency(shared)
                    operations[index].removeDependency(shared)
                }
            }
        }
        queues[0].add(shared)
        var indices = Array(0..<count)
        if order == .reversed { indices.reverse() }
        if order == .random { indices.shuffle(using: &dice) }
        switch way {
        case .atOnce, .suspended: queues[0].add(indices.map { operations[$0] })
        case .oneByOne: for index in indices { queues[0].add(operations[index]) }
        case .twoQueues: for index in indices { queues[index % 2].add(operations[index]) }
        }
        if trait == .cancelled { for index in indices where index % 2 == 0 { operations[index].cancel() } }
        if trait == .asked { for queue in queues { _ = queue.snapshot() } }
        for queue in queues { queue.isSuspended = false }
        for queue in queues + queues { await queue.waitUntilIdle() }
    }

    private func make(_ index: Int, _ unique: UInt64, _ queue: AsyncOperationQueue, _ shared: AsyncOperation<Int>)
        -> AnyOperation
    {
        struct Oops: Error {}
        let name = "growth \(unique)"
        switch trait {
        case .none, .policies, .cancelled, .narrow, .asked, .removedDependency: return AsyncOperation {}
        case .retry:
            return AsyncOperation { context in if context.attempt == 1 { throw Oops() } }.retry(
                .immediately, attempts: 2)
        case .exclusion: return AsyncOperation {}.addCondition(.mutuallyExclusive(name))
        case .limited:
            return AsyncOperation { await Task.yield() }.addCondition(.limited(name, to: 3, weight: 1 + index % 3))
        case .timeout: return AsyncOperation {}.timeout(.seconds(600))
        case .waitingLimit: return AsyncOperation {}.timeout(waiting: .seconds(600))
        case .unique: return AsyncOperation {}.unique(by: index, in: name)
        case .joined: return AsyncOperation {}.unique(by: index / 10, in: name, policy: .join)
        case .condition: return AsyncOperation {}.addCondition("yes") { _ in .satisfied }
        case .priority:
            let operation = AsyncOperation {}
            operation.priority = index % 2 == 0 ? .high : .low
            return operation
        case .progress:
            return AsyncOperation<Void> { context in
                context.progress.report(completed: 1, of: 2)
                _ = try await context.run(AsyncOperation { 1 }, weight: 1)
            }
        case .willFinish: return AsyncOperation {}.willFinish { _ in await Task.yield() }
        case .handlers: return AsyncOperation {}.didFinish { _ in }.didStart {}
        case .children:
            return AsyncOperation<Void> { context in try await context.run(AsyncOperation { await Task.yield() }) }
        case .nestedNames:
            return AsyncOperation<Void> { context in
                try await context.run(
                    AsyncOperation { await Task.yield() }.addCondition(.limited(name + " inner", to: 2)))
            }.addCondition(.limited(name, to: 4))
        case .awaitsShared: return AsyncOperation { _ = try? await shared.value }
        case .childTasks:
            return AsyncOperation<Void> { context in
                async let one = context.run(AsyncOperation { 1 })
                _ = try? await one
            }
        case .group: return GroupOperation(AsyncOperation {}, AsyncOperation {})
        case .cancelledRuns:
            return AsyncOperation<Void> { context in
                let child = AsyncOperation { await Task.yield() }
                child.cancel()
                try? await context.run(child)
            }
        case .sequence:
            return AsyncOperation<Void> { _ in
                let stream = AsyncStream<Int> { continuation in
                    continuation.yield(1)
                    continuation.finish()
                }
                for try await _ in stream.deliver(on: queue, { $0 }) {}
            }
        }
    }
}
