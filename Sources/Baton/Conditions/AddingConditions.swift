extension AnyOperation {
    /// Makes the operation run only if `condition` lets it; see ``OperationCondition``.
    ///
    /// ```swift
    /// image.addCondition(.mutuallyExclusive("gpu")).addCondition(EnoughSpace())
    /// ```
    ///
    /// An operation whose dependencies keep it from running (a policy that is not met, an input without an output) does not
    /// ask its conditions. After the add this is ``Misuse`` and changes nothing.
    @discardableResult
    public final func addCondition<Condition: OperationCondition>(
        _ condition: Condition, file: StaticString = #fileID, line: UInt = #line
    ) -> Self {
        // Asked for before locking: it is the user's.
        let exclusions = condition.exclusions
        change("a condition", CallSite(file: file, line: line)) { life in
            let details = life.madeDetails()
            // One that is nothing but a name is held, and not asked.
            if Condition.self == Exclusion.self {
                details.rules.add(exclusions)
            } else if exclusions.isEmpty {
                details.rules.add(BoxedCondition(base: condition), [])
            } else {
                details.rules.add(BoxedExclusiveCondition(base: condition, exclusions: exclusions), exclusions)
            }
        }
        return self
    }

    /// Makes the operation run only if `evaluate` lets it.
    ///
    /// ```swift
    /// upload.addCondition("is signed in") { _ in session.isOpen ? .satisfied : .skip("nobody is signed in") }
    /// ```
    ///
    /// - Parameters:
    ///   - name: What errors and explanations call it.
    ///   - evaluate: Called once, as ``OperationCondition/evaluate(for:)`` is, with this operation. What it throws becomes
    ///     ``OperationError/conditionFailed(condition:cause:)``.
    @discardableResult
    public final func addCondition(
        _ name: String, file: StaticString = #fileID, line: UInt = #line,
        _ evaluate:
            nonisolated(nonsending) @escaping @Sendable (_ operation: AnyOperation) async throws -> ConditionResult
    ) -> Self {
        let condition = ClosureCondition(name: name, body: evaluate)
        change("a condition", CallSite(file: file, line: line)) { $0.madeDetails().rules.add(condition, []) }
        return self
    }
}

/// As an operation keeps it: an object, because to copy any other condition, and to ask it, takes several times as long. Its
/// exclusions are those that the condition gave at the add: the user's may answer otherwise each time, and the evaluation
/// would ask for names of which the operation knows nothing.
typealias StoredCondition = any OperationCondition & AnyObject

/// Of one without exclusions, which takes no room for them.
private final class BoxedCondition<Base: OperationCondition>: WrappingCondition {
    let base: Base

    init(base: Base) { self.base = base }

    var name: String { base.name }

    func dependency(for operation: AnyOperation) -> AnyOperation? { base.dependency(for: operation) }

    func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult {
        try await base.evaluate(for: operation, after: dependency)
    }
}

private final class BoxedExclusiveCondition<Base: OperationCondition>: WrappingCondition {
    let base: Base
    let exclusions: [Exclusion]

    init(base: Base, exclusions: [Exclusion]) {
        self.base = base
        self.exclusions = exclusions
    }

    var name: String { base.name }

    func dependency(for operation: AnyOperation) -> AnyOperation? { base.dependency(for: operation) }

    func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult {
        try await base.evaluate(for: operation, after: dependency)
    }
}

private final class ClosureCondition: OperationCondition {
    let name: String
    let body: nonisolated(nonsending) @Sendable (AnyOperation) async throws -> ConditionResult

    init(name: String, body: nonisolated(nonsending) @escaping @Sendable (AnyOperation) async throws -> ConditionResult)
    {
        self.name = name
        self.body = body
    }

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult { try await body(operation) }

    /// It brings nothing along.
    func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult {
        try await body(operation)
    }
}
