import Baton

/// Who may have to wait for whom.
extension UniquePlan {
    /// One that joins or replaces another waits for it; that one may wait for the first.
    func mayBeInCycle(_ id: Int) -> Bool {
        upstream(of: awaited(by: id)) { awaited(by: $0) }.contains(id)
    }

    /// By itself, or through what it joins or replaces; each needs itself.
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
