/// The exit statuses of a program that count as a success. A program that a signal ended never counts as one.
public struct AcceptedStatuses: Sendable, Hashable {
    private let statuses: Set<Int32>?

    /// The status 0 alone, which is the convention.
    public static let zero = AcceptedStatuses(statuses: [0])

    /// Every status.
    public static let all = AcceptedStatuses(statuses: nil)

    /// Accepts the given statuses and no others.
    ///
    /// For example, `.these(0, 1)` suits `grep` and `diff`: `grep` exits with 1 if it finds nothing, and `diff` if it
    /// finds a difference.
    ///
    /// - Parameter statuses: The exit statuses that count as a success.
    public static func these(_ statuses: Int32...) -> AcceptedStatuses { AcceptedStatuses(statuses: Set(statuses)) }

    /// Returns true if the status counts as a success.
    ///
    /// - Parameter status: The exit status of a program.
    public func contains(_ status: Int32) -> Bool { statuses?.contains(status) ?? true }
}
