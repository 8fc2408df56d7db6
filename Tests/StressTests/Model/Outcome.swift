import Baton

/// What an operation made: a number that depends on all that its body was given.
struct Value: Sendable {
    let number: UInt64
    let token: Token
    /// One that its body depended on, as a page has the next one.
    var source: AnyOperation?

    /// What a group makes.
    static let nothing = Value(number: 0, token: Token(ResourceCount()))
}

/// What a failing body throws.
struct Thrown: Error {
    let by: Int
    let token: Token
}

/// An outcome as the model knows it: comparable, and holding nothing.
indirect enum Outcome: Equatable, Sendable {
    case value(UInt64)
    case threw(Int)
    /// The body threw on what another operation had ended with, and that was not what its body had thrown.
    case threwOn(Outcome)
    case dependencyFailed(source: Int, via: Int, cause: Outcome)
    case cancelled(Reason)
    case queueReleased
    case queueShutDown
    case skipped(by: Int, OperationOutcome)
    case conditionFailed(String, cause: String)
    case skippedByCondition(String)
    /// A condition, or what it brought along.
    case conditionThrew(String)
    case groupFailed([FailedChild])
    /// With the one that the path begins with.
    case exclusionDeadlock(from: Int)
    case timedOut(Duration)
    case duplicate(of: Int)
    case cycle
    /// What decides about another attempt.
    case consentThrew(Int)
    case other(String)

    enum Reason: Equatable, Sendable {
        case requested
        case because(String)
        case parent(Int)
        case caller
        case queue
        case timeout(Duration)
        case replaced(by: Int)
    }

    var number: UInt64? {
        if case .value(let number) = self { number } else { nil }
    }

    /// The body returned or threw, and nothing else.
    var provesThatItRan: Bool {
        switch self {
        case .value, .threw, .threwOn, .groupFailed, .conditionThrew, .consentThrew: true
        case .dependencyFailed, .cancelled, .queueReleased, .queueShutDown, .skipped, .skippedByCondition,
            .conditionFailed, .exclusionDeadlock, .timedOut, .duplicate, .cycle, .other:
            false
        }
    }
}

extension Outcome {
    init(_ result: Result<Value, OperationError>) {
        switch result {
        case .success(let value): self = .value(value.number)
        case .failure(let error): self = Outcome(error)
        }
    }

    init(_ error: OperationError) {
        switch error {
        case .failed(let thrown as Thrown): self = .threw(thrown.by)
        case .failed(let thrown as ConditionThrown): self = .conditionThrew(thrown.by)
        case .failed(let thrown as ConsentThrown): self = .consentThrew(thrown.by)
        case .timedOut(let limit): self = .timedOut(limit)
        case .skipped(.duplicate(let other)): self = .duplicate(of: other.node)
        case .dependencyCycle: self = .cycle
        case .failed(let error as OperationError): self = .threwOn(Outcome(error))
        case .dependencyFailed(let source, let via, let cause):
            self = .dependencyFailed(source: source.node, via: via.node, cause: Outcome(cause))
        case .cancelled(let reason): self = .cancelled(Reason(reason))
        case .queueReleased: self = .queueReleased
        case .queueShutDown: self = .queueShutDown
        case .skipped(.edge(let source, let outcome)): self = .skipped(by: source.node, outcome)
        case .skipped(.condition(let text)): self = .skippedByCondition(text)
        case .conditionFailed(let name, let cause): self = .conditionFailed(name, cause: Self.text(of: cause))
        case .groupFailed(let failures):
            self = .groupFailed(failures.map { FailedChild(id: $0.operation.node, outcome: Outcome($0.error)) })
        case .exclusionDeadlock(let path): self = .exclusionDeadlock(from: path.first?.node ?? -1)
        default: self = .other("\(error)")
        }
    }

    private static func text(of cause: any Error) -> String {
        switch cause {
        case let thrown as ConditionThrown: thrown.by
        case let error as OperationError: "\(Outcome(error).withoutLists)"
        case ConditionError.satisfied(let name): "satisfied \(name)"
        case ConditionError.neitherSatisfied(let one, let other): "neither \(text(of: one)) nor \(text(of: other))"
        default: "\(cause)"
        }
    }

    /// What a reader of an operation that ended so gets (G6): flat, and the first that failed stays the source.
    func passedOn(by via: Int) -> Outcome {
        if case .dependencyFailed(let source, _, let cause) = self {
            return .dependencyFailed(source: source, via: via, cause: cause)
        }
        return Outcome.dependencyFailed(source: via, via: via, cause: self).cut(to: Self.maxDepth)
    }

    /// What an operation ends with whose body passes this on: what another body has thrown, as it is.
    var passedOnByBody: Outcome { rethrown.cut(to: Self.maxDepth) }

    /// As a child of a group has it in the list of that group: the failures in its own list list none.
    var withSimpleLists: Outcome {
        mapped({ $0.withSimpleLists }) { $0.map { FailedChild(id: $0.id, outcome: $0.outcome.withoutLists) } }
    }

    /// With the first failure in the place of each list: as a failure in a list has it, and causes of conditions, which
    /// are compared as texts, so that it does not matter on how many lists they were.
    var withoutLists: Outcome {
        if case .groupFailed(let failures) = self, let first = failures.first { return first.outcome.withoutLists }
        return mapped({ $0.withoutLists }) { $0 }
    }

    private func mapped(_ change: (Outcome) -> Outcome, list: ([FailedChild]) -> [FailedChild]) -> Outcome {
        switch self {
        case .threwOn(let inner): return change(inner).rethrown
        case .groupFailed(let failures): return .groupFailed(list(failures))
        case .dependencyFailed(let source, let via, let cause):
            if case .dependencyFailed(let source, _, let cause) = change(cause) {
                return .dependencyFailed(source: source, via: via, cause: cause)
            }
            return .dependencyFailed(source: source, via: via, cause: change(cause))
        default: return self
        }
    }

    private var rethrown: Outcome {
        switch self {
        case .threw, .threwOn, .conditionThrew, .consentThrew: self
        default: .threwOn(self)
        }
    }

    /// Of the errors inside one another, the nearest ones and the root are kept.
    private static let maxDepth = 16

    private func cut(to limit: Int) -> Outcome {
        switch self {
        case .threwOn(let inner): limit <= 1 ? inner.cut(to: limit) : inner.cut(to: limit - 1).rethrown
        case .dependencyFailed(let source, let via, let cause):
            limit <= 1
                ? cause.cut(to: limit) : .dependencyFailed(source: source, via: via, cause: cause.cut(to: limit - 1))
        default: self
        }
    }
}

extension Outcome.Reason {
    init(_ reason: CancellationReason) {
        switch reason {
        case .requested: self = .requested
        case .because(let text): self = .because(text)
        case .parent(let parent): self = .parent(parent.node)
        case .caller: self = .caller
        case .queue: self = .queue
        case .timeout(let limit): self = .timeout(limit)
        case .replaced(let newer): self = .replaced(by: newer.node)
        }
    }
}

extension OperationReference {
    /// The number of the node: every operation of a round is called "n" and its number.
    var node: Int { Int(name.dropFirst()) ?? -1 }
}
