/// A rule that is checked after an operation's dependencies have finished, and before its body runs.
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
/// When the dependencies of an operation have finished and its queue has a free permit, first the operations that its
/// conditions bring along run, all together, then its conditions are evaluated, all together, on a task of the queue.
/// Meanwhile the operation holds no permit. While its queue is suspended, none of this begins. When the operation is
/// cancelled, so are the operations brought along and the evaluation, and the outcome comes when they have returned:
/// one that never returns holds back its own operation and nothing else.
///
/// Every condition counts, several of one type, too. The first one that does not let the operation run ends the
/// evaluation of the others, which are cancelled; of several that do not, one that failed comes before one that skips,
/// then the first in the order added.
public protocol OperationCondition: Sendable {
    /// What errors and explanations call it. The name of the type unless given.
    var name: String { get }

    /// Names that are held while the operation that this brings along runs, while this is evaluated, and while the body
    /// runs.
    ///
    /// Asked for once, by the call that adds this to an operation; what it would be later does not count. None unless
    /// given. Nothing is held between these phases.
    var exclusions: [Exclusion] { get }

    /// An operation that has to finish before this is evaluated: to ask for a permission, to make a directory.
    ///
    /// Called once, on the task of the evaluation, when the dependencies have finished. The operation runs as a child:
    /// it is cancelled with `operation`, and runs while the queue is suspended. One that was added before is awaited
    /// only, and not run under ``exclusions``. None unless given.
    func dependency(for operation: AnyOperation) -> AnyOperation?

    /// Whether `operation` may run: satisfied, or it is skipped, or this throws why it fails.
    ///
    /// What it throws becomes ``OperationError/conditionFailed(condition:cause:)``. Has no default, so that a misspelt
    /// one does not compile: a condition that only brings something along or holds names answers
    /// ``ConditionResult/satisfied``. May cancel `operation`, which then ends as cancelled. Of a single condition this
    /// runs on the operation's own task; of several, each in a child task.
    func evaluate(for operation: AnyOperation) async throws -> ConditionResult

    /// As above, told what ``dependency(for:)`` had answered, which has finished.
    ///
    /// Unless given, throws the error of `dependency` if it has one, else asks ``evaluate(for:)``.
    func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult
}

/// What a condition answers.
public enum ConditionResult: Sendable, Hashable {
    /// The operation may run.
    case satisfied
    /// The operation does not run, and that is no failure: it ends with ``OperationError/skipped(_:)`` and this text.
    case skip(String)
}

extension OperationCondition {
    /// The name of the type.
    public var name: String { "\(Self.self)" }

    /// None.
    public var exclusions: [Exclusion] { [] }

    /// None.
    public func dependency(for operation: AnyOperation) -> AnyOperation? { nil }

    /// Throws the error of `dependency` if it has one, else asks ``evaluate(for:)``.
    public func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult {
        if let error = dependency?.error { throw error }
        return try await evaluate(for: operation)
    }
}
