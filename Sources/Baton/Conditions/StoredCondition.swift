/// As an operation keeps it: an object, because to copy any other condition, and to ask it, takes several times as long. Its
/// exclusions are those that the condition gave at the add: the user's may answer otherwise each time, and the evaluation
/// would ask for names of which the operation knows nothing.
typealias StoredCondition = any OperationCondition & AnyObject

/// Of one without exclusions, which takes no room for them.
final class BoxedCondition<Base: OperationCondition>: WrappingCondition {
    let base: Base

    init(base: Base) { self.base = base }

    var name: String { base.name }

    func dependency(for operation: AnyOperation) -> AnyOperation? { base.dependency(for: operation) }

    func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult {
        try await base.evaluate(for: operation, after: dependency)
    }
}

final class BoxedExclusiveCondition<Base: OperationCondition>: WrappingCondition {
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

/// A closure: asked directly, for a call through the protocol takes a frame and a look for the executor of its own.
final class ClosureCondition: WrappingCondition {
    let name: String
    let body: nonisolated(nonsending) @Sendable (AnyOperation) async throws -> ConditionResult

    init(name: String, body: nonisolated(nonsending) @escaping @Sendable (AnyOperation) async throws -> ConditionResult)
    {
        self.name = name
        self.body = body
    }

    /// It brings nothing along.
    func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult {
        try await body(operation)
    }
}
