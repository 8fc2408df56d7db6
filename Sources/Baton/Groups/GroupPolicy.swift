/// How the outcomes of the children decide the outcome of a ``GroupOperation``.
@nonexhaustive
public enum GroupPolicy: Sendable, Hashable, CaseIterable {
    /// All children run, and the group fails if one of them has failed.
    case collectAll
    /// The first child that fails ends the group.
    ///
    /// The group cancels its other children, and with them what depends on them. In an ``GroupOrder/ordered`` group,
    /// the children after the failed one are skipped because of it.
    case failFast
    /// The first child that succeeds ends the group, which cancels its other children. The group fails if none
    /// succeeds.
    case firstSuccess
}

/// The order in which the children of a ``GroupOperation`` run, if it matters.
@nonexhaustive
public enum GroupOrder: Sendable, Hashable {
    /// The children run one after another, in the order given.
    case ordered
}
