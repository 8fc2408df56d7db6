/// Keeps errors small that pass other errors on, however long the way that they have come.
///
/// An error comes up through bodies that run operations, groups in groups, conditions and inputs, and each of them may
/// put it into an error of its own. What an operation publishes is bounded in two directions:
///
/// - At most ``maxDepth`` errors of Baton stand inside one another: the nearest ones and the root.
/// - A failure in a list has no list in its own error. Only that of a group's child has, whose failures have none then.
///
/// So every error can be described, asked and released without deep recursion, and an operation that passes one on pays
/// for its own level only. Errors of the user's types are not looked into.
enum ErrorNesting {
    static let maxDepth = 16

    /// The parts of an error that are errors themselves.
    private enum Parts {
        /// It is no error of Baton's.
        case unknown
        case none
        case one(any Error)
        case two(any Error, any Error)
        case list([OperationFailure])

        init(_ error: any Error) {
            switch error {
            case let error as OperationError: self.init(error)
            case ConditionError.dependenciesFailed(let failures): self = .list(failures)
            case ConditionError.neitherSatisfied(let first, let second): self = .two(first, second)
            case is ConditionError: self = .none
            case let error as OperationFailure: self = .one(error.error)
            default: self = .unknown
            }
        }

        init(_ error: OperationError) {
            switch error {
            case .failed(let error), .conditionFailed(_, let error): self = .one(error)
            case .dependencyFailed(_, _, let cause): self = .one(cause)
            case .groupFailed(let failures): self = .list(failures)
            case .cancelled, .timedOut, .dependencyCycle, .skipped, .inputMissing, .callbackDropped, .queueReleased,
                .queueShutDown, .exclusionDeadlock, .misuse:
                self = .none
            }
        }
    }

    // MARK: Depth

    /// Whether more than `limit` errors of Baton stand inside one another, lists not counted.
    static func isDeeper(_ error: OperationError, than limit: Int) -> Bool { isDeeper(Parts(error), than: limit) }

    private static func isDeeper(_ parts: Parts, than limit: Int) -> Bool {
        switch parts {
        case .unknown: false
        case .none, .list: limit < 1
        case .one(let part): limit < 1 || isDeeper(Parts(part), than: limit - 1)
        case .two(let first, let second):
            limit < 1 || isDeeper(Parts(first), than: half(limit)) || isDeeper(Parts(second), than: half(limit))
        }
    }

    /// How many errors of operations stand inside one another, the outermost included. In a loop: nobody has bounded
    /// it.
    static func depth(of error: OperationError) -> Int {
        var depth = 1
        var inner = next(in: error)
        while let error = inner {
            depth += 1
            inner = next(in: error)
        }
        return depth
    }

    /// What is left of an error with at most `limit` errors inside one another. The innermost is its root.
    static func cut(_ error: OperationError, to limit: Int) -> OperationError {
        limit <= 1 ? root(of: error) : error.mapParts(list: { $0 }) { cut(any: $0, to: limit - 1) }
    }

    private static func cut(any error: any Error, to limit: Int) -> any Error {
        if let error = error as? OperationError { return cut(error, to: limit) }
        if limit <= 1 { return next(in: error).map { root(of: $0) } ?? error }
        let isSplit = if case .two = Parts(error) { true } else { false }
        return mapParts(of: error, list: { $0 }) { cut(any: $0, to: isSplit ? half(limit) : limit - 1) }
    }

    /// Of each part, if there are two: else errors that pass on the same error twice would grow with the power of their
    /// depth.
    private static func half(_ limit: Int) -> Int { (limit - 1) / 2 }

    /// The innermost error of an operation.
    private static func root(of error: OperationError) -> OperationError {
        var root = error
        while let inner = next(in: root) { root = inner }
        return root
    }

    /// The next error of an operation inside this one, and the first one if there are two.
    private static func next(in error: any Error) -> OperationError? {
        var parts = Parts(error)
        while true {
            switch parts {
            case .one(let part), .two(let part, _):
                if let next = part as? OperationError { return next }
                parts = Parts(part)
            case .unknown, .none, .list: return nil
            }
        }
    }

    // MARK: Lists

    static func hasList(_ error: OperationError) -> Bool { hasList(Parts(error)) }

    private static func hasList(_ parts: Parts) -> Bool {
        switch parts {
        case .unknown, .none: false
        case .list(let failures): !failures.isEmpty
        case .one(let part): hasList(Parts(part))
        case .two(let first, let second): hasList(Parts(first)) || hasList(Parts(second))
        }
    }

    fileprivate static func withoutLists(_ error: any Error) -> any Error {
        if case .list(let failures) = Parts(error) { return failures.first.map { withoutLists($0.error) } ?? error }
        return mapParts(of: error, list: { $0 }) { withoutLists($0) }
    }

    fileprivate static func withSimpleLists(_ error: any Error) -> any Error {
        mapParts(of: error, list: { $0.allSatisfy(\.isSimple) ? $0 : $0.map(\.simple) }) { withSimpleLists($0) }
    }

    private static func mapParts(
        of error: any Error, list: ([OperationFailure]) -> [OperationFailure], _ change: (any Error) -> any Error
    ) -> any Error {
        switch error {
        case let error as OperationError: error.mapParts(list: list, change)
        case ConditionError.dependenciesFailed(let failures): ConditionError.dependenciesFailed(list(failures))
        case ConditionError.neitherSatisfied(let first, let second):
            ConditionError.neitherSatisfied(change(first), change(second))
        case let error as OperationFailure:
            OperationFailure(operation: error.operation, error: change(error.error) as? OperationError ?? error.error)
        default: error
        }
    }
}

extension OperationError {
    /// The error of a body that threw this, for the operation to publish.
    init(thrownByBody error: any Error) {
        switch error as? OperationError {
        // The one error that a body may bring itself.
        case .inputMissing?: self = .inputMissing
        case let other?: self = other.rethrown
        case nil: self = .failed(error)
        }
    }

    /// The error of a body that has passed this one on. What another body has thrown gets no further level.
    private var rethrown: OperationError {
        if case .failed = self { self } else { .failed(self) }
    }

    /// What an operation with this error publishes.
    var bounded: OperationError {
        ErrorNesting.isDeeper(self, than: ErrorNesting.maxDepth)
            ? ErrorNesting.cut(self, to: ErrorNesting.maxDepth) : self
    }

    /// With the error of its first failure in the place of each list.
    var withoutLists: OperationError { ErrorNesting.withoutLists(self) as? OperationError ?? self }

    /// With failures in its lists that have none themselves.
    var withSimpleLists: OperationError { ErrorNesting.withSimpleLists(self) as? OperationError ?? self }

    /// The cause of a failed dependency stays what it was if `change` makes something else than an error of an
    /// operation of it.
    fileprivate func mapParts(
        list: ([OperationFailure]) -> [OperationFailure], _ change: (any Error) -> any Error
    ) -> OperationError {
        switch self {
        case .failed(let error):
            switch change(error) {
            case let error as OperationError: error.rethrown
            case let error: .failed(error)
            }
        case .conditionFailed(let condition, let cause): .conditionFailed(condition: condition, cause: change(cause))
        case .dependencyFailed(let source, let via, let cause):
            switch change(cause) as? OperationError ?? cause {
            case .dependencyFailed(let source, _, let cause):
                .dependencyFailed(source: source, via: via, cause: cause)
            case let cause: .dependencyFailed(source: source, via: via, cause: cause)
            }
        case .groupFailed(let failures): .groupFailed(list(failures))
        case .cancelled, .timedOut, .dependencyCycle, .skipped, .inputMissing, .callbackDropped, .queueReleased,
            .queueShutDown, .exclusionDeadlock, .misuse:
            self
        }
    }
}
