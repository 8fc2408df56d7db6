/// A condition as an operation stores it. A closure, which is the most common kind, is stored in place. Any other
/// condition is stored as an object, because copying and calling any other existential takes several times as long.
///
/// The stored condition keeps the exclusions that the user's condition returned at the add. The user's property may
/// return others on each call, and the evaluation would then request exclusions that the operation does not know.
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

/// A condition without exclusions, for which it stores nothing.
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

/// A condition that is a closure. The evaluation calls the closure directly, because a call through the protocol costs
/// an additional frame and executor check.
struct ClosureCondition: WrappingCondition {
    let name: String
    let body: nonisolated(nonsending) @Sendable (AnyOperation) async throws -> ConditionResult

    func dependency(askedBy ask: (any OperationCondition) async -> AnyOperation?) async -> AnyOperation? { nil }

    /// A closure has no dependency, so `dependency` is nil.
    func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult {
        try await body(operation)
    }
}
