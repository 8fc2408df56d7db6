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
    /// Somebody called `cancelAll()` of the queue, or the queue was shut down.
    case queue
    /// The operation ran or waited longer than this limit. Its error is then ``OperationError/timedOut(after:)``.
    indirect case timeout(Duration)
    /// A newer operation with the same identity replaced this one: see ``UniquenessPolicy/replace``.
    indirect case replaced(by: OperationReference)

    /// The reason as the end of a sentence that begins with "was cancelled", on one line.
    public var description: String {
        switch self {
        case .requested: "on request"
        case .because(let text): "because \(text.singleLine)"
        case .parent(let parent): "with \(parent), which had started it"
        case .caller: "with the task that awaited it"
        case .queue: "with everything in its queue"
        case .timeout(let limit): "because its time limit of \(limit) was over"
        case .replaced(let newer): "because \(newer) has replaced it"
        }
    }

    /// True for ``requested``, which is not stored, because most cancels have no other reason.
    var isRequested: Bool {
        switch self {
        case .requested: true
        case .because, .parent, .caller, .queue, .timeout, .replaced: false
        }
    }

    /// The error of an operation that was cancelled for this reason.
    var error: OperationError {
        switch self {
        case .timeout(let limit): .timedOut(after: limit)
        case .requested, .because, .parent, .caller, .queue, .replaced: .cancelled(reason: self)
        }
    }
}
