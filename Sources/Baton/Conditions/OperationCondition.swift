/// A rule that is checked after an operation's dependencies have finished and before its body runs.
///
/// ```swift
/// struct EnoughSpace: OperationCondition {
///     func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
///         try await disk.free() > 1_000_000_000 ? .satisfied : .skip("the disk is nearly full")
///     }
/// }
/// upload.addCondition(EnoughSpace())
/// ```
///
/// When the dependencies of an operation have finished and its queue has a free permit, the dependencies of its
/// conditions run, side by side. Then the conditions are evaluated, side by side, on a task of the queue. Meanwhile the
/// operation holds no permit. None of this begins while the queue is suspended.
///
/// A cancel of the operation also cancels the dependencies of its conditions and the evaluation. The operation finishes
/// when they have returned, so a condition that never returns delays its own operation and no other.
///
/// Several conditions of the same type all count. As soon as one condition does not let the operation run, the
/// evaluation of the others is cancelled. If several conditions do not let it run, a failed one takes precedence over
/// one that skips, and among equals the one that was added first.
public protocol OperationCondition: Sendable {
    /// The name of the condition in errors and explanations. The default is the name of the type.
    var name: String { get }

    /// The exclusions that are held while the condition's dependency runs, while it is evaluated, and while the body
    /// runs.
    ///
    /// Nothing is held between these phases. The value is read once, by the call that adds the condition to an
    /// operation. The default is empty.
    var exclusions: [Exclusion] { get }

    /// Returns an operation that has to finish before the condition is evaluated, such as a request for a permission.
    ///
    /// Called once, on the task of the evaluation, when the dependencies of `operation` have finished. The returned
    /// operation runs as a child: a cancel of `operation` cancels it, and it runs even while the queue is suspended. An
    /// operation that was added to a queue before is only awaited, and does not run under ``exclusions``. The default
    /// is nil.
    ///
    /// - Parameter operation: The operation that has the condition.
    func dependency(for operation: AnyOperation) -> AnyOperation?

    /// Decides whether `operation` may run.
    ///
    /// A condition that only has a dependency or exclusions returns ``ConditionResult/satisfied``. There is no default,
    /// so that a misspelt implementation does not compile. A single condition is evaluated on the operation's own task;
    /// several are evaluated in a child task each. The condition may cancel `operation`, which then ends as cancelled.
    ///
    /// - Parameter operation: The operation that has the condition.
    /// - Returns: Whether the operation may run or is skipped.
    /// - Throws: An error if the operation is to fail. It becomes the cause in
    ///   ``OperationError/conditionFailed(condition:cause:)``.
    func evaluate(for operation: AnyOperation) async throws -> ConditionResult

    /// Decides whether `operation` may run, given the operation that ``dependency(for:)`` has returned.
    ///
    /// The default throws the error of `dependency` if it has one, and calls ``evaluate(for:)`` otherwise.
    ///
    /// - Parameters:
    ///   - operation: The operation that has the condition.
    ///   - dependency: The operation that ``dependency(for:)`` has returned, which has finished; nil if there is none.
    func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult
}

/// The result of evaluating a condition.
public enum ConditionResult: Sendable, Hashable {
    /// The operation may run.
    case satisfied
    /// The operation does not run, which is not a failure: it ends with ``OperationError/skipped(_:)`` and this text.
    case skip(String)
}

extension OperationCondition {
    /// The name of the type.
    public var name: String { "\(Self.self)" }

    /// An empty array.
    public var exclusions: [Exclusion] { [] }

    /// Returns nil.
    public func dependency(for operation: AnyOperation) -> AnyOperation? { nil }

    /// Throws the error of `dependency` if it has one, and calls ``evaluate(for:)`` otherwise.
    public func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult {
        if let error = dependency?.error { throw error }
        return try await evaluate(for: operation)
    }
}
