/// The error of one of Baton's own conditions: the cause in ``OperationError/conditionFailed(condition:cause:)``.
@nonexhaustive
public enum ConditionError: Error, Sendable, CustomStringConvertible {
    /// These dependencies have failed or were cancelled.
    case dependenciesFailed([OperationFailure])
    /// A negated condition has failed, because the condition with this name is satisfied.
    case satisfied(String)
    /// Neither of two conditions is satisfied, for these reasons.
    case neitherSatisfied(any Error, any Error)
    /// The capability of this name may not be used.
    case notAuthorized(String, CapabilityStatus)

    /// A description of the error on one line.
    public var description: String { ErrorText.describing { text } }

    private var text: String {
        switch self {
        case .dependenciesFailed(let failures):
            ErrorText.list(failures)
        case .satisfied(let condition): "‘\(condition)’ is satisfied"
        case .neitherSatisfied(let first, let second): "neither: \(first); nor: \(second)"
        case .notAuthorized(let capability, let status): "‘\(capability)’ is \(status)"
        }
    }
}
