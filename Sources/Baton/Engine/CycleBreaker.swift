/// Ends operations on the cycles of a graph of waits that has been explored completely.
///
/// Not one cycle ends but the strongly connected component around it, all of whose operations wait for themselves.
/// Otherwise the order of adding would decide which of several cycles that share operations is found, and so which
/// operations run. Operations of the component that nobody has added yet end when they are added; see ``BrokenCycles``.
struct CycleBreaker {
    struct Result {
        /// True if operations have ended, or if the graph has changed, so that the rest has to be searched again.
        var mustLookAgain = false
        /// Cycles that consist of bodies only, each with the suspect whose wait has closed it.
        var refusals: [(suspect: CycleFinder.Suspect, path: [OperationReference])] = []
    }

    private let exploration: WaitExploration
    private let suspects: [CycleFinder.Suspect]

    /// - Parameters:
    ///   - exploration: An exploration upstream that is exhausted.
    ///   - suspects: The waits and operations that may have closed a cycle.
    init(_ exploration: WaitExploration, closedBy suspects: [CycleFinder.Suspect]) {
        assert(exploration.isExhausted, "A cycle is broken when all of its members are known.")
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
            // A wait takes precedence, because it can be refused.
            if suspects[node]?.body == nil { suspects[node] = suspect }
        }
        var numbers = [Int32](repeating: 0, count: exploration.graph.count)
        for nodes in components {
            let closing = nodes.filter { suspects[$0] != nil }
            if closing.isEmpty { continue }
            let nodes = nodes.sorted()
            let part = exploration.graph.inducedSubgraph(of: nodes, scratch: &numbers)
            guard let root = root(of: part, nodes, preferring: Set(closing)) else { continue }
            let cycleBreak = CycleBreak(
                of: nodes.map { exploration.operations[$0] },
                wasUnadded: nodes.map { exploration.isUnadded[$0] },
                cycles: part.cycleOfEachNode(root: root) { !exploration.isUnadded[nodes[$0]] })
            switch cycleBreak.perform() {
            case .ended, .changed: result.mustLookAgain = true
            case .allBegun(let path):
                let wait = closing.lazy.compactMap { suspects[$0] }.first { $0.body != nil }
                if let wait { result.refusals.append((wait, path)) }
            }
        }
        return result
    }

    /// Returns an operation that is on a cycle of edges that cannot change any more, which are those of added
    /// operations. Returns nil if there is none.
    private func root(of part: Digraph, _ nodes: [Int], preferring closing: Set<Int>) -> Int? {
        let isAdded = nodes.map { !exploration.isUnadded[$0] }
        var members = Array(nodes.indices)
        if isAdded.contains(false) {
            members = part.cyclicComponents { isAdded[$0] }.flatMap(\.self)
        }
        // The operation that was linked last has closed the cycle.
        return members.filter { closing.contains(nodes[$0]) }.max() ?? members.first
    }
}
