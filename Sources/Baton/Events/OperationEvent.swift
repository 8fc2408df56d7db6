/// Something that happened to one operation: what observers, streams, debuggers and traces are told.
///
/// The events of one operation come one at a time, in the order of its life: `added`, `waiting` or not, `delayed` if it
/// has a delay, `evaluating` if it has conditions, `ready`, `acquiring` if it has exclusions, `started`, and in the end
/// `finished`. If it has to wait for an exclusion or a rate, `excluded` or `waitingForRate` comes before `started`, and
/// `granted` follows when the wait is over. An operation that is cancelled, or whose dependencies keep it from running,
/// leaves out what it does not reach. No event keeps an operation alive.
public struct OperationEvent: Sendable {
    /// Rises strictly from one event of a queue to the next. It may leave numbers out.
    public let number: UInt64

    /// When it was told, on the clock of the queue, since that was made. Never less than that of the event before.
    public let time: Duration

    let subject: EventSubject

    /// To what it happened.
    public var operation: OperationReference { subject.operation }

    /// The operation that runs this one: with `context.run`, as the child of a group, or for a condition.
    ///
    /// Nil for all others, and for those that nobody observed when they were added.
    public var parent: OperationReference? { subject.parent }

    /// The queue of the operation. Nil if it ended without having been added, or if the queue has gone.
    ///
    /// Without a queue there is no clock: the time is zero, and the numbers are those of the operation's own events.
    public var queue: QueueReference? { subject.queue }

    /// What happened.
    public let kind: Kind

    /// What can happen to an operation.
    @nonexhaustive
    public enum Kind: Sendable {
        /// It belongs to its queue from now on, with these dependencies.
        case added(edges: [Edge])
        /// One of its dependencies has not finished.
        case waiting
        /// Its dependencies have finished, and its delay begins.
        case delayed
        /// Its conditions are looked at.
        case evaluating
        /// Nothing keeps it but the queue, its width, a suspension, or an exclusion that others hold.
        case ready
        /// It has a permit, and asks for its exclusions. If others hold them it gives the permit back and waits. Told
        /// again if it had to give them back, because it could not start.
        case acquiring
        /// It waits for an exclusion, and has given its permit back: this operation holds the exclusion, or came before
        /// it in the line for that. If several operations or exclusions are in its way, these are one of each.
        indirect case excluded(by: OperationReference, exclusion: String)
        /// It waits for its turn at this rate, and has given its permit back, and its exclusions, unless it has lost a
        /// turn before. The text is the rate's description.
        indirect case waitingForRate(String)
        /// The wait for its exclusions or for the rate is over: nothing keeps it but the width of its queue or a
        /// suspension. If it has to give back what it got, because it could not start, it asks and waits again.
        case granted
        /// Its body runs, for the first time or again. Counts from 1.
        case started(attempt: Int)
        /// It has come so far, from 0 to 1. Told once for each whole per cent.
        case progress(Double)
        /// Its body has added this operation with ``OperationContext/produce(_:file:line:)``.
        indirect case produced(OperationReference)
        /// This attempt has failed; the next one begins after the delay.
        indirect case retrying(attempt: Int, error: OperationError, delay: Duration)
        /// This run has succeeded, and is not the last; the next one begins after the delay.
        indirect case repeating(delay: Duration)
        /// Somebody has cancelled it. Told at most once, and not if its outcome was decided before.
        indirect case cancelRequested(CancellationReason)
        /// Somebody has done something with it that makes no sense; also after the finish.
        indirect case misuse(Misuse)
        /// It has its outcome.
        case finished(OperationOutcome, error: OperationError?)
        /// So many events were dropped before the next one. Only in a stream of the newest events, see
        /// ``OperationEvents/Buffering``; number, time and operation are those of the last one that was dropped.
        case dropped(Int)
    }

    /// A dependency of an operation.
    public struct Edge: Sendable, Hashable {
        /// What a dependency is for.
        @nonexhaustive
        public enum Kind: Sendable, Hashable {
            /// It hands over its output.
            case input
            /// It comes first, and its outcome has to be of this kind.
            case order(DependencyPolicy)
        }

        /// What the operation depends on.
        public let source: OperationReference
        /// What for.
        public let kind: Kind
    }
}

/// Names a queue without keeping it alive.
public struct QueueReference: Sendable, Hashable, CustomStringConvertible {
    /// Its name, if it has one.
    public let name: String?
    /// Unique in the process, in the order in which queues are made.
    public let number: UInt32

    /// The name in typographic quotes; without one, "queue" and the number.
    public var description: String { name.map { "‘\($0.singleLine)’" } ?? "queue \(number)" }

    /// Two references are equal when they name the same queue.
    public static func == (left: Self, right: Self) -> Bool { left.number == right.number }

    /// Hashes the number.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// What all events of one operation have in common. An object, because events are copied for everybody who is told.
final class EventSubject: Sendable {
    let operation: OperationReference
    let parent: OperationReference?
    let queue: QueueReference?

    init(_ operation: OperationReference, childOf parent: OperationReference? = nil, in queue: QueueReference?) {
        self.operation = operation
        self.parent = parent
        self.queue = queue
    }
}

extension OperationEvent {
    /// What a bounded stream tells when `count` events, of which this was the last, have not been read in time.
    func dropped(_ count: Int) -> Self {
        Self(number: number, time: time, subject: subject, kind: .dropped(count))
    }

    var isStart: Bool {
        if case .started = kind { true } else { false }
    }

    var isFinish: Bool {
        if case .finished = kind { true } else { false }
    }
}

extension OperationEvent: CustomStringConvertible {
    /// To what it happened, and what, on one line.
    public var description: String { "\(operation) \(kind)" }
}

extension OperationEvent.Kind: CustomStringConvertible {
    /// What happened, as the end of a sentence that begins with the operation.
    public var description: String {
        switch self {
        case .added(let edges) where edges.isEmpty: "was added"
        case .added(let edges): "was added after \(edges.map { "\($0.source)" }.joined(separator: ", "))"
        case .waiting: "waits"
        case .delayed: "is delayed"
        case .evaluating: "evaluates its conditions"
        case .ready: "is ready"
        case .acquiring: "asks for its exclusions"
        case .excluded(let holder, let exclusion): "waits for the exclusion \(exclusion), after \(holder)"
        case .waitingForRate(let rate): "waits for the rate \(rate)"
        case .granted: "has what it waited for"
        case .started(attempt: 1): "started"
        case .started(let attempt): "started attempt \(attempt)"
        case .progress(let fraction): "has done \(fraction > 0 ? Int(min(1, fraction) * 100) : 0) %"
        case .produced(let product): "produced \(product)"
        case .retrying(let attempt, let error, let delay):
            "failed at attempt \(attempt), tries again in \(delay): \(error)"
        case .repeating(let delay): "runs again in \(delay)"
        case .cancelRequested(let reason): "was cancelled \(reason)"
        case .misuse(let misuse): "was misused: \(misuse)"
        case .finished(let outcome, let error): "finished: \(error.map { "\($0)" } ?? "\(outcome)")"
        case .dropped(let count): "was not read in time: \(count) events were dropped"
        }
    }
}
