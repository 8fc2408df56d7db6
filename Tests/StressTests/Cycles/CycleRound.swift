import Baton

/// A graph with overlapping cycles, which several bodies add in a random order to one queue or two. All members of
/// cycles must fail (G8), and the other operations must run after their sources, whatever the order (G7).
final class CycleRound: Sendable {
    private enum Way: CaseIterable {
        case oneByOne, inBatches, atOnce
    }

    private let seed: UInt64
    private let graph: CyclicGraph
    private let operations: [AsyncOperation<Void>]
    private let queues: [AsyncOperationQueue]
    private let adders: AsyncOperationQueue
    private let faults: Locked<[String]>

    init(seed: UInt64, executor: (any TaskExecutor)?, _ makeGraph: (inout SeededRandom) -> CyclicGraph) {
        var random = SeededRandom(seed: seed)
        let graph = makeGraph(&random)
        self.seed = seed
        self.graph = graph
        faults = Locked([])
        queues = (0..<random.number(1...2)).map { _ in
            AsyncOperationQueue(
                name: "cycles", maxConcurrentOperationCount: random.pick([1, 4, 64]), executor: executor)
        }
        adders = AsyncOperationQueue(name: "adders", executor: executor)
        operations = graph.sources.indices.map { number in
            let yields = random.isLucky(percent: 20)
            let operation = AsyncOperation<Void>("\(number)") { context in
                if context.operation.dependencies.count != graph.sources[number].count { throw Early() }
                for source in context.operation.dependencies where source.state != .finished { throw Early() }
                if yields { await Task.yield() }
            }
            if random.isLucky(percent: 5) { operation.priority = random.pick([.low, .high]) }
            return operation
        }
        for (operation, sources) in zip(operations, graph.sources) {
            for source in sources { operation.addDependency(operations[source]) }
        }
    }

    private struct Early: Error {}

    func play() async {
        var random = SeededRandom(seed: seed &+ 1)
        let order = random.shuffled(Array(operations.indices))
        let count = random.number(1...4)
        for adder in 0..<count {
            let mine = stride(from: adder, to: order.count, by: count).map { order[$0] }
            let way = random.pick(Way.allCases)
            let size = random.number(2...40)
            adders.add(AsyncOperation { await self.add(mine, way, size) })
        }
        await adders.waitUntilIdle()
        for queue in queues + queues { await queue.waitUntilIdle() }
    }

    private func add(_ numbers: [Int], _ way: Way, _ size: Int) async {
        let size = way == .oneByOne ? 1 : way == .atOnce ? max(1, numbers.count) : size
        for start in stride(from: 0, to: numbers.count, by: size) {
            let batch = numbers[start..<min(start + size, numbers.count)].map { operations[$0] }
            queues[numbers[start] % queues.count].add(batch)
            if start % 7 == 0 { await Task.yield() }
        }
    }

    var explanations: [String] { operations.map { "\($0): \($0.explain())" } }

    func judge() throws {
        let members = graph.membersOfCycles
        for number in operations.indices { judge(number, isMember: members.contains(number)) }
        for queue in queues where queue.operationCount != 0 { fault("\(queue.operationCount) operations are left") }
        let faults = faults.withLock { $0 }
        if !faults.isEmpty { throw StressFailure(seed: seed, faults: faults) }
    }

    private func judge(_ number: Int, isMember: Bool) {
        switch operations[number].result {
        case .success: if isMember { fault("G8: \(number) is on a cycle and has run") }
        case .failure(.dependencyCycle(let path)):
            if !isMember { return fault("G7: \(number) is on no cycle and failed with \(path)") }
            let names = path.compactMap { Int($0.name) }
            if !names.contains(number) { fault("G8: \(number) is told of a cycle of others: \(names)") }
            for (next, source) in zip(names, names.dropFirst() + names.prefix(1))
            where !graph.sources[next].contains(source) {
                fault("G8: \(number) is told \(names), but \(next) does not wait for \(source)")
            }
        case .failure(let error): fault("\(number) ended with \(error)")
        case nil: fault("G25: \(number) has no outcome")
        }
    }

    private func fault(_ text: String) { faults.withLock { $0.append(text) } }
}
