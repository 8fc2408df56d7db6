/// One that hands the call on: the default of the other call is for conditions that look at the operation alone.
protocol WrappingCondition: OperationCondition {
    /// The operation that this condition brings along. It asks each condition that it wraps through `ask`, which gives
    /// each a task that the others have not cancelled.
    func dependency(askedBy ask: (any OperationCondition) async -> AnyOperation?) async -> AnyOperation?

    /// The rates of the conditions that it wraps. Asked for once, by the call that adds it to an operation.
    var wrappedRates: [Rate] { get }
}

extension WrappingCondition {
    func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        try await evaluate(for: operation, after: nil)
    }

    var wrappedRates: [Rate] { [] }
}

/// Conditions made from others. All keep the exclusions and rates of what they wrap, and but for
/// ``OperationCondition/silent`` what it brings along.
extension OperationCondition {
    /// Satisfied if this is not: if it throws or skips. Fails with ``ConditionError/satisfied(_:)`` if it is.
    public var negated: some OperationCondition { NegatedCondition(base: self) }

    /// The same without the operation that this brings along: it only looks, and does not ask or prepare anything.
    public var silent: some OperationCondition { SilentCondition(base: self) }

    /// Satisfied if both are. The second is not asked when the first does not let the operation run.
    ///
    /// The operations that both bring along run first, side by side.
    public func and(_ other: some OperationCondition) -> some OperationCondition {
        ConditionPair(first: self, second: other, rule: .both)
    }

    /// Satisfied if one of them is. The second is not asked when the first is satisfied.
    ///
    /// If neither is, the operation is skipped if one of them says so, else it fails with
    /// ``ConditionError/neitherSatisfied(_:_:)``. The operations that both bring along run first, side by side.
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
            let result = try await onOwnTask { try await base.evaluate(for: operation, after: dependency) }
            if case .skip = result { return .satisfied }
        } catch {
            // It was called off, and says nothing about the condition.
            try Task.checkCancellation()
            return .satisfied
        }
        throw ConditionError.satisfied(base.name)
    }
}

private struct SilentCondition<Base: OperationCondition>: WrappingCondition {
    let base: Base

    var name: String { base.name }

    var exclusions: [Exclusion] { base.exclusions }

    var wrappedRates: [Rate] { base.wantedRates }

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

    func dependency(for operation: AnyOperation) -> AnyOperation? {
        pair(first.dependency(for: operation), second.dependency(for: operation))
    }

    func dependency(askedBy ask: (any OperationCondition) async -> AnyOperation?) async -> AnyOperation? {
        let first = await ask(first)
        return pair(first, await ask(second))
    }

    private func pair(_ first: AnyOperation?, _ second: AnyOperation?) -> AnyOperation? {
        first == nil && second == nil ? nil : DependencyPair(first, second)
    }

    func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult {
        let pair = dependency as? DependencyPair
        switch rule {
        case .both:
            let result = try await onOwnTask { try await first.evaluate(for: operation, after: pair?.first) }
            guard case .satisfied = result else { return result }
            return try await second.evaluate(for: operation, after: pair?.second)
        case .either:
            let firstAnswer = await answer {
                try await onOwnTask { try await first.evaluate(for: operation, after: pair?.first) }
            }
            if case .success(.satisfied) = firstAnswer { return .satisfied }
            try Task.checkCancellation()
            let secondAnswer = await answer {
                try await onOwnTask { try await second.evaluate(for: operation, after: pair?.second) }
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

/// Runs what two conditions bring along, and remembers whose is whose.
private final class DependencyPair: GroupOperation, @unchecked Sendable {
    // @unchecked: both are constant.
    let first: AnyOperation?
    let second: AnyOperation?

    init(_ first: AnyOperation?, _ second: AnyOperation?) {
        self.first = first
        self.second = second
        super.init([first, second].compactMap { $0 }, name: nil, policy: .collectAll, maxConcurrentOperationCount: nil)
    }
}
