/// Ends what is on the cycles of a graph of waits that has been seen whole.
///
/// What ends is not one cycle but the strongly connected component around it, all of whose operations wait for themselves:
/// else it would depend on the order of adding which of several cycles that share operations is found, and so who runs.
/// Operations of it that nobody has added yet end when they are added; see ``BrokenCycle``.
struct CycleBreaking {
    struct Result {
        /// Operations have ended, or the graph has changed. What is left has to be looked at again.
        var mustLookAgain = false
        /// Nobody but bodies is on these cycles, each of which has been closed by the wait of the suspect.
        var refusals: [(suspect: CycleFinder.Suspect, path: [OperationReference])] = []
    }

    private let exploration: WaitExploration
    private let suspects: [CycleFinder.Suspect]

    /// - Parameter exploration: Upstream, and exhausted.
    init(_ exploration: WaitExploration, closedBy suspects: [CycleFinder.Suspect]) {
        self.exploration = exploration
        self.suspects = suspects
    }

    /// Breaks the cycles that the suspects are on.
    func perform() -> Result {
        var result = Result()
        let components = exploration.graph.cyclicComponents()
        if components.isEmpty { return result }
        var suspects: [Int: CycleFinder.Suspect] = [:]
        for suspect in self.suspects {
            guard let node = exploration.node(of: suspect.body ?? suspect.operation) else { continue }
            // A wait that can be refused comes first.
            if suspects[node]?.body == nil { suspects[node] = suspect }
        }
        var numbers = [Int32](repeating: 0, count: exploration.graph.count)
        for nodes in components {
            let closing = nodes.filter { suspects[$0] != nil }
            if closing.isEmpty { continue }
            let nodes = nodes.sorted()
            let part = exploration.graph.part(nodes, &numbers)
            guard let root = root(of: part, nodes, preferring: Set(closing)) else { continue }
            let component = Component(
                operations: nodes.map { exploration.operations[$0] },
                wasUnadded: nodes.map { exploration.isUnadded[$0] },
                cycles: part.cycleOfEachNode(root: root) { !exploration.isUnadded[nodes[$0]] })
            switch component.end() {
            case .ended, .changed: result.mustLookAgain = true
            case .allBegun(let path):
                let wait = closing.lazy.compactMap { suspects[$0] }.first { $0.body != nil }
                if let wait { result.refusals.append((wait, path)) }
            }
        }
        return result
    }

    /// An operation that is on a cycle although no dependency counts that may still change. Nil: there is none.
    private func root(of part: Digraph, _ nodes: [Int], preferring closing: Set<Int>) -> Int? {
        let isAdded = nodes.map { !exploration.isUnadded[$0] }
        var members = Array(nodes.indices)
        if isAdded.contains(false) {
            members = part.cyclicComponents { isAdded[$0] }.flatMap(\.self)
        }
        // The last one that was linked closed it.
        return members.filter { closing.contains(nodes[$0]) }.max() ?? members.first
    }
}

private struct Component {
    enum End {
        case ended
        /// The cycle is none any more.
        case changed
        /// All are bodies, or what bodies wait for that nobody has added.
        case allBegun([OperationReference])
    }

    let operations: [AnyOperation]
    /// Nobody had added it when the graph was seen.
    let wasUnadded: [Bool]
    let cycles: Digraph.Cycles

    func end() -> End {
        // Nothing that an added operation waits for changes before its end. So if they are all unfinished now, after the whole
        // cycle has been read, they are on it now.
        if cycles.all[0].contains(where: { operations[$0].hasFinished }) { return .changed }
        let errors = errors
        if !operations.contains(where: \.isUnrun) {
            if case .dependencyCycle(let path) = errors[0] { return .allBegun(path) }
        }
        // All get their outcome before any releases its dependents, so that none is run by the end of another one.
        var ends: [AnyOperation.EarlyEnd] = []
        let brokenCycles = brokenCycles(errors)
        // First, so that one which is added from now on finds that it is on a broken cycle.
        for (node, broken) in brokenCycles { operations[node].isOn(broken).map { ends.append($0) } }
        for (node, operation) in operations.enumerated() where brokenCycles[node] == nil {
            operation.endWhileAdded(with: errors[cycles.numbers[node]]).map { ends.append($0) }
        }
        // Those that were added in between, when what they wait for had not ended.
        for (node, broken) in brokenCycles { operations[node].isOn(broken).map { ends.append($0) } }
        for end in ends { end.settle() }
        return .ended
    }

    /// For each of the cycles.
    private var errors: [OperationError] {
        let references = operations.map(\.reference)
        return cycles.all.map { cycle in .dependencyCycle(cycle.map { references[$0] }) }
    }

    /// For those that nobody had added.
    private func brokenCycles(_ errors: [OperationError]) -> [Int: BrokenCycle] {
        var broken: [Int: BrokenCycle] = [:]
        for node in operations.indices where wasUnadded[node] {
            broken[node] = BrokenCycle(errors[cycles.numbers[node]], next: operations[cycles.next[node]])
        }
        for node in broken.keys { broken[cycles.next[node]]?.append(operations[node]) }
        return broken
    }
}
