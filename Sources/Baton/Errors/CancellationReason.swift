/// Why an operation was cancelled. The first reason given is the one that stays.
@nonexhaustive
public enum CancellationReason: Sendable, CustomStringConvertible {
    // One word, so that an error that carries it is none more.
    /// Somebody called `cancel()` and gave no reason.
    case requested
    /// Somebody called `cancel(reason:)` and said why.
    indirect case because(String)
    /// The operation that had started it with `context.run` was cancelled, or had ended.
    indirect case parent(OperationReference)
    /// The task that awaited it in ``AsyncOperationQueue/run(_:)`` was cancelled, or the loop that its output was meant
    /// for has ended.
    case caller
    /// Its queue's `cancelAll()`.
    case queue
    /// It took, or waited, longer than its limit, which is this. Its error is then ``OperationError/timedOut(after:)``.
    indirect case timeout(Duration)
    /// This one has its identity, and was added with ``UniquenessPolicy/replace``.
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

    /// Of an operation that was cancelled for it.
    var error: OperationError {
        switch self {
        case .timeout(let limit): .timedOut(after: limit)
        case .requested, .because, .parent, .caller, .queue, .replaced: .cancelled(reason: self)
        }
    }
}
