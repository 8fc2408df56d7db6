import Baton

extension Graph {
    mutating func addConditions(to node: inout Node, _ random: inout SeededRandom, percent: Int) {
        if !random.isLucky(percent: percent) { return }
        let count = random.pick([1, 1, 1, 2, 3])
        for _ in 0..<count {
            // The outcome of an exact graph is predicted, so several conditions are not combined with `not` and `or`,
            // which hide answers.
            let isPlain = isExact && count > 1
            // A condition may wait for another operation if the graph has no exclusions. With exclusions, only holders
            // that may wait may have such a condition, and only one: several are evaluated in child tasks, whose waits
            // the search for deadlocks does not see.
            let mayAwait = names.isEmpty || holdersWait && count == 1
            let shape = shape(isPlain: isPlain, mayAwait: mayAwait, depth: 0, &random)
            node.conditions.append(ConditionNote(id: conditionCount, shape: shape))
            conditionCount += 1
        }
        // The exclusions of a node's conditions are held by its run and by the dependencies of those conditions. Where
        // holders must not wait, they are removed from nodes that would wait.
        let waits =
            !node.waitsForNothing || node.conditions.contains { $0.shape.leaves.contains { $0.broughtNode != nil } }
        if waits, !holdersWait { node.conditions = node.conditions.map(\.withoutNames) }
    }

    private mutating func shape(isPlain: Bool, mayAwait: Bool, depth: Int, _ random: inout SeededRandom) -> Shape {
        func inner(_ graph: inout Graph, _ random: inout SeededRandom) -> Shape {
            graph.shape(isPlain: isPlain, mayAwait: mayAwait, depth: depth + 1, &random)
        }
        if depth > 1 { return .leaf(leaf(mayAwait: mayAwait, &random)) }
        switch random.number(0...11) {
        case 0: return .silent(inner(&self, &random))
        case 1: return .and(inner(&self, &random), inner(&self, &random))
        case 2 where !isPlain: return .negated(inner(&self, &random))
        case 3 where !isPlain: return .or(inner(&self, &random), inner(&self, &random))
        default: return .leaf(leaf(mayAwait: mayAwait, &random))
        }
    }

    private mutating func leaf(mayAwait: Bool, _ random: inout SeededRandom) -> Leaf {
        let exclusions = random.isLucky(percent: 25) ? someNames(&random) : []
        let added = nodes.filter { !$0.isNested }
        var steps: [Leaf.Step] = []
        for _ in 0..<random.pick([0, 0, 1, 2]) {
            switch random.number(0...5) {
            case 0:
                steps.append(
                    .gate(random.number(0...gateCount - 1), heedsCancel: !isExact && random.isLucky(percent: 50)))
            case 1 where mayAwait && !added.isEmpty: steps.append(.value(random.pick(added).id))
            case 3 where !isExact && random.isLucky(percent: 30): steps.append(.cancel)
            default: steps.append(.yield(random.number(1...3)))
            }
        }
        leafCount += 1
        return Leaf(
            id: leafCount - 1, answer: random.pick([.satisfied, .satisfied, .satisfied, .satisfied, .skip, .error]),
            steps: steps, brought: brought(&random), exclusions: exclusions)
    }

    private func brought(_ random: inout SeededRandom) -> Leaf.Brought {
        switch random.number(0...9) {
        case 0, 1, 2: return .fresh(Self.fresh(depth: 0, &random))
        case 3:
            // A node with `willFinish` handlers must not be cancelled before it has been added: see
            // ``OperationFactory``.
            let all = nodes.filter { !$0.isNested && (isExact || $0.lastSteps.isEmpty) }
            return all.isEmpty ? .nothing : .node(random.pick(all).id)
        default: return .nothing
        }
    }

    private static func fresh(depth: Int, _ random: inout SeededRandom) -> FreshNote {
        let sources = depth > 1 ? 0 : random.pick([0, 0, 1, 2])
        return FreshNote(
            end: random.pick([.success, .success, .success, .success, .error, .skip]),
            yields: random.pick([0, 0, 1, 3]),
            sources: (0..<sources).map { _ in fresh(depth: depth + 1, &random) })
    }
}

extension ConditionNote {
    fileprivate var withoutNames: ConditionNote { ConditionNote(id: id, shape: shape.withoutNames) }
}

extension Shape {
    fileprivate var withoutNames: Shape {
        switch self {
        case .leaf(var leaf):
            leaf.exclusions = []
            return .leaf(leaf)
        case .negated(let base): return .negated(base.withoutNames)
        case .silent(let base): return .silent(base.withoutNames)
        case .and(let one, let other): return .and(one.withoutNames, other.withoutNames)
        case .or(let one, let other): return .or(one.withoutNames, other.withoutNames)
        }
    }
}
