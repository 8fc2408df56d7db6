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
/// The operation waits for its exclusions, its rates and the permit for its body afterwards, and its conditions are not
/// evaluated again, except that a ``CircuitBreaker`` is then asked once more. To evaluate another condition while an
/// exclusion is held, give the exclusion to an operation whose body runs the one that has the condition, with
/// ``OperationContext/run(_:file:line:)``, or check once more in the body.
///
/// A cancellation of the operation also cancels the dependencies of its conditions and the evaluation. The operation
/// finishes when they have returned, so a condition that never returns delays its own operation and no other.
///
/// Conditions of the same type are not merged: each one is evaluated. The first one that does not let the operation
/// run, in the order in which they were added, decides; which condition answers first has no effect. As soon as it and
/// those before it have answered, the evaluation of the others is cancelled. Therefore add conditions that answer
/// quickly before those that ask the user or a server.
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
    /// Baton calls this method once, on the operation's own task, after the dependencies of `operation` have finished.
    /// If an earlier condition has cancelled that task, another task of the queue makes the call. The returned
    /// operation runs as a child: it runs even while the queue is suspended, and a cancellation of `operation` cancels
    /// it, also if other operations need it. An operation that was added to a queue before is a child, too, but does
    /// not run under ``exclusions``. If several operations need the result of one request, return a new operation for
    /// each, and let them join: `unique(by: "permission", policy: .join)`. The request then goes on as long as one of
    /// them needs it. The default is nil.
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
    /// The default calls ``evaluate(for:)`` if `dependency` has an output, and throws
    /// ``OperationError/dependencyFailed(source:via:cause:)``, which names `dependency`, otherwise.
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
    ///
    /// - Parameter operation: The operation that has the condition.
    public func dependency(for operation: AnyOperation) -> AnyOperation? { nil }

    /// Calls ``evaluate(for:)`` if the dependency has an output.
    ///
    /// - Parameters:
    ///   - operation: The operation that has the condition.
    ///   - dependency: The operation that ``dependency(for:)`` returned, which has finished.
    /// - Returns: The result of ``evaluate(for:)``.
    /// - Throws: ``OperationError/dependencyFailed(source:via:cause:)`` if the dependency has no output, or any
    ///   error that ``evaluate(for:)`` throws.
    public func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult {
        if let dependency, let error = dependency.error {
            var via = dependency.reference
            via.isOfCondition = true
            throw error.asDependencyFailure(via: via)
        }
        return try await evaluate(for: operation)
    }
}

// MARK: - Conditions of an operation

extension AnyOperation {
    /// Makes the operation run only if `condition` is satisfied.
    ///
    /// ```swift
    /// image.addCondition(.mutuallyExclusive("gpu")).addCondition(EnoughSpace())
    /// ```
    ///
    /// In a chain, the condition applies to the last step alone: `source.map { }.addCondition(rule)` leaves `source`
    /// without the condition.
    ///
    /// If the dependencies of an operation keep it from running (a policy is not met, or an input has no output), its
    /// conditions are not evaluated. A call after the add is ``Misuse`` and changes nothing.
    ///
    /// - Parameter condition: The condition to add. See ``OperationCondition`` for when and where it is evaluated.
    /// - Returns: This operation.
    @discardableResult
    public final func addCondition<Condition: OperationCondition>(
        _ condition: Condition, file: StaticString = #fileID, line: UInt = #line
    ) -> Self {
        // The properties of a condition are the user's code, so they are read before the operation is locked.
        let site = DeclarationSite(file, line)
        var exclusions = condition.exclusions
        for index in exclusions.indices { exclusions[index].declarationSite = site }
        var rates = condition.wantedRates
        for index in rates.indices { rates[index].declarationSite = site }
        change(condition.inWords, CallSite(file: file, line: line)) { life in
            let optionalState = life.ensureOptionalState()
            optionalState.preconditions.add(rates)
            // An `Exclusion` is acquired and a `Rate` is counted. Neither is evaluated.
            if Condition.self == Exclusion.self {
                optionalState.preconditions.add(exclusions)
            } else if Condition.self == Rate.self {
                return
            } else if exclusions.isEmpty {
                optionalState.preconditions.add(.object(BoxedCondition(base: condition)), [])
            } else {
                let boxed = BoxedExclusiveCondition(base: condition, exclusions: exclusions)
                optionalState.preconditions.add(.object(boxed), exclusions)
            }
        }
        return self
    }

    /// Makes the operation run only if `evaluate` returns ``ConditionResult/satisfied``.
    ///
    /// ```swift
    /// upload.addCondition("is signed in") { _ in session.isOpen ? .satisfied : .skip("nobody is signed in") }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the condition in errors and explanations.
    ///   - evaluate: Called once, on the same task as ``OperationCondition/evaluate(for:)`` would be, with this
    ///     operation. An error that it throws becomes ``OperationError/conditionFailed(condition:cause:)``.
    /// - Returns: This operation.
    @discardableResult
    @inlinable
    public final func addCondition(
        _ name: String, file: StaticString = #fileID, line: UInt = #line,
        _ evaluate:
            nonisolated(nonsending) @escaping @Sendable (_ operation: AnyOperation) async throws -> ConditionResult
    ) -> Self {
        addCondition(called: name, file, line, evaluate)
        return self
    }

    /// Adds the condition. The inlinable function that calls this returns the operation, so that a caller which
    /// discards the result does not retain it.
    @usableFromInline
    final func addCondition(
        called name: String, _ file: StaticString, _ line: UInt,
        _ evaluate: nonisolated(nonsending) @escaping @Sendable (AnyOperation) async throws -> ConditionResult
    ) {
        change(ConditionText.phrase(for: name), CallSite(file: file, line: line)) { life in
            life.withEnsuredOptionalState {
                $0.preconditions.add(.closure(ClosureCondition(name: name, body: evaluate)), [])
            }
        }
    }
}

extension OperationCondition {
    /// The condition as a part of a sentence.
    var inWords: String {
        switch self {
        case let exclusion as Exclusion: ExclusionText.phrase(for: exclusion.name)
        case let rate as Rate: "the rate \(rate)"
        default: ConditionText.phrase(for: name)
        }
    }
}

/// The texts for conditions of which only the name is known.
enum ConditionText {
    static func phrase(for name: String) -> String { name.isBlank ? "a condition" : "the condition \(name.quoted)" }
}

// MARK: - Conditions on dependencies

/// A condition that is satisfied if no direct dependency of the operation has failed or been cancelled.
///
/// The condition is for dependencies that only order operations: an operation whose *input* has no output does not run
/// anyway, and for a single dependency the policy of the edge is simpler. A dependency that was skipped has not failed.
public struct NoFailedDependencies: OperationCondition {
    private let ignoresCancellations: Bool

    /// Makes the condition, for all direct dependencies of the operation that it is added to.
    ///
    /// - Parameter ignoringCancellations: True to let the operation run if dependencies were cancelled, but none has
    ///   failed.
    public init(ignoringCancellations: Bool = false) { ignoresCancellations = ignoringCancellations }

    /// Returns ``ConditionResult/satisfied`` if no dependency has failed or, unless cancellations are ignored, been
    /// cancelled.
    ///
    /// - Parameter operation: The operation that has the condition.
    /// - Throws: ``ConditionError/dependenciesFailed(_:)`` with the dependencies that have failed or, unless
    ///   cancellations are ignored, been cancelled.
    /// - Complexity: O(n), where n is the number of direct dependencies.
    public func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        let failures = operation.dependencyFailures { outcome in
            outcome == .failure || outcome == .cancelled && !ignoresCancellations
        }
        if failures.isEmpty { return .satisfied }
        throw ConditionError.dependenciesFailed(failures)
    }
}

/// A condition that is satisfied if no direct dependency of the operation was cancelled.
public struct NoCancelledDependencies: OperationCondition {
    /// Makes the condition.
    public init() {}

    /// Returns ``ConditionResult/satisfied`` if no dependency was cancelled.
    ///
    /// - Parameter operation: The operation that has the condition.
    /// - Throws: ``ConditionError/dependenciesFailed(_:)`` with all dependencies that were cancelled.
    /// - Complexity: O(n), where n is the number of direct dependencies.
    public func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        let cancelled = operation.dependencyFailures { $0 == .cancelled }
        if cancelled.isEmpty { return .satisfied }
        throw ConditionError.dependenciesFailed(cancelled)
    }
}

extension AnyOperation {
    fileprivate final func dependencyFailures(where isCounted: (OperationOutcome) -> Bool) -> [OperationFailure] {
        dependencies.compactMap { dependency in
            guard let error = dependency.error, isCounted(error.outcome) else { return nil }
            return OperationFailure(operation: dependency.reference, error: error)
        }
    }
}

// MARK: - Errors

/// The error of one of Baton's own conditions: the cause in ``OperationError/conditionFailed(condition:cause:)``.
@nonexhaustive
public enum ConditionError: Error, Sendable, CustomStringConvertible {
    /// These dependencies have failed or were cancelled.
    case dependenciesFailed([OperationFailure])
    /// A negated condition has failed, because the condition with this name is satisfied.
    case satisfied(String)
    /// A negated condition has failed, because this exclusion or rate is always satisfied. The text names it, as in
    /// "the exclusion ‘cache’".
    case alwaysSatisfied(String)
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
        case .satisfied(let condition): "\(condition.isBlank ? "a condition" : condition.quoted) is satisfied"
        case .alwaysSatisfied(let condition):
            "\(condition) is always satisfied, so its negation never is: remove `negated`"
        case .neitherSatisfied(let first, let second):
            "neither: \(ErrorText.text(of: first)); nor: \(ErrorText.text(of: second))"
        case .notAuthorized(let capability, let status): "\(capability.quoted) is \(status)"
        }
    }
}
