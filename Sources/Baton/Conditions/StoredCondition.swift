/// As an operation keeps it: a closure, the one that most operations have, in its place, and anything else as an
/// object, because to copy another existential, and to ask it, takes several times as long.
///
/// Its exclusions are those that the condition gave at the add: the user's may answer otherwise each time, and the
/// evaluation would ask for names of which the operation knows nothing.
enum StoredCondition {
    case closure(ClosureCondition)
    case object(any OperationCondition & AnyObject)

    var condition: any OperationCondition {
        switch self {
        case .closure(let condition): condition
        case .object(let condition): condition
        }
    }
}

/// Of one without exclusions, which takes no room for them.
final class BoxedCondition<Base: OperationCondition>: WrappingCondition {
    let base: Base

    init(base: Base) { self.base = base }

    var name: String { base.name }

    func dependency(for operation: AnyOperation) -> AnyOperation? { base.dependency(for: operation) }

    func dependency(askedBy ask: (any OperationCondition) async -> AnyOperation?) async -> AnyOperation? {
        await ask(base)
    }

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

    func dependency(askedBy ask: (any OperationCondition) async -> AnyOperation?) async -> AnyOperation? {
        await ask(base)
    }

    func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult {
        try await base.evaluate(for: operation, after: dependency)
    }
}

/// A closure: asked directly, for a call through the protocol takes a frame and a look for the executor of its own.
struct ClosureCondition: WrappingCondition {
    let name: String
    let body: nonisolated(nonsending) @Sendable (AnyOperation) async throws -> ConditionResult

    func dependency(askedBy ask: (any OperationCondition) async -> AnyOperation?) async -> AnyOperation? { nil }

    /// It brings nothing along.
    func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult {
        try await body(operation)
    }
}
