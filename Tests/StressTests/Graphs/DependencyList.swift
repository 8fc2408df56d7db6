import Baton

/// A dependency that hands nothing over.
struct OrderEdge: Sendable {
    let source: Int
    var policy = DependencyPolicy.always
}

/// What a node makes of its inputs.
enum Reading: Sendable {
    /// It needs them.
    case values
    /// It takes their outcomes.
    case outcomes
    /// One input, and a number to use instead.
    case withDefault
    /// `recover` of its one input: no body of its own.
    case recovering
    /// `reduce` of its inputs, which need not be there: no body of its own.
    case combined
    /// `delay` of its one input: no body of its own.
    case delayed

    static let instead: UInt64 = 0xDEFA

    var isBodyless: Bool { self == .recovering || self == .combined || self == .delayed }
}

/// What a `willFinish` handler does.
enum LastStep: Sendable {
    case nothing
    case yield(Int)
    case gate(Int)
    /// Awaits one that does not wait for this.
    case value(Int)
}

extension Graph {
    /// Those that conditions or names keep from their bodies, also names that others have given them.
    var withPreconditions: Set<Int> {
        var withPreconditions: Set<Int> = []
        for node in nodes {
            if !node.conditions.isEmpty || !node.exclusions.isEmpty || !node.rates.isEmpty {
                withPreconditions.insert(node.id)
            }
            if node.delay != nil { withPreconditions.insert(node.id) }
            if let group = node.group, group.width != nil { withPreconditions.formUnion(group.children + group.late) }
            withPreconditions.formUnion(node.conditions.flatMap { $0.shape.leaves.compactMap(\.broughtNode) })
        }
        return withPreconditions
    }

    /// What must have finished before this one's body begins, because one of the two is a barrier.
    func separated(from node: Node) -> [Int] {
        if !hasBarriers || node.isNested { return [] }
        return nodes[..<node.id].filter {
            !$0.isNested && $0.queue == node.queue && ($0.isBarrier || node.isBarrier)
        }.map(\.id)
    }
}
