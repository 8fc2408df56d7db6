import Baton

/// A dependency that passes no value.
struct OrderEdge: Sendable {
    let source: Int
    var policy = DependencyPolicy.always
}

/// The way in which the body of a node uses the node's inputs.
enum InputUse: Sendable {
    /// The body needs the outputs of its inputs.
    case values
    /// The body gets the outcomes of its inputs.
    case outcomes
    /// The node has one input, and the body gets ``defaultNumber`` if that input has no output.
    case withDefault
    /// `recover` of the one input. The node has no body of its own.
    case recovering
    /// `reduce` of the inputs, of which there may be none. The node has no body of its own.
    case combined
    /// `delay` of the one input. The node has no body of its own.
    case delayed

    static let defaultNumber: UInt64 = 0xDEFA

    var isBodyless: Bool { self == .recovering || self == .combined || self == .delayed }
}

/// An action of a `willFinish` handler.
enum LastStep: Sendable {
    case nothing
    case yield(Int)
    case gate(Int)
    /// Awaits an operation that does not wait for this one.
    case value(Int)
}

extension Graph {
    /// The nodes whose bodies may have to wait for a condition, an exclusion, a rate or a delay, including nodes that
    /// run inside a group of limited width or that a condition brings along.
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

    /// The nodes that must have finished before the body of `node` begins, because one of the two is a barrier.
    func separated(from node: Node) -> [Int] {
        if !hasBarriers || node.isNested { return [] }
        return nodes[..<node.id].filter {
            !$0.isNested && $0.queue == node.queue && ($0.isBarrier || node.isBarrier)
        }.map(\.id)
    }
}
