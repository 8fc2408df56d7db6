/// In which order ready operations of one priority start.
///
/// In every order children of a running body and further attempts come first, and what waits for an ``Exclusion``
/// stands in a line of its own, in the order of arrival. An operation whose priority is raised or lowered goes behind
/// the others that have it.
@nonexhaustive
public enum SchedulingOrder: Sendable, CaseIterable {
    /// An operation whose last dependency has just finished comes before those that wait, so that what was begun is
    /// ended, and few results wait to be used. At most 16 in a row do so while others of their priority wait; with
    /// several bodies at a time a few more. Those that were ready when they were added start in that order.
    case depthFirst
    /// In the order in which they became ready, as Foundation's `OperationQueue` does.
    case firstInFirstOut
    /// What became ready last starts first, such as the tiles of a map that scrolls. Those that were ready early may
    /// wait as long as others come.
    case lastInFirstOut
}
