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
        case oneByOne, atOnce, suspended, twoQueues, inGroup, delivered
    }

    enum Trait: CaseIterable {
        case none, retry, exclusion, limited, timeout, waitingLimit, unique, joined, condition, priority, progress
        case willFinish, handlers, policies, children, nestedNames, awaitsShared, childTasks, group, cancelled, narrow
        case asked, cancelledRuns, sequence, removedDependency
        case combination, rate, breaker, openBreaker, scopes, ownScopes, taskLocals, firstInFirstOut, lastInFirstOut
        case idleness, sharedIdleness, cycles, narrowGroup
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
        var random = SeededGenerator(seed: seed)
        order = Order.allCases.randomElement(using: &random)!
        way = Way.allCases.randomElement(using: &random)!
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

    private func dependencies(of index: Int, _ count: Int, _ random: inout SeededGenerator) -> [Int] {
        let side = max(2, Int(Double(count).squareRoot()))
        switch shape {
        case .independent: return []
        case .chain: return index == 0 ? [] : [index - 1]
        case .fanOut: return index == 0 ? [] : [0]
        case .fanIn: return index == count - 1 ? Array(0..<index) : []
        case .layers:
            let layer = index / side
            return layer == 0 ? [] : (0..<3).map { _ in (layer - 1) * side + Int.random(in: 0..<side, using: &random) }
        case .tree: return index == 0 ? [] : [(index - 1) / 2]
        case .reversedTree: return [2 * index - count, 2 * index - count + 1].filter { $0 >= 0 && $0 < index }
        case .hourglasses:
            let place = index % side
            let start = index - place
            return place == side / 2
                ? Array(start..<index) : place > side / 2 ? [start + side / 2] : start > 0 ? [start - 1] : []
        case .grid: return (index % side == 0 ? [] : [index - 1]) + (index < side ? [] : [index - side])
        case .ring: return [(index + count - 1) % count]
        case .sparse: return index == 0 ? [] : (0..<2).map { _ in Int.random(in: 0..<index, using: &random) }
        }
    }

    /// The state that the operations of one run share.
    private struct Common {
        let name = "growth \(UInt64.random(in: 0...(.max)))"
        let queue: AsyncOperationQueue
        let shared: AsyncOperation<Int>
        /// A queue that becomes idle when all operations have been added.
        let resting = AsyncOperationQueue(isSuspended: true, onMisuse: { _ in })
        let breaker: CircuitBreaker
        let scopes = [OperationScope("one"), OperationScope("two"), .queue]
    }

    private func makeQueue() -> AsyncOperationQueue {
        let width = trait == .narrow ? 1 : 8
        if trait == .taskLocals {
            return AsyncOperationQueue(
                maxConcurrentOperationCount: width, isSuspended: way == .suspended, taskLocals: HuntLocal.$tag,
                onMisuse: { _ in })
        }
        let queue = AsyncOperationQueue(
            maxConcurrentOperationCount: width, isSuspended: way == .suspended, onMisuse: { _ in })
        if trait == .firstInFirstOut { queue.schedulingOrder = .firstInFirstOut }
        if trait == .lastInFirstOut { queue.schedulingOrder = .lastInFirstOut }
        return queue
    }

    private func play(_ count: Int) async {
        var random = SeededGenerator(seed: seed)
        let queues = (0..<(way == .twoQueues ? 2 : 1)).map { _ in makeQueue() }
        let shared = AsyncOperation("shared") { 1 }.addDependency(AsyncOperation("behind") {}.add(to: queues[0]))
        let breaker = CircuitBreaker("growth", failures: trait == .breaker ? 10 : 1, retryAfter: .seconds(600))
        let common = Common(queue: queues[0], shared: shared, breaker: breaker)
        if trait == .sharedIdleness { common.resting.add {} }
        let operations = (0..<count).map { make($0, common) }
        for index in 0..<count {
            for dependency in Set(dependencies(of: index, count, &random)).sorted() {
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
        if order == .random { indices.shuffle(using: &random) }
        switch way {
        case .atOnce, .suspended: queues[0].add(indices.map { operations[$0] })
        case .oneByOne:
            for index in indices {
                // All operations of one add share one value.
                let tag = trait == .taskLocals ? HuntTag(ids: [index], token: LiveTokens().token()) : nil
                _ = HuntLocal.$tag.withValue(tag) { queues[0].add(operations[index]) }
            }
        case .twoQueues: for index in indices { queues[index % 2].add(operations[index]) }
        case .inGroup:
            queues[0].add(GroupOperation(indices.map { operations[$0] }, maxConcurrentOperationCount: width(&random)))
        case .delivered: await deliver(indices.map { operations[$0] }, on: queues[0], &random)
        }
        common.resting.isSuspended = false
        if trait == .cancelled { for index in indices where index % 2 == 0 { operations[index].cancel() } }
        if trait == .asked { for queue in queues { _ = queue.snapshot() } }
        for queue in queues { queue.isSuspended = false }
        for queue in queues + queues { await queue.waitUntilIdle() }
    }

    private func width(_ random: inout SeededGenerator) -> Int {
        [1, 3, 1_000_000].randomElement(using: &random)!
    }

    /// Runs each operation in the operation of an element.
    private func deliver(
        _ operations: [AnyOperation], on queue: AsyncOperationQueue, _ random: inout SeededGenerator
    ) async {
        // The bodies of this trait wait for a queue that is resumed when all operations have been added.
        if trait == .sharedIdleness { return queue.add(operations) }
        let width = width(&random)
        let order: OutputOrder = Bool.random(using: &random) ? .preserved : .arrival
        let outputs = operations.deliver(on: queue, width: width, order: order) { operation, context in
            if let operation = operation as? AsyncOperation<Void> {
                try? await context.run(operation)
            } else {
                queue.add(operation)
            }
        }
        do { for try await _ in outputs {} } catch {}
    }

    private func make(_ index: Int, _ common: Common) -> AnyOperation {
        struct Oops: Error {}
        let (name, queue, shared) = (common.name, common.queue, common.shared)
        switch trait {
        case .none, .policies, .cancelled, .narrow, .asked, .removedDependency, .taskLocals, .firstInFirstOut,
            .lastInFirstOut:
            return AsyncOperation {}
        case .combination:
            let (yes, no) = (
                HuntCondition(name: "yes") { _ in .satisfied }, HuntCondition(name: "no") { _ in .skip("") }
            )
            return AsyncOperation {}.addCondition(no.or(yes).and(no.negated))
        case .rate: return AsyncOperation {}.addCondition(.rate(name, 1_000_000, per: .seconds(1)))
        case .breaker:
            return AsyncOperation { if index % 7 == 0 { throw Oops() } }.addCondition(common.breaker)
        case .openBreaker: return AsyncOperation { throw Oops() }.addCondition(common.breaker)
        case .scopes:
            return AsyncOperation { await Task.yield() }
                .addCondition(.limited(name, to: 2, within: common.scopes[index % 3]))
        case .ownScopes:
            return AsyncOperation {}.addCondition(.mutuallyExclusive(name, within: OperationScope("\(index)")))
        case .idleness:
            return AsyncOperation {
                let queue = AsyncOperationQueue()
                queue.add {}
                await queue.waitUntilIdle()
            }
        case .sharedIdleness: return AsyncOperation { await common.resting.waitUntilIdle() }
        case .cycles:
            let operation = AsyncOperation {}
            let other = AsyncOperation {}.addDependency(operation)
            queue.add(other)
            return operation.addDependency(other)
        case .narrowGroup:
            return GroupOperation(AsyncOperation {}, AsyncOperation {}, maxConcurrentOperationCount: 1)
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
