/// Describes why an operation has not finished: its waits, and the operations at which they end. A snapshot for people
/// and logs.
///
/// ``AnyOperation/explain()`` makes one.
public struct Explanation: Sendable, CustomStringConvertible {
    /// The reason why an operation that waits for no other operation has not finished.
    @nonexhaustive
    public enum Cause: Sendable, Hashable {
        /// The operation was not added to any queue.
        case notAdded
        /// The operation is ready, and its queue is suspended.
        case queueSuspended(QueueReference)
        /// The operation is ready, and its queue has no free permit, or other operations come first.
        ///
        /// The references are the first few operations that run in the queue.
        case queueFull(QueueReference, width: Int, running: [OperationReference])
        /// The operation is about to start.
        case starting
        /// The operation is in its delay, which ends after this time.
        case delayed(timeLeft: Duration)
        /// The last attempt failed with this error, and the next one begins after this time.
        case retrying(attempt: Int, timeLeft: Duration, lastError: String)
        /// The operation repeats, and its next run begins after this time.
        case repeating(timeLeft: Duration)
        /// These conditions are being evaluated and have not answered.
        case evaluating(conditions: [String])
        /// Another operation holds an exclusion that this one needs, or came before it in the queue for the exclusion.
        case excluded(by: OperationReference, exclusion: String)
        /// The operation waits for its turn at this rate.
        ///
        /// The time may change if operations ahead of this one are cancelled. `behind` is the number of operations
        /// ahead.
        case waitingForRate(String, timeLeft: Duration, behind: Int)
        /// The body runs, and has run for this time. In a ``StallReport`` the time may be a lower bound.
        ///
        /// The time is known for operations with a time limit or a deadline, for repetitions, for further attempts, and
        /// for observed operations. It is `nil` for all others, because measuring it would make each of them read the
        /// clock.
        case executing(attempt: Int, time: Duration?, isCancelled: Bool)
        /// The body has returned, and its callback has not been called. The attempt and the time are those of
        /// ``executing(attempt:time:isCancelled:)``.
        case awaitingCallback(attempt: Int, time: Duration?, isCancelled: Bool)
        /// The body iterates a sequence whose next element has not arrived.
        case awaitingElement
        /// The outcome is decided, and the `willFinish` handlers run.
        case finishing
        /// The body has waited for another operation, and needs a permit of its queue to go on.
        ///
        /// The references are the first few operations that run in the queue.
        case waitingForPermit(QueueReference, width: Int, running: [OperationReference])
        /// The operation has finished, with this outcome.
        case finished(OperationOutcome)
    }

    /// An operation at which a chain of waits ends, and the reason why it has not finished.
    public struct Root: Sendable {
        /// The operation at the root.
        public let operation: OperationReference
        /// The reason why it has not finished.
        public let cause: Cause
        /// The queue of the operation, if it is suspended and the operation waits for a further attempt, which a
        /// suspension does not hold back.
        let suspendedQueue: QueueReference?
        /// True if the operation was cancelled and has not finished.
        let isCancelled: Bool
        /// The waits on the path to this root that ``Explanation/description`` may list.
        let links: [Link]
    }

    /// A wait that the description spells out, because it is not a dependency.
    struct Link: Hashable {
        let waiting: OperationReference
        let wait: OperationWait
    }

    /// The operation that is explained.
    public let operation: OperationReference
    /// The state of the operation.
    public let state: OperationState
    /// The direct waits of the operation: unfinished dependencies, operations that its body awaits, and an exclusion
    /// that another operation holds.
    public let waits: [OperationWait]
    /// The roots: the operation itself if it waits for no other one, else the operations at which its chains of waits
    /// end.
    ///
    /// An operation that waits for an exclusion is a root. The roots of the operation that holds the exclusion are
    /// listed as well.
    public let roots: [Root]
    /// The error of the operation, if it has finished with one.
    public let error: OperationError?

    /// The operations whose outcomes the operation directly waits for.
    public var waitsFor: [OperationReference] { waits.filter { $0.kind != .exclusion }.map(\.source) }

    /// A few sentences on one line: what the operation waits for, the roots, and what to do about them.
    public var description: String { text.singleLine }

    private var text: String {
        if let error { return "\(operation) has finished without an output: \(error)." }
        var sentences = ExplanationFormatter.sentences(for: waits, of: operation)
        var mentioned = Set(waits.map { Link(waiting: operation, wait: $0) })
        for root in roots.prefix(Self.maxListed) {
            let links = root.links.filter { mentioned.insert($0).inserted }
            for link in links.prefix(Self.maxListed) {
                sentences += ExplanationFormatter.sentences(for: [link.wait], of: link.waiting)
            }
            if links.count > Self.maxListed {
                sentences.append("The chain continues through \(links.count - Self.maxListed) more.")
            }
            sentences.append(ExplanationFormatter.sentence(for: root.cause, of: root.operation))
            if root.isCancelled, let sentence = ExplanationFormatter.cancelSentence(for: root.cause) {
                sentences.append(sentence)
            }
            if let queue = root.suspendedQueue {
                sentences.append(ExplanationFormatter.attemptsPassSuspension(of: queue))
            }
        }
        if roots.count > Self.maxListed { sentences.append("And \(roots.count - Self.maxListed) more.") }
        return sentences.joined(separator: " ")
    }

    /// How many roots a description mentions, how many links on the path to each root, and how many operations a
    /// sentence names.
    static let maxListed = 5
}
