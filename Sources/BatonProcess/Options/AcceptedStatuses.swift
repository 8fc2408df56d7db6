/// Which exit statuses of a program are a success. To be ended by a signal never is.
public struct AcceptedStatuses: Sendable, Hashable {
    private let statuses: Set<Int32>?

    /// 0, as is usual.
    public static let zero = AcceptedStatuses(statuses: [0])

    /// Every status.
    public static let all = AcceptedStatuses(statuses: nil)

    /// These: `.these(0, 1)` for `grep` and `diff`, which say 1 if they find nothing, or something.
    public static func these(_ statuses: Int32...) -> AcceptedStatuses { AcceptedStatuses(statuses: Set(statuses)) }

    /// Whether this one is a success.
    public func contains(_ status: Int32) -> Bool { statuses?.contains(status) ?? true }
}
