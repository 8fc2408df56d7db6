import Baton

/// Returns a chain whose operations each have a condition that is satisfied and a handler that does nothing.
func makeRuledChain(_ count: Int) -> [AsyncOperation<Void>] {
    var operations: [AsyncOperation<Void>] = []
    operations.reserveCapacity(count)
    for index in 0..<count {
        let operation = AsyncOperation {}
        if index > 0 { operation.addDependency(operations[index - 1]) }
        operation.addCondition("yes") { _ in .satisfied }
        operation.didFinish { _ in }
        operations.append(operation)
    }
    return operations
}

/// Returns a group of at most ten groups, each of at most ten groups, and so on, with `count` operations including the
/// groups.
func makeGroups(_ count: Int) -> AsyncOperation<Void> {
    if count <= 1 { return AsyncOperation {} }
    var children: [AnyOperation] = []
    var left = count - 1
    for place in 0..<min(10, left) {
        let share = left / (min(10, count - 1) - place)
        children.append(makeGroups(share))
        left -= share
    }
    return GroupOperation(children)
}

/// Returns nested groups with one child each.
func makeDeepGroups(_ count: Int) -> AsyncOperation<Void> {
    var operation = AsyncOperation {}
    for _ in 1..<count { operation = GroupOperation([operation]) }
    return operation
}

/// Returns independent operations that have retries and time limits, but need neither.
func makeTimed(_ count: Int) -> [AsyncOperation<Void>] {
    (0..<count).map { _ in
        AsyncOperation {}.retry(.exponential(from: .milliseconds(100)), attempts: 3).timeout(.seconds(5))
    }
}

/// The graph of ``makeRuledChain(_:)``, ``makeTimed(_:)`` or the recorded workload, without conditions, handlers,
/// limits or recorder. It is the baseline of those workloads, and is measured in the same rounds.
struct BareGraph: Contestant {
    static let name = "Baton, bare"
    var name: String { Self.name }

    func largestCount(_ workload: Workload) -> Int? {
        switch workload {
        case .rules, .timed, .recorded: .max
        default: nil
        }
    }

    func run(_ job: Job) -> Nanoseconds { onPool { await BatonContestant.run(makeGraph(job.graph)) } }
}
