/// Why an operation has no output. The one error type that Baton itself throws.
///
/// No payload keeps an operation alive: references hold an id and a name. What an operation ends with is small, however
/// long the way that it has come: of more than sixteen errors of operations inside one another the nearest fifteen and
/// the root are kept.
@nonexhaustive
public enum OperationError: Error, Sendable {
    // One word: what is longer is an object, and neither a cancel nor a body's error needs one.
    /// The body threw this. If it is what another operation's body had thrown, it is passed on as it is.
    case failed(any Error)
    /// It was cancelled before its body ran, or its body threw after the cancel.
    case cancelled(reason: CancellationReason)
    /// A limit of this length ended it, and its body threw.
    indirect case timedOut(after: Duration)
    /// A condition threw.
    indirect case conditionFailed(condition: String, cause: any Error)
    /// An operation whose output it needed has none. `source` is the one that failed first, `cause` is that one's error
    /// and never itself `.dependencyFailed`; `via` is the direct dependency.
    indirect case dependencyFailed(source: OperationReference, via: OperationReference, cause: OperationError)
    /// These operations wait for one another, each for the next and the last for the first.
    case dependencyCycle([OperationReference])
    /// A rule said that it should not run.
    indirect case skipped(SkipReason)
    /// Operations of a group failed: all of them, in the order in which they did.
    case groupFailed([OperationFailure])
    /// There was no input to run with.
    case inputMissing
    /// A callback body dropped its `finish` without calling it.
    case callbackDropped
    /// Its queue was suspended when its last handle was released, so that nobody could have resumed it.
    case queueReleased
    /// It was added to a queue that had been shut down, or was being.
    case queueShutDown
    /// It waited for an exclusion whose holder waits for it, directly or through the others on this path, which begins
    /// with it.
    case exclusionDeadlock([OperationReference])
    /// A throwing call that makes no sense at this point.
    indirect case misuse(Misuse)
}

/// The rule that kept an operation from running.
@nonexhaustive
public enum SkipReason: Sendable {
    /// A dependency's policy was not met: `source` ended with `outcome`.
    case edge(source: OperationReference, outcome: OperationOutcome)
    /// A condition answered *skip*, with this text.
    case condition(String)
    /// Another operation with the same identity was there first.
    case duplicate(of: OperationReference)
}

/// An outcome without its values.
public enum OperationOutcome: Sendable, Hashable {
    /// It has an output.
    case success
    /// It has an error other than the next two.
    case failure
    /// It was cancelled.
    case cancelled
    /// A rule kept it from running.
    case skipped
}

/// One failed operation of a group.
public struct OperationFailure: Error, Sendable {
    /// Which one failed.
    public let operation: OperationReference
    /// Its error.
    public let error: OperationError

    /// Pairs an operation with its error. Failures of other operations that this error lists are represented by the
    /// first of them.
    public init(operation: OperationReference, error: OperationError) {
        self.operation = operation
        let error = error.bounded
        self.error = ErrorNesting.hasList(error) ? error.withoutLists.bounded : error
    }

    /// Of a child of a group. The failures that its error lists stay, and list none themselves.
    init(ofChild operation: OperationReference, error: OperationError) {
        self.operation = operation
        self.error = ErrorNesting.hasList(error) ? error.withSimpleLists : error
    }

    /// Its error lists no failures.
    var isSimple: Bool { !ErrorNesting.hasList(error) }

    var simple: OperationFailure { OperationFailure(operation: operation, error: error) }
}

extension OperationError {
    /// The part of an operation's life in which an error arises.
    @nonexhaustive
    public enum Stage: Sendable, Hashable {
        /// While its dependencies were settled.
        case dependency
        /// While its conditions and exclusions were.
        case condition
        /// While its body ran.
        case execution
        /// Anywhere: it was called off from outside.
        case cancellation
        /// In the queue.
        case queue
        /// In a call that made no sense.
        case misuse
    }

    /// The part of the operation's life in which this arose.
    public var stage: Stage {
        switch self {
        case .failed, .timedOut, .groupFailed, .callbackDropped: .execution
        case .cancelled: .cancellation
        case .conditionFailed, .exclusionDeadlock: .condition
        case .dependencyFailed, .dependencyCycle, .inputMissing: .dependency
        case .skipped(.edge): .dependency
        case .skipped(.condition): .condition
        case .skipped(.duplicate), .queueReleased, .queueShutDown: .queue
        case .misuse: .misuse
        }
    }

    /// Who published it: the condition, or the operation that failed first. Nil when it is the operation's own error.
    public var publisher: String? {
        switch self {
        case .conditionFailed(let condition, _): condition
        case .dependencyFailed(let source, _, _): source.name
        case .dependencyCycle(let path), .exclusionDeadlock(let path): path.first?.name
        case .skipped(.edge(let source, _)), .skipped(.duplicate(let source)): source.name
        case .skipped(.condition(let text)): text
        case .groupFailed(let failures): failures.first?.operation.name
        case .misuse(let misuse): misuse.operation?.name
        case .failed, .cancelled, .timedOut, .inputMissing, .callbackDropped, .queueReleased, .queueShutDown:
            nil
        }
    }

    /// The error that somebody else threw, if this passes one on: a body's, a condition's, a dependency's.
    ///
    /// Looked for at the root: of a body that threw on the error of another operation, it is what that one's body
    /// threw, and behind ``NoFailedDependencies`` what the first of those dependencies ended with.
    public var underlyingError: (any Error)? {
        guard var root = passedOn else { return nil }
        while let inner = Self.passedOn(by: root) { root = inner }
        return root
    }

    private static func passedOn(by error: any Error) -> (any Error)? {
        switch error {
        case let error as OperationError: error.passedOn
        case ConditionError.dependenciesFailed(let failures): failures.first?.error
        default: nil
        }
    }

    private var passedOn: (any Error)? {
        switch self {
        case .failed(let error): error
        case .conditionFailed(_, let cause): cause
        case .dependencyFailed(_, _, let cause): cause
        case .groupFailed(let failures): failures.first?.error
        case .misuse(let misuse): misuse
        case .cancelled, .timedOut, .dependencyCycle, .skipped, .inputMissing, .callbackDropped, .queueReleased,
            .queueShutDown, .exclusionDeadlock:
            nil
        }
    }

    /// The same without its values.
    var outcome: OperationOutcome {
        switch self {
        case .cancelled: .cancelled
        case .skipped: .skipped
        case .failed, .timedOut, .conditionFailed, .dependencyFailed, .dependencyCycle, .groupFailed, .inputMissing,
            .callbackDropped, .queueReleased, .queueShutDown, .exclusionDeadlock, .misuse:
            .failure
        }
    }
}
