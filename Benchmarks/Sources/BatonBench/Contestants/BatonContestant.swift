import Baton

/// Baton as users see it: operations that are made from closures and added in bulk.
struct BatonContestant: Contestant {
    static let name = "Baton"
    var name: String { Self.name }

    func largestCount(_ workload: Workload) -> Int? { .max }

    func run(_ job: Job) -> Nanoseconds {
        onPool {
            switch job.workload {
            case .independent, .chain, .fan, .layers: await graph(job)
            case .values: await values(job)
            case .rules: await Self.run(makeRuledChain(job.count))
            case .timed: await Self.run(makeTimed(job.count))
            case .groups: await Self.run([makeGroups(job.count)])
            case .groupsDeep: await Self.run([makeDeepGroups(job.count)])
            case .bodies1, .bodies10, .bodies100: await bodies(job)
            case .adding: await adding(job)
            case .addingReversed: await addingReversed(job)
            case .cancelling: await cancelling(job)
            case .recorded: await recorded(job)
            case .memory, .release: preconditionFailure("\(job.workload) is measured in a process of its own")
            }
        }
    }

    private func graph(_ job: Job) async -> Nanoseconds { await Self.run(makeGraph(job.graph)) }

    /// Returns the time from the creation of the operations to their release.
    static func run<Output>(_ make: @autoclosure () -> [AsyncOperation<Output>]) async -> Nanoseconds {
        let stopwatch = Stopwatch()
        let queue = AsyncOperationQueue()
        var operations = make()
        queue.add(operations)
        await queue.waitUntilIdle()
        operations = []
        return stopwatch.nanoseconds
    }

    private func values(_ job: Job) async -> Nanoseconds {
        let stopwatch = Stopwatch()
        let queue = AsyncOperationQueue()
        var operations = makeValueChain(job.count)
        queue.add(operations)
        await queue.waitUntilIdle()
        let value = try? operations.last?.result?.get()
        operations = []
        let elapsed = stopwatch.nanoseconds
        precondition(value == job.count, "the chain of \(job.count) made \(String(describing: value))")
        return elapsed
    }

    private func bodies(_ job: Job) async -> Nanoseconds {
        let iterations = job.iterations
        let stopwatch = Stopwatch()
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 2)
        var operations: [AsyncOperation<Void>] = []
        operations.reserveCapacity(job.count)
        for _ in 0..<job.count { operations.append(AsyncOperation { spin(iterations) }) }
        queue.add(operations)
        await queue.waitUntilIdle()
        operations = []
        return stopwatch.nanoseconds
    }
}

/// Returns the operations of a graph, connected but not added.
func makeGraph(_ graph: Graph) -> [AsyncOperation<Void>] {
    var operations: [AsyncOperation<Void>] = []
    operations.reserveCapacity(graph.count)
    for index in 0..<graph.count {
        let operation = AsyncOperation {}
        graph.dependencies.forEach(of: index) { operation.addDependency(operations[$0]) }
        operations.append(operation)
    }
    return operations
}

/// Returns a chain whose first operation returns 1, while each other adds 1 to its input.
func makeValueChain(_ count: Int) -> [AsyncOperation<Int>] {
    var last = AsyncOperation { 1 }
    var operations = [last]
    operations.reserveCapacity(count)
    for _ in 1..<count {
        last = AsyncOperation(last) { $0 + 1 }
        operations.append(last)
    }
    return operations
}
