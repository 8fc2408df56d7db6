/// How far an operation has come, at one moment: a value.
///
/// The idea, and the names of the members, are those of Foundation's `Progress`.
public struct OperationProgress: Sendable, Hashable {
    /// Units done, 0 or more, and never more than the total if there is one. What a unit is, the operation decides.
    ///
    /// After a success with a total, it is the total.
    public let completedUnitCount: Int

    /// Units in all, 0 or more; nil while nobody knows.
    public let totalUnitCount: Int?

    /// From 0 to 1. 0 while there is no total or it is 0; 1 after a success; after a failure, what it was then.
    ///
    /// Includes what children that still run have reached. May be 1 before the operation has finished, and goes back
    /// when the total grows, and to 0 when the operation is to run again.
    public let fractionCompleted: Double

    /// Whether the operation has its outcome, a success or not. Nothing changes after that.
    public let isFinished: Bool
}

extension OperationProgress: CustomStringConvertible {
    /// "3 of 10 (30 %)"; "3 (0 %)" without a total; "0 %" if nobody has counted anything. Per cents are rounded down.
    public var description: String {
        // 29 of 100 is a little less than 0.29 as a `Double`.
        let percent = "\(Int((fractionCompleted * 100 + 1e-9).rounded(.down))) %"
        if let totalUnitCount { return "\(completedUnitCount) of \(totalUnitCount) (\(percent))" }
        return completedUnitCount == 0 ? percent : "\(completedUnitCount) (\(percent))"
    }
}
