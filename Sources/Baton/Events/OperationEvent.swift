/// Something that happened to one operation. Observers, event streams, debuggers and traces receive these.
///
/// The events of one operation come one at a time, in the order of its life:
///
/// 1. `added`, then `waiting` if a dependency has not finished
/// 2. `delayed` if the operation has a delay
/// 3. `evaluating` if it has conditions
/// 4. `ready`
/// 5. `acquiring` if it has exclusions
/// 6. `excluded` or `waitingForRate` if it has to wait for an exclusion or a rate, and `granted` when that wait is over
/// 7. `started`
/// 8. `finished`
///
/// An operation that is cancelled, or whose dependencies keep it from running, leaves out the steps that it does not
/// reach. No event keeps an operation alive.
public struct OperationEvent: Sendable {
    /// The number of the event, which rises strictly from one event of a queue to the next. Numbers may be left out.
    public let number: UInt64

    /// The time since the queue was made, on the clock of the queue. It is never less than that of the previous event.
    public let time: Duration

    let subject: EventSubject

    /// The operation to which it happened.
    public var operation: OperationReference { subject.operation }

    /// The operation that runs this one: with `context.run`, as a child of a group, or for a condition.
    ///
    /// `nil` for all other operations, and for operations that nobody observed when they were added.
    public var parent: OperationReference? { subject.parent }

    /// The queue of the operation. `nil` if the operation ended without having been added, or if the queue was
    /// released.
    ///
    /// Without a queue there is no clock: ``time`` is zero, and ``number`` counts the events of this operation alone.
    public var queue: QueueReference? { subject.queue }

    /// The kind of the event, with its details.
    public let kind: Kind

    /// The kinds of events.
    @nonexhaustive
    public enum Kind: Sendable {
        /// The operation was added to its queue, with these dependencies.
        case added(edges: [Edge])
        /// At least one dependency has not finished.
        case waiting
        /// All dependencies have finished, and the delay of the operation begins.
        case delayed
        /// The conditions are being evaluated.
        case evaluating
        /// The operation waits only for a permit, for the end of a suspension, or for an exclusion that others hold.
        case ready
        /// The operation has a permit and requests its exclusions. If others hold them, it releases the permit and
        /// waits.
        ///
        /// Published again if the operation had to release its exclusions because it could not start.
        case acquiring
        /// The operation waits for an exclusion and has released its permit.
        ///
        /// The associated operation holds the exclusion, or came before this one in the queue for it. If several
        /// operations or exclusions are in the way, the event names one of each.
        indirect case excluded(by: OperationReference, exclusion: String)
        /// The operation waits for its turn at a rate, and has released its permit. The text is the description of the
        /// rate.
        ///
        /// It has released its exclusions as well, unless it has lost a turn before.
        indirect case waitingForRate(String)
        /// The wait for exclusions or for the rate is over: the operation waits only for a permit or for the end of a
        /// suspension.
        ///
        /// If the operation has to release what it was granted because it could not start, it requests it and waits
        /// again.
        case granted
        /// The body starts, for the first time or again. Attempts count from 1.
        case started(attempt: Int)
        /// The fraction of the work that is done, from 0 to 1. Published at most once for each whole per cent.
        case progress(Double)
        /// The body has added this operation with ``OperationContext/produce(_:file:line:)``.
        indirect case produced(OperationReference)
        /// This attempt has failed. The next one begins after the delay.
        indirect case retrying(attempt: Int, error: OperationError, delay: Duration)
        /// This run has succeeded, and the operation repeats it. The next run begins after the delay.
        indirect case repeating(delay: Duration)
        /// The operation was cancelled. Published at most once, and not if the outcome was decided before the
        /// cancellation.
        indirect case cancelRequested(CancellationReason)
        /// The operation was used in a wrong way. May follow `finished`.
        indirect case misuse(Misuse)
        /// The operation has its outcome.
        case finished(OperationOutcome, error: OperationError?)
        /// This many events were dropped before the next one, because they were not read in time.
        ///
        /// Occurs only in a stream that keeps the newest events, see ``OperationEvents/Buffering``. The number, the
        /// time and the operation are those of the last event that was dropped.
        case dropped(Int)
    }

    /// A dependency of an operation.
    public struct Edge: Sendable, Hashable {
        /// The ways in which an operation can depend on another one.
        @nonexhaustive
        public enum Kind: Sendable, Hashable {
            /// The dependent reads the output of the source.
            case input
            /// The dependent starts after the source, if the outcome of the source meets the policy.
            case order(DependencyPolicy)
        }

        /// The operation that is depended on.
        public let source: OperationReference
        /// The kind of the dependency.
        public let kind: Kind
    }
}

/// Identifies a queue without keeping it alive.
public struct QueueReference: Sendable, Hashable, CustomStringConvertible {
    /// The name of the queue, if it has one.
    public let name: String?
    /// The number of the queue, unique in the process. Numbers rise in the order in which queues are made.
    public let number: UInt32

    /// The name in typographic quotes, or "queue" and the number if the queue has no name.
    public var description: String { name?.quoted ?? "queue \(number)" }

    /// Returns true if both references identify the same queue.
    public static func == (left: Self, right: Self) -> Bool { left.number == right.number }

    /// Hashes the number of the queue.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// The part that all events of one operation share. It is a class, because an event is copied for every subscriber.
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
    /// Returns the event that stands for `count` dropped events, the last of which was this one.
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
    /// The operation and what happened to it, on one line.
    public var description: String { "\(operation) \(kind)" }
}

extension OperationEvent.Kind: CustomStringConvertible {
    /// A description of the kind, as the end of a sentence that begins with the operation.
    public var description: String {
        switch self {
        case .added(let edges) where edges.isEmpty: "was added"
        case .added(let edges): "was added after \(edges.map { "\($0.source)" }.joined(separator: ", "))"
        case .waiting: "waits"
        case .delayed: "is delayed"
        case .evaluating: "evaluates its conditions"
        case .ready: "is ready"
        case .acquiring: "asks for its exclusions"
        case .excluded(let holder, let exclusion):
            "waits for \(ExclusionText.phrase(for: exclusion)), after \(holder)"
        case .waitingForRate(let rate): "waits for the rate \(rate)"
        case .granted: "has what it waited for"
        case .started(attempt: 1): "started"
        case .started(let attempt): "started attempt \(attempt)"
        case .progress(let fraction): "has done \(fraction.wholePercent) %"
        case .produced(let product): "produced \(product)"
        case .retrying(let attempt, let error, let delay):
            "failed at attempt \(attempt), tries again in \(delay): \(error)"
        case .repeating(let delay): "runs again in \(delay)"
        case .cancelRequested(let reason): "was cancelled \(reason)"
        case .misuse(let misuse): "was misused: \(misuse)"
        case .finished(let outcome, let error): "finished: \(error.map { "\($0)" } ?? "\(outcome)")"
        case .dropped(1): "was not read in time: 1 event was dropped"
        case .dropped(let count): "was not read in time: \(count) events were dropped"
        }
    }
}

// MARK: - Streams of events

/// The events of a queue or of one operation, in order, as an asynchronous sequence.
///
/// ```swift
/// for await event in queue.events { print(event.operation, event.kind) }
/// ```
///
/// The sequence keeps all events that happen after it was made until they are read, so a slow reader delays nobody.
/// Several iterators of one sequence share its events; to read the events twice, ask for a second sequence. A sequence
/// keeps neither operations nor queues alive.
///
/// The sequence of an operation ends after `finished`, which is its only event if the operation had finished before. It
/// ends without `finished` if the operation is released without having been added. The sequence of a queue ends when
/// the last handle to the queue is gone and the queue is empty. If the reading task is cancelled, the iterator returns
/// `nil` at once.
public struct OperationEvents: AsyncSequence, Sendable {
    /// An event of one operation.
    public typealias Element = OperationEvent
    /// The sequence does not throw.
    public typealias Failure = Never

    /// The number of unread events that a sequence keeps.
    @nonexhaustive
    public enum Buffering: Sendable, Hashable {
        /// Keeps all events.
        case unbounded
        /// Keeps the newest events, at least 1, and drops older ones. The reader then gets
        /// ``OperationEvent/Kind/dropped(_:)`` before the next event.
        case newest(Int)
    }

    let subscription: Subscription

    /// Removes the reader from the broadcaster when the sequence and its iterators are gone.
    final class Subscription: Sendable {
        let broadcaster: EventBroadcaster
        let id: UInt64

        init(in broadcaster: EventBroadcaster, limit: Int?) {
            self.broadcaster = broadcaster
            id = broadcaster.addReader(limit: limit)
        }

        deinit { broadcaster.remove(id) }
    }

    /// Returns an iterator that continues where other iterators of this sequence have stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

    /// The iterator of a sequence of events.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: Subscription

        /// Waits for the next event.
        ///
        /// - Parameter actor: The actor that the caller is isolated to.
        /// - Returns: The next event, or `nil` after the last one. Returns `nil` at once if the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> OperationEvent? {
            while !Task.isCancelled {
                switch subscription.broadcaster.next(for: subscription.id) {
                case .event(let event): return event
                case .wait(let id): await subscription.broadcaster.wait(id, of: subscription.id)
                case .end: return nil
                }
            }
            return nil
        }
    }
}

extension OperationEvents {
    /// Takes all unread events in one locked step. Recorders use this to read many events at a time, and to get the
    /// events that are left after the reading task was cancelled.
    package func takeAll() -> [OperationEvent] { subscription.broadcaster.takeAll(for: subscription.id) }

    /// The time since the queue was made, on its clock. Zero for the events of one operation.
    package var now: Duration { subscription.broadcaster.now }

    /// The queue that the events belong to. `nil` for the events of one operation.
    package var queue: QueueReference? { subscription.broadcaster.queue }
}

extension AsyncOperationQueue {
    /// The events of the queue's operations from now on. Keeps all of them until they are read.
    ///
    /// - Complexity: O(*n*), where *n* is the number of operations in the queue.
    public var events: OperationEvents { events(buffering: .unbounded) }

    /// Returns the events of the queue's operations from now on.
    ///
    /// - Parameters:
    ///   - buffering: How many unread events are kept. A limit below 1 is reported as ``Misuse`` and counts as 1.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    /// - Returns: A new sequence, which shares no events with other sequences.
    /// - Complexity: O(*n*), where *n* is the number of operations in the queue.
    public func events(
        buffering: OperationEvents.Buffering, file: StaticString = #fileID, line: UInt = #line
    ) -> OperationEvents {
        let limit = buffering.limit { count in
            core.report(
                Misuse(.invalidEventLimit(count), queue: name, callSite: CallSite(file: file, line: line)))
        }
        let subscription = OperationEvents.Subscription(in: core.broadcaster, limit: limit)
        core.observeOperations()
        return OperationEvents(subscription: subscription)
    }
}

extension AnyOperation {
    /// The events of this operation from now on. Keeps all of them until they are read.
    public final var events: OperationEvents { events(buffering: .unbounded) }

    /// Returns the events of this operation from now on. If it has finished, the only event is `finished`.
    ///
    /// A body that iterates the sequence keeps its permit while it waits for the next event. A body that waits for
    /// another operation should await its ``AsyncOperation/value`` instead, which releases the permit.
    ///
    /// - Parameters:
    ///   - buffering: How many unread events are kept. A limit below 1 is reported as ``Misuse`` and counts as 1.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    /// - Returns: A new sequence, which shares no events with other sequences.
    public final func events(
        buffering: OperationEvents.Buffering, file: StaticString = #fileID, line: UInt = #line
    ) -> OperationEvents {
        let limit = buffering.limit { count in
            let callSite = CallSite(file: file, line: line)
            report(Misuse(.invalidEventLimit(count), operation: reference, callSite: callSite))
        }
        return OperationEvents(
            subscription: OperationEvents.Subscription(in: ownBroadcaster().broadcaster, limit: limit))
    }
}

extension OperationEvents.Buffering {
    fileprivate func limit(reportingInvalid report: (Int) -> Void) -> Int? {
        switch self {
        case .unbounded: return nil
        case .newest(let count):
            if count < 1 { report(count) }
            return max(count, 1)
        }
    }
}
