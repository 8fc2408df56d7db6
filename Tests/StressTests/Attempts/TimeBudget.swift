import Baton

/// The maximum virtual duration of a seeded round of an exact graph. Virtual time passes only when no job can run, so
/// at every moment an operation on the path to the last one pauses or stalls. The round therefore takes no longer than
/// all operations on that path together. Where a pause keeps a permit or an exclusion (G12, G22), the operations that
/// need it pause one after another, and their times are added.
struct TimeBudget {
    private let model: Model
    private let outcomes: [Outcome]

    /// Creates the budget of an exact graph. Other graphs, and graphs with barriers or rates, have none.
    init?(_ model: Model) {
        if !model.graph.isExact || model.graph.hasBarriers || !model.graph.rates.isEmpty { return nil }
        self.model = model
        outcomes = model.predictions()
    }

    var whole: Duration {
        let nodes = model.graph.nodes
        let pauses = nodes.map(pauses)
        // Stalled attempts hold permits and exclusions.
        var held = nodes.map(stalls).reduce(.zero, +)
        var ways: [Set<Int>] = []
        for node in nodes {
            let direct = Set(node.awaited.filter { $0 < node.id })
            ways.append(direct.reduce(into: [node.id]) { $0.formUnion(ways[$1]) })
            // The group keeps its exclusions while its children pause.
            guard let group = node.group, group.width != nil || !node.exclusions.isEmpty else { continue }
            held += ways[node.id].reduce(.zero) { $0 + pauses[$1] }
        }
        return held + (ways.map { $0.reduce(.zero) { $0 + pauses[$1] } }.max() ?? .zero)
    }

    private func pauses(of node: Node) -> Duration {
        if let delay = node.delay { return delay }
        guard let note = node.attempts else { return .zero }
        let course = model.course(of: node, note) { outcomes[$0] }
        let between = (1..<max(1, course.attempts)).map { note.delay(after: $0) }.reduce(.zero, +)
        let repetitions = course.runs / course.attempts
        return between * repetitions + (note.repetition?.interval ?? .zero) * (repetitions - 1)
    }

    private func stalls(of node: Node) -> Duration {
        guard let note = node.attempts, note.stalls, let limit = node.limits.attempt else { return .zero }
        return limit * (note.failures * (note.repetition?.runs ?? 1))
    }
}

extension Node {
    /// Everything that the end of the node can wait for.
    fileprivate var awaited: [Int] {
        var all = sources + steps.flatMap(\.targets) + (group.map { $0.children + $0.late } ?? [])
        for case .value(let other) in lastSteps { all.append(other) }
        for leaf in conditions.flatMap(\.shape.leaves) {
            all += leaf.broughtNode.map { [$0] } ?? []
            for case .value(let other) in leaf.steps { all.append(other) }
        }
        return all
    }
}
