/// Which of several ready operations of a queue starts first. The five levels of Foundation's `queuePriority`.
///
/// A higher priority starts before a lower one that is ready at the same moment. It does not pass an operation's
/// dependencies, and it does not interrupt what runs.
public enum OperationPriority: UInt8, Sendable, Hashable, Comparable, CaseIterable {
    /// After everything else.
    case veryLow
    /// After normal work.
    case low
    /// The level of an operation that says nothing.
    case normal
    /// Before normal work.
    case high
    /// Before everything else.
    case veryHigh

    /// Whether `left` starts after `right`.
    @inlinable
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
