/// Why an operation was cancelled. The first reason given is the one that stays.
public enum CancellationReason: Sendable, CustomStringConvertible {
    /// Somebody called `cancel()` and gave no reason.
    case requested
    /// Somebody called `cancel(reason:)` and said why.
    case because(String)
    /// The operation that had started it with `context.run` was cancelled, or had ended.
    case parent(OperationReference)
    /// The task that awaited it in ``AsyncOperationQueue/run(_:)`` was cancelled.
    case caller
    /// Its queue's `cancelAll()`.
    case queue

    /// The reason as the end of a sentence that begins with "was cancelled".
    public var description: String {
        switch self {
        case .requested: "on request"
        case .because(let text): "because \(text)"
        case .parent(let parent): "with \(parent), which had started it"
        case .caller: "with the task that awaited it"
        case .queue: "with everything in its queue"
        }
    }
}
