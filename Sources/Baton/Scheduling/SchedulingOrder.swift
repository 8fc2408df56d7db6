/// The order in which ready operations of one priority start.
///
/// ```swift
/// tiles.schedulingOrder = .lastInFirstOut     // what the user sees now comes first
/// ```
///
/// In every order, children of a running body and further attempts come first, and operations that wait for an
/// ``Exclusion`` get it in the order in which they asked. An operation whose priority is changed goes behind the others
/// that have the new priority.
@nonexhaustive
public enum SchedulingOrder: Sendable, CaseIterable {
    /// Operations whose last dependency has just finished come before those that wait, so that few results wait to be
    /// used.
    ///
    /// At most 16 such operations start in a row while others of their priority wait; if several bodies run at a time,
    /// a few more may. Operations that were ready when they were added start in the order of the adds.
    case depthFirst
    /// Operations start in the order in which they became ready, as in Foundation's `OperationQueue`.
    case firstInFirstOut
    /// The operation that became ready last starts first, as suits the tiles of a map that scrolls.
    ///
    /// Operations that became ready early may wait for as long as others come.
    case lastInFirstOut
}
