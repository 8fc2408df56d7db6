import Baton
import Synchronization

extension Model {
    /// Returns the outcome of a group that has run. `isAccepted` tells whether the group has accepted a late child.
    func outcome(of group: GroupNote, _ id: Int, _ known: (Int) -> Outcome, _ isAccepted: (Int) -> Bool) -> Outcome {
        let children = group.children + group.late.filter(isAccepted)
        let failed = children.map { FailedChild(id: $0, outcome: known($0).withSimpleLists) }.filter { child in
            switch child.outcome.kind {
            case .success, .skipped: false
            case .cancelled: child.outcome != .cancelled(.parent(id))
            case .failure: true
            }
        }
        let hasFailed =
            switch group.policy {
            case .collectAll, .failFast: !failed.isEmpty
            case .firstSuccess: !children.contains { known($0).number != nil }
            }
        if !hasFailed { return .value(0) }
        if !failed.isEmpty || group.policy != .firstSuccess { return .groupFailed(failed) }
        // The children that were skipped are the reason why none has succeeded.
        let skipped = children.filter { known($0).kind == .skipped }
        return .groupFailed(skipped.map { FailedChild(id: $0, outcome: known($0).withSimpleLists) })
    }

    /// Records the children of a group that does not run as cancelled, and their own children.
    func recordMembersAsCancelled(of id: Int, in outcomes: inout [Outcome]) {
        for child in graph.nodes[id].group?.children ?? [] {
            outcomes[child] = .cancelled(.parent(id))
            recordMembersAsCancelled(of: child, in: &outcomes)
        }
    }
}

extension Verdict {
    /// Returns true if a group has accepted the late child.
    func isAccepted(_ child: Int) -> Bool { recorder.nodes[child].isAccepted.load(ordering: .relaxed) }

    /// Returns the reasons with which groups that contain the node may cancel it.
    func parentCancellationReasons(_ id: Int) -> [Outcome.Reason] {
        graph.nodes.compactMap { other -> Outcome.Reason? in
            if let group = other.group, (group.children + group.late).contains(id), cancelsChildren(other, group) {
                return .parent(other.id)
            }
            return nil
        }
    }

    private func cancelsChildren(_ node: Node, _ group: GroupNote) -> Bool {
        guard let end = ends[node.id] else { return false }
        if end.isCancelled { return true }
        switch end.outcome {
        case .value, .groupFailed: break
        default: return true
        }
        if !group.mayCancelChildren { return false }
        let outcomes = (group.children + group.late).compactMap { ends[$0]?.outcome }
        return outcomes.contains { ($0.number == nil) == (group.policy == .failFast) }
    }
}

extension Graph {
    /// True if the node is in a group of limited width, where a child that has a permit of the group may wait for a
    /// child that has none.
    func mayLackPermit(_ id: Int) -> Bool {
        nodes.contains { node in node.group.map { $0.width != nil && ($0.children + $0.late).contains(id) } ?? false }
    }
}
