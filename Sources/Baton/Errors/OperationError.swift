/// The reason why an operation has no output. This is the only error type that Baton itself throws.
///
/// No payload keeps an operation alive: references hold an id and a name. The size of a published error is bounded: if
/// more than 16 errors of operations are nested, the outermost 15 and the root are kept.
@nonexhaustive
public enum OperationError: Error, Sendable {
    // A case takes one word. Larger payloads are objects, which neither a cancellation nor an error of a body needs.
    /// The body threw this error. If another operation's body had thrown it, it is passed on without another level.
    case failed(any Error)
    /// The operation was cancelled before its body ran, or its body threw after the cancellation.
    case cancelled(reason: CancellationReason)
    /// A time limit of this length cancelled the operation, and it had not begun or its body threw.
    ///
    /// If the operation was waiting, `waitingFor` says what for, as the end of a sentence: the operations, the
    /// exclusion, the condition or the queue. It is nil if a body was cut short, or if the wait had just ended.
    indirect case timedOut(after: Duration, waitingFor: String? = nil)
    /// The condition threw this error.
    indirect case conditionFailed(condition: String, cause: any Error)
    /// An operation whose output this one needs has no output.
    ///
    /// `source` is the operation that failed first. `cause` is the error of `source`, and never itself
    /// `.dependencyFailed`. `via` is the direct dependency.
    indirect case dependencyFailed(source: OperationReference, via: OperationReference, cause: OperationError)
    /// These operations wait for one another: each waits for the next, and the last waits for the first.
    case dependencyCycle([OperationReference])
    /// A rule kept the operation from running.
    indirect case skipped(SkipReason)
    /// A group failed. The list has all children that failed, in the order in which they were given to the group.
    ///
    /// If all children of a group with ``GroupPolicy/firstSuccess`` were skipped, the list has these children.
    ///
    /// If somebody has ended the group with ``GroupOperation/fail(_:)``, the first failure is that of the group itself.
    case groupFailed([OperationFailure])
    /// The operation had no input to run with.
    case inputMissing
    /// The body of a callback operation dropped its `finish` without a call.
    case callbackDropped
    /// The last handle of the queue was released while the queue was suspended, so that nobody could resume it.
    case queueReleased
    /// The operation was added to a queue that had been shut down, or was shutting down.
    ///
    /// `refused` is the operation, and `queue` is the name of the queue, if it has one. A sequence that ends because
    /// its queue was shut down throws this error without an operation.
    indirect case queueShutDown(refused: OperationReference? = nil, queue: String? = nil)
    /// The operation waited for an exclusion whose holder waits for the operation, or for its turn in a group that
    /// limits how many children run at a time.
    ///
    /// The path begins with the operation. Its other members are those through which the holder waits for it.
    case exclusionDeadlock([OperationReference])
    /// A call that throws makes no sense at this point, or a precondition of the operation can never be met.
    indirect case misuse(Misuse)
}

/// The rule that kept an operation from running.
@nonexhaustive
public enum SkipReason: Sendable, CustomStringConvertible {
    /// The policy of a dependency was not met: `source` ended with `outcome`.
    case edge(source: OperationReference, outcome: OperationOutcome)
    /// A condition answered *skip*, with this text.
    case condition(String)
    /// This operation has the same identity, and was unfinished when the skipped one was added.
    case duplicate(of: OperationReference)

    /// One line that says that the operation was skipped, and why. The description of ``OperationError/skipped(_:)`` is
    /// the same line.
    public var description: String {
        let text =
            switch self {
            case .edge(let source, let outcome):
                "skipped, because \(source) \(outcome.predicate)\(source.unmetDemand.map { ", and \($0.text)" } ?? "")"
            case .condition(let text): "skipped by a condition\(text.isBlank ? "" : ": \(text)")"
            case .duplicate(let other):
                "skipped, because \(other) does the same already\(other.adviceOnDuplicate)"
            }
        return text.singleLine
    }
}

extension OperationReference {
    /// A part of the sentence about two operations with one key, if one of them depends on the other.
    fileprivate var adviceOnDuplicate: String {
        dependsOnDuplicate ? ". One of the two depends on the other: give them different keys" : ""
    }
}

/// The dependency or group that asked for another outcome of an operation than it had.
struct UnmetDemand: Sendable, Equatable {
    /// The operation or group that asked.
    enum Source: Equatable {
        /// A dependency on the operation that is named.
        case dependency
        /// A dependency on an operation that did not run because of the one that is named.
        case laterDependency
        /// The order of a group.
        case order
    }

    let source: Source
    let policy: DependencyPolicy

    /// A clause without its conjunction.
    fileprivate var text: String {
        let wanted =
            switch policy {
            case .success: "a success"
            case .noFailure: "a success or a skip"
            case .failure: "a failure"
            case .always: "any outcome"
            }
        return switch source {
        case .dependency: "the dependency asks for \(wanted)"
        case .laterDependency: "the dependency asks that nothing before it fails"
        case .order: "the ordered group goes on only after \(wanted)"
        }
    }
}

extension OperationOutcome {
    fileprivate var predicate: String {
        switch self {
        case .success: "succeeded"
        case .failure: "failed"
        case .cancelled: "was cancelled"
        case .skipped: "was skipped"
        }
    }
}

/// The kind of an outcome, without its output or error.
public enum OperationOutcome: Sendable, Hashable {
    /// The operation has an output.
    case success
    /// The operation has an error, and was neither cancelled nor skipped.
    case failure
    /// The operation was cancelled.
    case cancelled
    /// A rule kept the operation from running.
    case skipped
}

/// A failed operation, with its error, in a list of failures.
public struct OperationFailure: Error, Sendable {
    /// The operation that failed.
    public let operation: OperationReference
    /// The error of the operation.
    public let error: OperationError
    /// True if the operation is the group whose list this is: somebody has ended it with ``GroupOperation/fail(_:)``.
    private(set) var isOfGroupItself = false

    /// Pairs an operation with its error.
    ///
    /// Each list of failures in the error is replaced by the error of its first failure.
    ///
    /// - Parameters:
    ///   - operation: The operation that failed.
    ///   - error: The error of the operation.
    public init(operation: OperationReference, error: OperationError) {
        self.operation = operation
        let error = error.bounded
        self.error = NestedErrors.hasList(error) ? error.withoutLists.bounded : error
    }

    /// Pairs a child of a group with its error. The error keeps its lists, but the failures in them have errors without
    /// lists.
    init(ofChild operation: OperationReference, error: OperationError) {
        self.operation = operation
        self.error = NestedErrors.hasList(error) ? error.withoutNestedLists : error
    }

    /// Makes the failure of a group that somebody has ended with this error.
    init(ofGroup group: OperationReference, error: OperationError) {
        self.init(operation: group, error: error)
        isOfGroupItself = true
    }

    /// True if the error has no lists of failures.
    var hasNoLists: Bool { !NestedErrors.hasList(error) }

    var withoutLists: OperationFailure { withError(error) }

    /// The same failure with another error, from which lists are removed.
    func withError(_ error: OperationError) -> OperationFailure {
        var failure = OperationFailure(operation: operation, error: error)
        failure.isOfGroupItself = isOfGroupItself
        return failure
    }
}

extension OperationFailure: CustomStringConvertible {
    /// The operation and its error, such as "‘download’: the server said no".
    public var description: String { "\(operation): \(error)" }
}

extension OperationError {
    /// The part of an operation's life in which an error arises.
    @nonexhaustive
    public enum Stage: Sendable, Hashable {
        /// The dependencies and inputs of the operation were checked.
        case dependency
        /// The conditions and exclusions of the operation were checked.
        case condition
        /// The body ran.
        case execution
        /// The operation was cancelled, in whatever part of its life.
        case cancellation
        /// The queue refused the operation.
        case queue
        /// A call made no sense.
        case misuse
    }

    /// The part of the operation's life in which this error arose.
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

    /// The name of the condition or operation that this error comes from; nil if it is the operation's own error.
    ///
    /// For a skip that a condition has answered, this is the text of that answer.
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

    /// The error that was thrown elsewhere and that this one passes on: a body's, a condition's, or a dependency's.
    ///
    /// This is the error at the root. If a body threw because another operation had failed, it is the error that the
    /// body of that operation threw. For ``NoFailedDependencies`` it is the error of the first failed dependency. It is
    /// nil if this error passes none on.
    public var underlyingError: (any Error)? {
        guard var root = wrappedError else { return nil }
        while let inner = Self.wrappedError(of: root) { root = inner }
        return root
    }

    private static func wrappedError(of error: any Error) -> (any Error)? {
        switch error {
        case let error as OperationError: error.wrappedError
        case ConditionError.dependenciesFailed(let failures): failures.first?.error
        default: nil
        }
    }

    private var wrappedError: (any Error)? {
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

    /// The kind of outcome that this error is.
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

// MARK: - Reasons of cancellations

/// The reason why an operation was cancelled. If it is cancelled several times, the first reason stays.
@nonexhaustive
public enum CancellationReason: Sendable, CustomStringConvertible {
    // The long payloads are indirect, so that a reason takes one word and does not enlarge the errors that carry it.
    /// Somebody called `cancel()` without a reason.
    case requested
    /// Somebody called `cancel(reason:)` with this text.
    indirect case because(String)
    /// The operation that runs this one with `context.run` was cancelled or has finished.
    indirect case parent(OperationReference)
    /// The task that called ``AsyncOperationQueue/run(_:)`` or waited to submit the operation was cancelled.
    ///
    /// This is also the reason if a loop over a sequence ends before it has consumed the output of the operation.
    case caller
    /// Another task that ran the same operation was cancelled, and with it the operation; the task that reads this was
    /// not.
    ///
    /// Only the error that ``AsyncOperationQueue/run(_:)`` throws has this reason. The error of the operation has
    /// ``caller``.
    case otherCaller
    /// Somebody called `cancelAll()` of the queue, or the queue was shut down.
    case queue
    /// The operation ran or waited longer than this limit. Its error is then
    /// ``OperationError/timedOut(after:waitingFor:)``.
    indirect case timeout(Duration)
    /// A newer operation with the same identity replaced this one: see ``UniquenessPolicy/replace``.
    indirect case replaced(by: OperationReference)

    /// The reason as the end of a sentence that begins with "was cancelled", on one line.
    public var description: String {
        switch self {
        case .requested: "on request"
        case .because(let text): text.isBlank ? "on request" : "because \(text.singleLine)"
        case .parent(let parent): "with \(parent), its parent"
        case .caller: "with the task that awaited it"
        case .otherCaller: "with another task that ran or awaited it"
        case .queue: "with everything in its queue"
        case .timeout(let limit): "because its time limit of \(limit) was over"
        case .replaced(let newer): "because \(newer) has replaced it\(newer.adviceOnDuplicate)"
        }
    }

    /// True for ``requested``, which is not stored, because most cancels have no other reason.
    var isRequested: Bool {
        switch self {
        case .requested: true
        case .because, .parent, .caller, .otherCaller, .queue, .timeout, .replaced: false
        }
    }

    /// True if nobody has cancelled the operation: its time was over, or another one took its place.
    var isEndOfWait: Bool {
        switch self {
        case .timeout, .replaced: true
        case .requested, .because, .parent, .caller, .otherCaller, .queue: false
        }
    }

    /// Returns the error of an operation that was cancelled for this reason.
    ///
    /// - Parameter wait: What the operation waited for when a time limit came, if it did.
    func error(waitingFor wait: String?) -> OperationError {
        switch self {
        case .timeout(let limit): .timedOut(after: limit, waitingFor: wait)
        case .requested, .because, .parent, .caller, .otherCaller, .queue, .replaced: .cancelled(reason: self)
        }
    }
}
