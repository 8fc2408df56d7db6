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
        /// The way from the explained operation to this one.
        let path: Path
        /// The group that starts this operation, if it has not started and is known.
        var group: PlannedGroup?
    }

    /// The group of a root that waits for the start of its group.
    struct PlannedGroup {
        let group: OperationReference
        /// True if the group waits for the root before it starts.
        let waitsForRoot: Bool
    }

    /// The waits that lead from the explained operation to a root, in their order.
    struct Path {
        /// The greatest number of links that a description names all of: eight operations are then between the ends.
        static let maxNamed = 9

        /// All links, if there are at most ``maxNamed``. Otherwise those that are not plain waits, such as those for
        /// dependencies.
        var links: [Link] = []
        /// The number of links on the path.
        var count = 0
        /// The second operation of a path that is too long to be named.
        var second: OperationReference?
    }

    /// A time limit that has not ended an operation.
    enum TimeLimit {
        /// The limit of the body, which does not concern an input that the operation waits for.
        case ofBody(Duration, waitsForInput: Bool)
        /// The limit of the wait for the body, of which this time is left.
        case ofWait(left: Duration)
    }

    /// The wait of one operation for another one.
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
    /// The time limit of an operation whose body has not begun.
    let timeLimit: TimeLimit?
    /// The error of the operation, if it has finished with one.
    public let error: OperationError?
    /// The handlers of the operation that have not returned, if it has finished.
    let openHandlers: HandlerList.OpenCalls?

    /// The operations whose outcomes the operation directly waits for.
    ///
    /// - Complexity: O(n), where n is the number of ``waits``.
    public var waitsFor: [OperationReference] { waits.filter { $0.kind != .exclusion }.map(\.source) }

    /// A few sentences on one line: what the operation waits for, the roots, and what to do about them.
    public var description: String { text.singleLine }

    private var text: String {
        let handlers = openHandlers.map { [ExplanationFormatter.sentence(for: $0)] } ?? []
        if let error {
            return (["\(operation) has finished without an output: \(error)."] + handlers).joined(separator: " ")
        }
        // A chain that begins with the only wait of the operation is told in one sentence.
        let beginsChain = waits.count == 1 && (2...Path.maxNamed).contains(roots.first?.path.count ?? 0)
        var sentences = beginsChain ? [] : ExplanationFormatter.sentences(for: waits, of: operation)
        var mentioned = beginsChain ? [] : Set(waits.map { Link(waiting: operation, wait: $0) })
        for root in roots.prefix(Self.maxListed) {
            let links = root.path.links.filter { mentioned.insert($0).inserted }
            if let second = root.path.second {
                sentences.append("\(second) waits, through \(root.path.count - 2) more, for \(root.operation).")
                for link in links.prefix(Self.maxListed) {
                    sentences += ExplanationFormatter.sentences(for: [link.wait], of: link.waiting)
                }
                if links.count > Self.maxListed {
                    sentences.append("The chain continues through \(links.count - Self.maxListed) more.")
                }
            } else {
                sentences += ExplanationFormatter.sentences(forChain: links)
            }
            sentences.append(root.text)
            if case .excluded(let holder, let name) = root.cause {
                let wait = OperationWait(kind: .exclusion, source: holder, exclusion: name)
                mentioned.insert(Link(waiting: root.operation, wait: wait))
            }
            if root.isCancelled, let sentence = ExplanationFormatter.cancelSentence(for: root.cause) {
                sentences.append(sentence)
            }
            if let queue = root.suspendedQueue {
                sentences.append(ExplanationFormatter.attemptsPassSuspension(of: queue))
            }
        }
        if roots.count > Self.maxListed { sentences.append("And \(roots.count - Self.maxListed) more.") }
        if let timeLimit { sentences.append(ExplanationFormatter.sentence(for: timeLimit, of: operation)) }
        sentences += handlers
        return sentences.joined(separator: " ")
    }

    /// The number of roots that a description mentions, of links on a long path to a root, and of operations that a
    /// sentence lists.
    static let maxListed = 5
}

extension Explanation.Root: CustomStringConvertible {
    /// The sentence that a description of the explanation has for this root.
    public var description: String { text.singleLine }

    fileprivate var text: String {
        group.map { ExplanationFormatter.sentence(for: $0, of: operation) }
            ?? ExplanationFormatter.sentence(for: cause, of: operation)
    }
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

    /// Returns sentences that tell the links, each of which begins where the previous one ends.
    static func sentences(forChain links: [Explanation.Link]) -> [String] {
        var sentences: [String] = []
        var text = ""
        for (place, link) in links.enumerated() {
            text += text.isEmpty ? "\(link.waiting) " : ", which "
            let source = link.wait.source
            switch link.wait.kind {
            case .input, .order, .child, .awaited, .element: text += "waits for \(source)"
            case .barrier: text += "waits for the barrier \(source)"
            case .original: text += "shares the outcome of \(source)"
            case .replaced: text += "has replaced \(source), and waits for its end"
            case .exclusion:
                text += "waits for \(ExclusionText.phrase(for: link.wait.exclusion ?? "")), after \(source)"
            }
            // After "its end", it would not be clear what "which" refers to.
            if link.wait.kind == .replaced || place + 1 == links.count {
                sentences.append(text + ".")
                text = ""
            }
        }
        return sentences
    }

    static func sentence(for group: Explanation.PlannedGroup, of child: OperationReference) -> String {
        let beginning = "\(child) is a child of the group \(group.group), which has not started"
        return group.waitsForRoot
            ? "\(beginning): a group starts its children itself, so \(group.group) must not wait for \(child) before."
            : "\(beginning), and starts with it: look at what the group waits for."
    }

    static func sentence(for limit: Explanation.TimeLimit, of operation: OperationReference) -> String {
        switch limit {
        case .ofBody(let limit, let waitsForInput):
            "The time limit of \(operation), \(text(limit)), "
                + (waitsForInput
                    ? "is for its own body, and does not limit what it waits for." : "begins when its body starts.")
        case .ofWait(let left): "\(operation) ends in \(text(left)) if its body has not started by then."
        }
    }

    static func sentence(for handlers: HandlerList.OpenCalls) -> String {
        guard let phase = handlers.calledPhase else { return "Its handlers are about to be called." }
        return "Its \(phase.nameOfHandler) handler has not returned"
            + (handlers.areOthersDue ? ", and other handlers wait for it." : ".")
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
            "\(operation) waits for \(answers(of: conditions)): "
                + "\(conditions.count == 1 ? "its" : "their") `evaluate` has not returned."
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
        case .finishing: "\(operation) waits for its willFinish handlers: one of them has not returned."
        case .waitingForPermit(let busy):
            "\(operation) can go on when there is a free permit in \(place(busy))."
        case .finished(let outcome): "\(operation) has finished: \(outcome)."
        }
    }

    /// Says what a cancelled operation still waits for. Nil if the sentence for the cause says so already.
    static func cancelSentence(for cause: Explanation.Cause) -> String? {
        switch cause {
        case .evaluating:
            "It was cancelled, and finishes when the condition has answered: let it look at `Task.isCancelled`."
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
        "the answer of \(list(conditions.map(ConditionText.phrase)))"
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

    private static func name(of queue: QueueReference) -> String { queue.name.map { " \($0.quoted)" } ?? "" }

    private static func place(_ busy: Explanation.BusyQueue) -> String {
        let running = busy.running
        let place = (busy.queue.name.map { "\($0.quoted), " } ?? "") + "a queue of width \(busy.width)"
        if running.isEmpty { return place }
        let names = running.map(\.description).joined(separator: ", ")
        if running.count == Explanation.maxListed, busy.width > running.count {
            return "\(place), where \(names) and others run"
        }
        return "\(place), where \(names) \(running.count == 1 ? "runs" : "run")"
    }
}

extension HandlerPhase {
    /// The name of the method that adds handlers for the phase.
    fileprivate var nameOfHandler: String {
        switch self {
        case .start: "didStart"
        case .cancel: "didCancel"
        case .product: "didProduce"
        case .beforeFinish: "willFinish"
        case .finish: "didFinish"
        }
    }
}
