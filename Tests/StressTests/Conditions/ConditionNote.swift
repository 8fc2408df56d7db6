import Baton

/// A condition of a node, as a plain value.
struct ConditionNote: Sendable {
    /// Its place in the graph's count of conditions.
    let id: Int
    let shape: Shape

    /// Of the names under which runs what it brings along. See ``Kin``.
    func owner(in graph: Graph) -> Int { graph.nodes.count + id }
}

/// How it is made up of others.
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

    /// What it would answer may be lost when another condition of the operation has answered no.
    var heedsCancel: Bool {
        switch self {
        case .leaf(let leaf): leaf.heedsCancel
        case .silent(let base): base.heedsCancel
        case .and(let one, let other): one.heedsCancel || other.heedsCancel
        case .negated, .or: true
        }
    }

    /// Two side by side run what they bring along in a group of their own.
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
        /// Awaits one that does not wait for this.
        case value(Int)
        /// Its own operation.
        case cancel
    }

    enum Brought: Sendable {
        case nothing
        case fresh(FreshNote)
        /// It was or will be added elsewhere, too.
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

/// An operation that only a condition knows.
struct FreshNote: Sendable {
    enum End: Sendable {
        case success
        case error
        /// By a condition of its own.
        case skip
    }

    let end: End
    let yields: Int
    /// Fresh as well, and added with it; must succeed if it shall run.
    let sources: [FreshNote]
}

/// What a failing condition, or an operation that it brought along, throws.
struct ConditionThrown: Error {
    let by: String
    let token: Token
}
