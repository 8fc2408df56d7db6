/// Bounds the size of errors that contain other errors.
///
/// An error is passed on by bodies that run operations, by groups in groups, by conditions and by inputs, and each of
/// them may wrap it in another error. The error that an operation publishes is bounded in two ways:
///
/// - At most ``maxDepth`` errors of Baton are nested: the outermost ones and the root.
/// - A failure in a list has an error without lists. The only exception is the failure of a group's child: its error
///   may have lists, and the failures in those have errors without lists.
///
/// So every error can be described, inspected and released without deep recursion, and an operation that passes an
/// error on pays for its own level only. Errors of the user's types are not inspected.
enum NestedErrors {
    static let maxDepth = 16

    /// The errors that an error contains.
    private enum Parts {
        /// The error is not one of Baton's.
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

    /// Returns whether more than `limit` errors of Baton are nested. Lists do not count.
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

    /// Returns how many errors of operations are nested, the outermost included. It iterates, because this depth may
    /// not have been bounded yet.
    static func depth(of error: OperationError) -> Int {
        var depth = 1
        var inner = next(in: error)
        while let error = inner {
            depth += 1
            inner = next(in: error)
        }
        return depth
    }

    /// Returns the error with at most `limit` nested errors. The innermost one is its root.
    static func truncated(_ error: OperationError, to limit: Int) -> OperationError {
        limit <= 1 ? root(of: error) : error.mapParts(list: { $0 }) { truncated(any: $0, to: limit - 1) }
    }

    private static func truncated(any error: any Error, to limit: Int) -> any Error {
        if let error = error as? OperationError { return truncated(error, to: limit) }
        if limit <= 1 { return next(in: error).map { root(of: $0) } ?? error }
        let isSplit = if case .two = Parts(error) { true } else { false }
        return mapParts(of: error, list: { $0 }) { truncated(any: $0, to: isSplit ? half(limit) : limit - 1) }
    }

    /// The limit for each part of an error that has two. If both parts had the full limit, errors that contain the same
    /// error twice would grow exponentially with their depth.
    private static func half(_ limit: Int) -> Int { (limit - 1) / 2 }

    /// Returns the innermost error of an operation.
    private static func root(of error: OperationError) -> OperationError {
        var root = error
        while let inner = next(in: root) { root = inner }
        return root
    }

    /// Returns the next error of an operation inside this one; of two parts, the first.
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

    fileprivate static func withoutNestedLists(_ error: any Error) -> any Error {
        mapParts(of: error, list: { $0.allSatisfy(\.hasNoLists) ? $0 : $0.map(\.withoutLists) }) {
            withoutNestedLists($0)
        }
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
            error.withError(change(error.error) as? OperationError ?? error.error)
        default: error
        }
    }
}

extension OperationError {
    /// Makes the error that an operation publishes if its body throws `error`.
    init(thrownByBody error: any Error) {
        switch error as? OperationError {
        // A body may throw this error as its own, so it is not wrapped.
        case .inputMissing?: self = .inputMissing
        case let other?: self = other.rethrown
        case nil: self = .failed(error)
        }
    }

    /// The error of a body that has thrown this one. An error that another body has thrown is not wrapped again.
    private var rethrown: OperationError {
        if case .failed = self { self } else { .failed(self) }
    }

    /// This error, cut to the depth that an operation may publish.
    var bounded: OperationError {
        NestedErrors.isDeeper(self, than: NestedErrors.maxDepth)
            ? NestedErrors.truncated(self, to: NestedErrors.maxDepth) : self
    }

    /// This error, with each list replaced by the error of its first failure.
    var withoutLists: OperationError { NestedErrors.withoutLists(self) as? OperationError ?? self }

    /// This error, with failures in its lists that have no lists themselves.
    var withoutNestedLists: OperationError { NestedErrors.withoutNestedLists(self) as? OperationError ?? self }

    /// Returns this error with its parts changed. The cause of a failed dependency stays as it is if `change` returns
    /// anything but an error of an operation for it.
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
