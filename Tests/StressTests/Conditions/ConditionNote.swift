import Baton

/// A condition of a node, as a plain value.
struct ConditionNote: Sendable {
    /// The number of the condition in the graph.
    let id: Int
    let shape: Shape

    /// The number of the owner of the exclusions under which the operations run that the condition brings along. See
    /// ``Kin``.
    func owner(in graph: Graph) -> Int { graph.nodes.count + id }
}

/// The composition of a condition from others.
indirect enum Shape: Sendable {
    case leaf(Leaf)
    case negated(Shape)
    case silent(Shape)
    case and(Shape, Shape)
    case or(Shape, Shape)

    var leaves: [Leaf] {
        switch self {
        case .leaf(let leaf): [leaf]
        case .negated(let base), .silent(let base): base.leaves
        case .and(let one, let other), .or(let one, let other): one.leaves + other.leaves
        }
    }

    var name: String {
        switch self {
        case .leaf(let leaf): leaf.name
        case .negated(let base): "not \(base.name)"
        case .silent(let base): base.name
        case .and(let one, let other): "\(one.name) and \(other.name)"
        case .or(let one, let other): "\(one.name) or \(other.name)"
        }
    }

    /// True if the condition combines two, whose operations then run in a separate group.
    var isPair: Bool {
        switch self {
        case .leaf: false
        case .negated(let base), .silent(let base): base.isPair
        case .and, .or: true
        }
    }
}

struct Leaf: Sendable {
    enum Answer: Sendable {
        case satisfied
        case skip
        case error
    }

    enum Step: Sendable {
        case yield(Int)
        case gate(Int, heedsCancel: Bool)
        /// Awaits an operation that does not wait for this one.
        case value(Int)
        /// Cancels the operation that is evaluated.
        case cancel
    }

    enum Brought: Sendable {
        case nothing
        case fresh(FreshNote)
        /// The node is also added elsewhere.
        case node(Int)
    }

    let id: Int
    var answer: Answer
    var steps: [Step]
    var brought: Brought
    var exclusions: [ExclusionNote]

    var name: String { "c\(id)" }

    var heedsCancel: Bool { steps.contains { if case .gate(_, heedsCancel: true) = $0 { true } else { false } } }

    var broughtNode: Int? { if case .node(let node) = brought { node } else { nil } }
}

/// An operation that only a condition refers to.
struct FreshNote: Sendable {
    enum End: Sendable {
        case success
        case error
        /// A condition of the operation skips it.
        case skip
    }

    let end: End
    let yields: Int
    /// The sources, which only this operation refers to. It runs only if they succeed.
    let sources: [FreshNote]
}

/// The error of a failing condition, or of an operation that it brought along.
struct ConditionThrown: Error {
    let by: String
    let token: Token
}
