/// In which order operations of one priority start.
public enum SchedulingOrder: Sendable, CaseIterable {
    /// An operation whose last dependency has just finished comes before those that wait, so that what was begun is ended, and few
    /// results wait to be used. At most 16 in a row do so while others of their priority wait, for each body that runs at a time.
    /// Those that were ready when they were added start in the order in which they were added.
    case depthFirst
    /// In the order in which they became ready, as Foundation's `OperationQueue` does.
    case firstInFirstOut
    /// What became ready last starts first, such as the tiles of a map that scrolls. Those that were ready early may wait as long as
    /// others come.
    case lastInFirstOut
}
