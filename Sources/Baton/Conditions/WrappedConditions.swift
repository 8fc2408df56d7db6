/// A condition that forwards to others. Implementations provide `evaluate(for:after:)`, so that they can pass a
/// dependency on to the wrapped condition. `evaluate(for:)` forwards to it.
protocol WrappingCondition: OperationCondition {
    /// Returns the dependency of this condition. Calls `ask` for each wrapped condition. `ask` runs the condition's
    /// code on a task that no other condition has cancelled.
    func dependency(askedBy ask: (any OperationCondition) async -> AnyOperation?) async -> AnyOperation?

    /// The rates of the wrapped conditions. Read once, by the call that adds the condition to an operation.
    var wrappedRates: [Rate] { get }

    /// True if the condition is satisfied whatever the user's conditions answer, because it wraps an exclusion or a
    /// rate.
    var isAlwaysSatisfied: Bool { get }
}

extension WrappingCondition {
    func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        try await evaluate(for: operation, after: nil)
    }

    var wrappedRates: [Rate] { [] }

    var isAlwaysSatisfied: Bool { false }
}

/// Conditions that are made from others. They keep the exclusions and rates of the conditions that they wrap, and,
/// except for ``OperationCondition/silent``, their dependencies.
extension OperationCondition {
    /// A condition that is satisfied if this one throws or skips, and fails with ``ConditionError/satisfied(_:)``
    /// otherwise.
    ///
    /// An ``Exclusion`` and a ``Rate`` are always satisfied, because they decide when an operation runs, and not
    /// whether. An operation with the negation of one of them always fails, with
    /// ``ConditionError/alwaysSatisfied(_:)``. So does an operation with the negation of `condition.or(exclusion)`.
    /// With `condition.and(exclusion).negated` the operation waits for the exclusion, and runs if `condition` throws or
    /// skips.
    public var negated: some OperationCondition { NegatedCondition(base: self) }

    /// The same condition without its ``dependency(for:)``: no dependency runs before the condition is evaluated.
    public var silent: some OperationCondition { SilentCondition(base: self) }

    /// A condition that is satisfied if both conditions are.
    ///
    /// The second condition is not evaluated if the first does not let the operation run. The dependencies of both
    /// conditions run concurrently, before either condition is evaluated.
    ///
    /// - Parameter other: The second condition.
    public func and(_ other: some OperationCondition) -> some OperationCondition {
        ConditionPair(first: self, second: other, rule: .both)
    }

    /// A condition that is satisfied if at least one of the two is.
    ///
    /// The second condition is not evaluated if the first is satisfied. If neither is, the operation is skipped if one
    /// of them skips, and fails with ``ConditionError/neitherSatisfied(_:_:)`` otherwise. The dependencies of both
    /// conditions run concurrently, before either condition is evaluated.
    ///
    /// - Parameter other: The second condition.
    public func or(_ other: some OperationCondition) -> some OperationCondition {
        ConditionPair(first: self, second: other, rule: .either)
    }
}

private struct NegatedCondition<Base: OperationCondition>: WrappingCondition {
    let base: Base

    var name: String { "not \(base.name)" }

    var exclusions: [Exclusion] { base.exclusions }

    var wrappedRates: [Rate] { base.wantedRates }

    func dependency(for operation: AnyOperation) -> AnyOperation? { base.dependency(for: operation) }

    func dependency(askedBy ask: (any OperationCondition) async -> AnyOperation?) async -> AnyOperation? {
        await ask(base)
    }

    func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult {
        do {
            let result = try await runOnChildTask { try await base.evaluate(for: operation, after: dependency) }
            if case .skip = result { return .satisfied }
        } catch {
            // The evaluation was cancelled, so its error says nothing about the condition.
            try Task.checkCancellation()
            return .satisfied
        }
        throw base.alwaysSatisfied.map(ConditionError.alwaysSatisfied) ?? ConditionError.satisfied(base.name)
    }
}

extension OperationCondition {
    /// The condition as the beginning of a sentence, if it only decides when an operation runs, and so is always
    /// satisfied; otherwise nil.
    fileprivate var alwaysSatisfied: String? {
        switch self {
        case is Exclusion: inWords
        case let rate as Rate: "the rate \(rate.name)"
        case let wrapping as any WrappingCondition: wrapping.isAlwaysSatisfied ? inWords : nil
        default: nil
        }
    }
}

private struct SilentCondition<Base: OperationCondition>: WrappingCondition {
    let base: Base

    var name: String { base.name }

    var exclusions: [Exclusion] { base.exclusions }

    var wrappedRates: [Rate] { base.wantedRates }

    var isAlwaysSatisfied: Bool { base.alwaysSatisfied != nil }

    func dependency(askedBy ask: (any OperationCondition) async -> AnyOperation?) async -> AnyOperation? { nil }

    func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult {
        try await base.evaluate(for: operation, after: nil)
    }
}

private struct ConditionPair<First: OperationCondition, Second: OperationCondition>: WrappingCondition {
    enum Rule: String {
        case both = "and"
        case either = "or"
    }

    let first: First
    let second: Second
    let rule: Rule

    var name: String { "\(first.name) \(rule.rawValue) \(second.name)" }

    var exclusions: [Exclusion] { first.exclusions + second.exclusions }

    var wrappedRates: [Rate] { first.wantedRates + second.wantedRates }

    var isAlwaysSatisfied: Bool {
        switch rule {
        case .both: first.alwaysSatisfied != nil && second.alwaysSatisfied != nil
        case .either: first.alwaysSatisfied != nil || second.alwaysSatisfied != nil
        }
    }

    func dependency(for operation: AnyOperation) -> AnyOperation? {
        pair(first.dependency(for: operation), second.dependency(for: operation))
    }

    func dependency(askedBy ask: (any OperationCondition) async -> AnyOperation?) async -> AnyOperation? {
        let first = await ask(first)
        return pair(first, await ask(second))
    }

    private func pair(_ first: AnyOperation?, _ second: AnyOperation?) -> AnyOperation? {
        first == nil && second == nil ? nil : DependencyPair(first, second, name: "dependencies of \(name.quoted)")
    }

    func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult {
        let pair = dependency as? DependencyPair
        switch rule {
        case .both:
            let result = try await runOnChildTask { try await first.evaluate(for: operation, after: pair?.first) }
            guard case .satisfied = result else { return result }
            return try await second.evaluate(for: operation, after: pair?.second)
        case .either:
            let firstAnswer = await answer {
                try await runOnChildTask { try await first.evaluate(for: operation, after: pair?.first) }
            }
            if case .success(.satisfied) = firstAnswer { return .satisfied }
            try Task.checkCancellation()
            let secondAnswer = await answer {
                try await runOnChildTask { try await second.evaluate(for: operation, after: pair?.second) }
            }
            if case .failure = secondAnswer { try Task.checkCancellation() }
            switch (firstAnswer, secondAnswer) {
            case (_, .success(.satisfied)): return .satisfied
            case (.success(let skip), _), (.failure, .success(let skip)): return skip
            case (.failure(let one), .failure(let other)): throw ConditionError.neitherSatisfied(one, other)
            }
        }
    }

    private func answer(
        _ evaluate: () async throws -> ConditionResult
    ) async -> Result<ConditionResult, any Error> {
        do { return .success(try await evaluate()) } catch { return .failure(error) }
    }
}

/// A group that runs the dependencies of two conditions and keeps track of which belongs to which condition.
private final class DependencyPair: GroupOperation, @unchecked Sendable {
    // @unchecked: `first` and `second` are constant.
    let first: AnyOperation?
    let second: AnyOperation?

    init(_ first: AnyOperation?, _ second: AnyOperation?, name: String) {
        self.first = first
        self.second = second
        let dependencies = [first, second].compactMap { $0 }
        super.init(name, dependencies, policy: .collectAll, maxConcurrentOperationCount: nil)
    }
}

/// Runs code of a condition on a child task. If the code cancels its task, nothing else is cancelled. A cancellation of
/// the operation reaches the code.
func runOnChildTask<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
        group.addTask { try await work() }
        return try await group.next()!
    }
}

// MARK: - Stored conditions

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
