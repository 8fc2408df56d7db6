/// The order in which ready operations of a queue start. The five levels are those of Foundation's `queuePriority`.
///
/// Among operations that are ready at the same moment, those of a higher priority start first. A priority does not
/// override an operation's dependencies, and does not interrupt operations that run.
public enum OperationPriority: UInt8, Sendable, Hashable, Comparable, CaseIterable {
    /// Starts after operations of all other priorities.
    case veryLow
    /// Starts after normal work.
    case low
    /// The default.
    case normal
    /// Starts before normal work.
    case high
    /// Starts before operations of all other priorities.
    case veryHigh

    /// Returns whether `left` starts after `right`.
    @inlinable
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
