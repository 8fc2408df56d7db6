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
        /// The operation is a child of a ``GroupOperation`` that has not started. The group adds it when it starts.
        case awaitingGroup
        /// The operation is ready, and its queue is suspended.
        case queueSuspended(QueueReference)
        /// The operation is ready, and its queue has no free permit, or other operations come first.
        case queueFull(BusyQueue)
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
        /// The body runs.
        case executing(Run)
        /// The body has returned, and its callback has not been called.
        case awaitingCallback(Run)
        /// The body iterates a sequence whose next element has not arrived.
        case awaitingElement
        /// The outcome is decided, and the `willFinish` handlers run.
        case finishing
        /// The body has waited for another operation, and needs a permit of its queue to go on.
        case waitingForPermit(BusyQueue)
        /// The operation has finished, with this outcome.
        case finished(OperationOutcome)
    }

    /// A queue whose permits are taken.
    public struct BusyQueue: Sendable, Hashable {
        /// The queue.
        public let queue: QueueReference
        /// The number of its permits.
        public let width: Int
        /// The first few operations that run in the queue.
        public let running: [OperationReference]
    }

    /// A run of a body that has not ended.
    public struct Run: Sendable, Hashable {
        /// The number of the attempt. Attempts count from 1.
        public let attempt: Int
        /// The time since the run began. In a ``StallReport`` it may be a lower bound.
        ///
        /// It is known for operations with a time limit or a deadline, for repetitions, for further attempts, and for
        /// observed operations. It is nil for all others, because measuring it would make each of them read the clock.
        public let time: Duration?
        /// True if the operation was cancelled.
        public let isCancelled: Bool
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
    ///
    /// - Complexity: O(n), where n is the number of ``waits``.
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

// MARK: - Description

/// Formats the sentences of explanations, snapshots and reports: why an operation has not finished, and what to do
/// about it, if anything.
enum ExplanationFormatter {
    /// Returns what the operation waits for. Exclusions are left out, because the sentence for the cause describes
    /// them.
    static func sentences(for waits: [OperationWait], of operation: OperationReference) -> [String] {
        var awaited: [String] = []
        var sentences: [String] = []
        for wait in waits {
            switch wait.kind {
            case .input, .order, .child, .awaited, .element: awaited.append("\(wait.source)")
            case .barrier: awaited.append("the barrier \(wait.source)")
            case .original: sentences.append("\(operation) shares the outcome of \(wait.source).")
            case .replaced: sentences.append("\(operation) has replaced \(wait.source), and waits for its end.")
            case .exclusion: break
            }
        }
        if !awaited.isEmpty { sentences.insert("\(operation) waits for \(list(awaited)).", at: 0) }
        return sentences
    }

    static func sentence(for cause: Explanation.Cause, of operation: OperationReference) -> String {
        switch cause {
        case .notAdded:
            "\(operation) was not added to any queue: add it, or use `run` or `add(to:)`."
        case .awaitingGroup:
            "\(operation) is a child of a group that has not started, and starts with it: add the group, or look at "
                + "what the group waits for."
        case .queueSuspended(let queue):
            "\(operation) is ready, and its queue\(name(of: queue)) is suspended: set its `isSuspended` to false."
        case .queueFull(let busy): "\(operation) is ready, and waits for its turn in \(place(busy))."
        case .starting: "\(operation) is about to start."
        case .delayed(let left): "\(operation) is in its delay, of which \(text(left)) are left."
        case .retrying(let attempt, let left, let error):
            "\(operation) waits \(text(left)) for attempt \(attempt), because the last one failed: \(error)."
        case .repeating(let left): "\(operation) repeats, and waits \(text(left)) for its next run."
        case .evaluating(let conditions):
            "\(operation) waits for \(answers(of: conditions))."
        case .excluded(let holder, let exclusion):
            "\(operation) waits for \(ExclusionText.phrase(for: exclusion)), after \(holder)."
        case .waitingForRate(let rate, let left, let count):
            "\(operation) waits for the rate \(rate), "
                + (count == 0 ? "" : "behind \(count) \(count == 1 ? "other" : "others"), ")
                + "and may start in \(text(left))."
        case .executing(let run):
            "\(operation) \(run.time.map { "has been executing for \(text($0))" } ?? "is executing")"
                + (run.attempt > 1 ? ", attempt \(run.attempt)" : "")
                + (run.isCancelled ? ", although it was cancelled: let its body look at `Task.isCancelled`." : ".")
        case .awaitingCallback(let run):
            "\(operation) "
                + (run.time.map { "has been waiting \(text($0)) for its callback" } ?? "waits for its callback")
                + (run.attempt > 1 ? ", attempt \(run.attempt)" : "")
                + (run.isCancelled
                    ? ", although it was cancelled: let `onCancel` of the callback end what is to call it."
                    : ", which nobody has called yet.")
        case .awaitingElement: "\(operation) waits for the next element of a sequence."
        case .finishing: "\(operation) waits for its willFinish handlers."
        case .waitingForPermit(let busy):
            "\(operation) can go on when there is a free permit in \(place(busy))."
        case .finished(let outcome): "\(operation) has finished: \(outcome)."
        }
    }

    /// Says what a cancelled operation still waits for. Nil if the sentence for the cause says so already.
    static func cancelSentence(for cause: Explanation.Cause) -> String? {
        switch cause {
        case .evaluating: "It was cancelled, and finishes when the condition has answered."
        case .finishing: "It was cancelled, and finishes when these handlers have returned."
        case .waitingForPermit: "It was cancelled, and its body finds that out when it goes on."
        case .awaitingElement: "It was cancelled: let the sequence end when `Task.isCancelled` is true."
        case .notAdded, .awaitingGroup, .queueSuspended, .queueFull, .starting, .delayed, .retrying, .repeating,
            .excluded,
            .waitingForRate, .executing, .awaitingCallback, .finished:
            nil
        }
    }

    // MARK: Ends of sentences that begin with "waited for"

    /// Returns what these waits are for. There is at least one.
    static func brief(_ waits: [OperationWait]) -> String {
        list(
            waits.map { wait in
                switch wait.kind {
                case .input, .order, .child, .awaited, .element, .original: "\(wait.source)"
                case .barrier: "the barrier \(wait.source)"
                case .replaced: "\(wait.source), which it has replaced"
                case .exclusion: "\(ExclusionText.phrase(for: wait.exclusion ?? "")), after \(wait.source)"
                }
            })
    }

    static func answers(of conditions: [String]) -> String {
        "the answer of \(list(conditions.map { "the condition ‘\($0)’" }))"
    }

    static func resumption(of queue: QueueReference) -> String { "its queue\(name(of: queue)) to be resumed" }

    static func turn(in queue: QueueReference, width: Int) -> String {
        "its turn in \(place(Explanation.BusyQueue(queue: queue, width: width, running: [])))"
    }

    // MARK: Parts of sentences

    static func attemptsPassSuspension(of queue: QueueReference) -> String {
        "Its queue\(name(of: queue)) is suspended, which does not hold further attempts back: set its "
            + "`suspendsFurtherAttempts` for that."
    }

    static func list(_ names: [String]) -> String {
        let more = names.count - Explanation.maxListed
        return names.prefix(Explanation.maxListed).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    /// Formats a duration to the millisecond, since nobody reads more digits. Durations that are practically endless
    /// are cut.
    static func text(_ duration: Duration) -> String {
        duration >= readableDuration ? "30 years or more" : "\((duration / .milliseconds(1)).rounded() / 1000) seconds"
    }

    private static let readableDuration = Duration.seconds(30 * 365 * 24 * 60 * 60)

    private static func name(of queue: QueueReference) -> String { queue.name.map { " ‘\($0)’" } ?? "" }

    private static func place(_ busy: Explanation.BusyQueue) -> String {
        let running = busy.running
        let place = (busy.queue.name.map { "‘\($0)’, " } ?? "") + "a queue of width \(busy.width)"
        if running.isEmpty { return place }
        let names = running.map(\.description).joined(separator: ", ")
        if running.count == Explanation.maxListed, busy.width > running.count {
            return "\(place), where \(names) and others run"
        }
        return "\(place), where \(names) \(running.count == 1 ? "runs" : "run")"
    }
}
