import Baton

/// The waits that are possible between the operations of a plan.
extension UniquePlan {
    /// Returns true if the node may wait for itself through other nodes. An operation that joins or replaces another
    /// waits for it, and that one may wait for the first.
    func mayBeInCycle(_ id: Int) -> Bool {
        upstream(of: awaited(by: id)) { awaited(by: $0) }.contains(id)
    }

    /// Returns true if the node is `source` or needs it: directly, or through an operation that it joins or replaces.
    func needs(_ id: Int, _ source: Int) -> Bool {
        upstream(of: [id]) { nodes[$0].sources + alike($0) }.contains(source)
    }

    private func upstream(of first: [Int], _ next: (Int) -> [Int]) -> Set<Int> {
        var seen = Set(first)
        var frontier = first
        while let id = frontier.popLast() { frontier += next(id).filter { seen.insert($0).inserted } }
        return seen
    }

    private func awaited(by id: Int) -> [Int] {
        let children = nodes[id].steps.compactMap { if case .run(let child) = $0 { child } else { nil as Int? } }
        return nodes[id].sources + children + alike(id)
    }

    private func alike(_ id: Int) -> [Int] {
        let node = nodes[id]
        if node.key == nil || node.policy == .reject { return [] }
        return nodes.filter { $0.key == node.key && $0.id != id }.map(\.id)
    }
}
