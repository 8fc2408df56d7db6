import Baton

/// What makes a node a group.
struct GroupNote: Sendable {
    var policy = GroupPolicy.collectAll
    /// One after another; then all are its own.
    var isOrdered = false
    var width: Int?
    /// In the order given.
    var children: [Int]
    /// Added by a body, perhaps; in this order.
    var late: [Int] = []

    /// A child may be cancelled because another one has decided.
    var cutsOff: Bool { !isOrdered && policy != .collectAll }

    /// Of the child that cuts off the others.
    var decidingOutcome: OperationOutcome? { cutsOff ? policy == .failFast ? .failure : .success : nil }
}

extension DependencyPolicy {
    /// By which a child of an ordered group waits for the one before it.
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
