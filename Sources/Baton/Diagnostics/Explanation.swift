/// Why an operation has not finished: what it waits for, and what is at the root of that. A snapshot, for people and
/// logs.
public struct Explanation: Sendable, CustomStringConvertible {
    /// What keeps an operation that waits for no outcome of another one.
    @nonexhaustive
    public enum Cause: Sendable, Hashable {
        /// Nobody has added it to a queue.
        case notAdded
        /// This is its queue, which is suspended.
        case queueSuspended(QueueReference)
        /// So many bodies run in its queue, which is its width, or operations that come first wait there. These are the
        /// first few that run.
        case queueFull(QueueReference, width: Int, running: [OperationReference])
        /// It is about to start.
        case starting
        /// It is in its delay, and this is left of that.
        case delayed(timeLeft: Duration)
        /// It will make this attempt then, because the one before has failed with this error.
        case retrying(attempt: Int, timeLeft: Duration, lastError: String)
        /// It repeats, and will run again then.
        case repeating(timeLeft: Duration)
        /// This condition is evaluated, or these, and has not answered.
        case evaluating(conditions: [String])
        /// Another operation holds an exclusion that it needs, or came before it in the line for it.
        case excluded(by: OperationReference, exclusion: String)
        /// It waits for its turn in this rate, which comes after so much time if nobody ends or comes in between. So
        /// many others have their turns first.
        case waitingForRate(String, timeLeft: Duration, behind: Int)
        /// Its body runs, and has done so for this time, or for at least this time in a ``StallReport``.
        ///
        /// The time is known of operations with a time limit or a deadline, of those that repeat, of further attempts,
        /// and of those that somebody observes. To know it of others would cost each of them a look at the clock.
        case executing(attempt: Int, time: Duration?, isCancelled: Bool)
        /// Its body has returned, and its callback has not been called. Attempt and time are as those of a body that
        /// runs.
        case awaitingCallback(attempt: Int, time: Duration?, isCancelled: Bool)
        /// Its body iterates, and the next element has not come.
        case awaitingElement
        /// Its outcome is decided, and its `willFinish` handlers run.
        case finishing
        /// Its body has waited for another operation, and needs a permit of its queue to go on. These are the first few
        /// that run there.
        case waitingForPermit(QueueReference, width: Int, running: [OperationReference])
        /// It has finished, with this outcome.
        case finished(OperationOutcome)
    }

    /// An operation that waits for no outcome of another one, and what keeps it.
    public struct Root: Sendable {
        /// Which one.
        public let operation: OperationReference
        /// What keeps it.
        public let cause: Cause
        /// Its queue, if that is suspended and does not hold this further attempt back.
        let suspendedQueue: QueueReference?
        /// True if the operation was cancelled and has not finished.
        let isCancelled: Bool
        /// What is worth telling of the way to it.
        let links: [Link]
    }

    /// One operation waits for another one, which is not simply its dependency.
    struct Link: Hashable {
        let waiting: OperationReference
        let wait: OperationWait
    }

    /// What is explained.
    public let operation: OperationReference
    /// Its state.
    public let state: OperationState
    /// What it waits for itself: unfinished dependencies, what its body awaits, and an exclusion that another one
    /// holds.
    public let waits: [OperationWait]
    /// What keeps it in the end: itself if it waits for no other one, else all at the far ends of what it waits for.
    ///
    /// One that waits for an exclusion is among them, and so is what keeps the operation that holds it.
    public let roots: [Root]
    /// Its error, if it has finished with one.
    public let error: OperationError?

    /// The operations whose outcomes it waits for itself.
    public var waitsFor: [OperationReference] { waits.filter { $0.kind != .exclusion }.map(\.source) }

    /// A few sentences on one line: what it waits for, what is at the root, and what to do about it.
    public var description: String { text.singleLine }

    private var text: String {
        if let error { return "\(operation) has finished without an output: \(error)." }
        var sentences = ExplanationFormatter.sentences(for: waits, of: operation)
        var told = Set(waits.map { Link(waiting: operation, wait: $0) })
        for root in roots.prefix(Self.listed) {
            let links = root.links.filter { told.insert($0).inserted }
            for link in links.prefix(Self.listed) {
                sentences += ExplanationFormatter.sentences(for: [link.wait], of: link.waiting)
            }
            if links.count > Self.listed {
                sentences.append("So it goes on through \(links.count - Self.listed) more.")
            }
            sentences.append(ExplanationFormatter.sentence(for: root.cause, of: root.operation))
            if root.isCancelled, let sentence = ExplanationFormatter.cancelSentence(for: root.cause) {
                sentences.append(sentence)
            }
            if let queue = root.suspendedQueue {
                sentences.append(ExplanationFormatter.attemptsPassSuspension(of: queue))
            }
        }
        if roots.count > Self.listed { sentences.append("And \(roots.count - Self.listed) more.") }
        return sentences.joined(separator: " ")
    }

    /// Roots that the description tells, links on the way to each, and operations that a sentence names.
    static let listed = 5
}
