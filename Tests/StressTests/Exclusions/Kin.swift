/// The ancestors that each operation may have. There are more than in reality: an operation that several bodies could
/// run has only one of them as its parent.
///
/// The dependencies of a condition have a number of their own, after the numbers of the nodes:
/// ``ConditionNote/owner(in:)``.
struct Kin: Sendable {
    private var ancestors: [Set<Int>]

    init(_ graph: Graph) {
        let model = Model(graph: graph)
        var parents = Array(repeating: Set<Int>(), count: graph.nodes.count + graph.conditionCount)
        for node in graph.nodes {
            // If the handle of the queue was released, the body runs the operations as its children instead.
            let keepsQueue = graph.queues[node.queue].release == .never
            var children =
                node.steps.flatMap { keepsQueue ? $0.childrenInside : $0.children } + (node.group?.children ?? [])
            for step in node.steps {
                guard case .addToGroup(let child, let group) = step else { continue }
                for inside in model.upstream(of: child) { parents[inside].insert(group) }
            }
            for condition in node.conditions {
                let (owner, brought) = (condition.owner(in: graph), condition.shape.leaves.compactMap(\.broughtNode))
                parents[owner].insert(node.id)
                children += brought
                guard condition.shape.isPair else { continue }
                // Operations that two conditions bring along run in one group, which holds the exclusions.
                for child in brought { for inside in model.upstream(of: child) { parents[inside].insert(owner) } }
            }
            for child in children { for inside in model.upstream(of: child) { parents[inside].insert(node.id) } }
        }
        ancestors = parents.map { _ in [] }
        for owner in parents.indices {
            var frontier = [owner]
            while let next = frontier.popLast() {
                for parent in parents[next] where ancestors[owner].insert(parent).inserted { frontier.append(parent) }
            }
        }
    }

    func areRelated(_ one: Int, _ other: Int) -> Bool {
        one == other || ancestors[one].contains(other) || ancestors[other].contains(one)
    }
}

extension Step {
    /// The nodes that the step runs inside its own operation.
    fileprivate var childrenInside: [Int] {
        if case .run(_, let way, _) = self, way.isByTheQueue { [] } else { children }
    }
}
