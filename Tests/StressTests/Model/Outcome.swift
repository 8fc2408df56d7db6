import Baton

/// The output of an operation: a number that depends on everything that its body was given.
struct Value: Sendable {
    let number: UInt64
    let token: Token
    /// An operation that the body depended on, as a page may refer to the next page.
    var source: AnyOperation?

    /// The output of a group.
    static let nothing = Value(number: 0, token: Token(ResourceCount()))
}

/// The error that a failing body throws.
struct Thrown: Error {
    let by: Int
    let token: Token
}

/// An outcome as the model knows it. It is comparable and retains nothing.
indirect enum Outcome: Equatable, Sendable {
    case value(UInt64)
    case threw(Int)
    /// The body threw the error of another operation, and that error was not thrown by the other operation's body.
    case threwOn(Outcome)
    case dependencyFailed(source: Int, via: Int, cause: Outcome)
    case cancelled(Reason)
    case queueReleased
    case queueShutDown
    case skipped(by: Int, OperationOutcome)
    case conditionFailed(String, cause: String)
    case skippedByCondition(String)
    /// A condition threw, or an operation that it brought along.
    case conditionThrew(String)
    case groupFailed([FailedChild])
    /// A deadlock, with the first operation of its path.
    case exclusionDeadlock(from: Int)
    case timedOut(Duration)
    case duplicate(of: Int)
    case cycle
    /// The closure that decides about another attempt threw.
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

    /// True if the outcome can only come from a body that returned or threw.
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
        case .timedOut(let limit, _): self = .timedOut(limit)
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

    /// Returns the outcome of a reader of this operation (G6). Chained failures are flattened, and the first failed
    /// operation stays the source.
    func passedOn(by via: Int) -> Outcome {
        if case .dependencyFailed(let source, _, let cause) = self {
            return .dependencyFailed(source: source, via: via, cause: cause)
        }
        return Outcome.dependencyFailed(source: via, via: via, cause: self).cut(to: Self.maxDepth)
    }

    /// The outcome of an operation whose body rethrows this outcome. An error that another body has thrown is rethrown
    /// unchanged.
    var passedOnByBody: Outcome { rethrown.cut(to: Self.maxDepth) }

    /// The outcome as it appears in the list of a failed group: the failures in its own list contain no further lists.
    var withSimpleLists: Outcome {
        mapped({ $0.withSimpleLists }) { $0.map { FailedChild(id: $0.id, outcome: $0.outcome.withoutLists) } }
    }

    /// The outcome with each list replaced by its first failure. Failures inside a list have this form, and so have
    /// causes of conditions: these are compared as texts, so the number of enclosing lists does not matter.
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

    /// The maximum number of nested errors. The outermost errors and the root are kept.
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
        case .caller, .otherCaller: self = .caller
        case .queue: self = .queue
        case .timeout(let limit): self = .timeout(limit)
        case .replaced(let newer): self = .replaced(by: newer.node)
        }
    }
}

extension OperationReference {
    /// The number of the node. Every operation of a round is named "n" followed by its number.
    var node: Int { Int(name.dropFirst()) ?? -1 }
}
