/// What a group makes of the outcomes of its children. See ``GroupOperation``.
@nonexhaustive
public enum GroupPolicy: Sendable, Hashable, CaseIterable {
    /// Every child runs; the group has failed if one of them has.
    case collectAll
    /// The first child that fails ends it: the others are cancelled, those that depend on it, too. In
    /// ``GroupOrder/ordered`` the children behind it are skipped because of it.
    case failFast
    /// The first child that succeeds ends it: the others are cancelled. The group has failed if none succeeds.
    case firstSuccess
}

/// In which order the children of a group run, if it matters. See ``GroupOperation``.
@nonexhaustive
public enum GroupOrder: Sendable, Hashable {
    /// One after another, as they were given.
    case ordered
}
