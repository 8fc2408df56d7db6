/// Ends what is on the cycles of a graph of waits that has been seen whole.
///
/// What ends is not one cycle but the strongly connected component around it, all of whose operations wait for
/// themselves: else it would depend on the order of adding which of several cycles that share operations is found, and
/// so who runs. Operations of it that nobody has added yet end when they are added; see ``BrokenCycles``.
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
