import Baton

/// The configuration of a node that is a group.
struct GroupNote: Sendable {
    var policy = GroupPolicy.collectAll
    /// True if the children run one after another. All of them are then members of this group alone.
    var isOrdered = false
    var width: Int?
    /// The children in the order in which they are passed to the group.
    var children: [Int]
    /// The children that a body adds if it gets that far, in this order.
    var late: [Int] = []

    /// True if the outcome of one child may cancel the others.
    var mayCancelChildren: Bool { !isOrdered && policy != .collectAll }

    /// The outcome of the child that cancels the others.
    var decidingOutcome: OperationOutcome? { mayCancelChildren ? policy == .failFast ? .failure : .success : nil }
}

extension DependencyPolicy {
    /// The policy by which a child of an ordered group depends on the previous one.
    init(inOrder policy: GroupPolicy) {
        switch policy {
        case .collectAll: self = .always
        case .failFast: self = .success
        case .firstSuccess: self = .failure
        }
    }
}

/// A failed child as the model knows it.
struct FailedChild: Equatable, Sendable {
    let id: Int
    let outcome: Outcome
}
