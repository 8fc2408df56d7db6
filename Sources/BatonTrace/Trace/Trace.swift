public import Baton

/// A recording of a queue's operations: a value to inspect, to draw, to write and to read.
///
/// ```swift
/// let recorder = TraceRecorder(of: queue)
/// try await queue.run(report)
/// let trace = await recorder.trace()
/// print(trace.summary())
/// try await trace.write(.timeline, to: "trace.html")
/// ```
///
/// All times are on the clock of the queue, counted from the creation of the queue. A trace does not keep anything
/// alive: it contains the ids and names of operations, and the texts of errors.
public struct Trace: Sendable, Hashable {
    /// The name of the queue, if it has one.
    public internal(set) var queueName: String?
    /// The number that tells queues of the process apart; see `QueueReference.number`. Nil if no event names a queue.
    public internal(set) var queueNumber: UInt32?
    /// The time when recording started.
    public internal(set) var start: Duration
    /// The time when the trace was taken, never before the last event. Unfinished operations are drawn up to this time.
    public internal(set) var end: Duration
    /// The number of events in the trace.
    public internal(set) var eventCount: Int
    /// The operations that have an event, in the order of their first events. Unfinished ones are included.
    public internal(set) var operations: [TracedOperation]
    /// The times in which the queue was suspended, in order. Only a recorder knows them: a trace made from events has
    /// none.
    public internal(set) var suspensions: [Suspension] = []

    /// A time in which the queue was suspended.
    public struct Suspension: Sendable, Hashable {
        /// The start of the suspension, or of the recording if that was later.
        public internal(set) var start: Duration
        /// The time when the queue was resumed, or nil if it was suspended at the end of the trace.
        public internal(set) var end: Duration?
    }

    /// The time from the first event of an operation to the end of the trace, or zero without operations.
    ///
    /// - Complexity: O(*n*), where *n* is the number of operations.
    public var duration: Duration { operations.isEmpty ? .zero : end - firstMoment }

    /// The time of the first event of an operation, or the start of the recording if there is none.
    ///
    /// - Complexity: O(*n*), where *n* is the number of operations.
    public var firstMoment: Duration { operations.lazy.compactMap(\.firstMoment).min() ?? start }
}

extension Trace {
    /// Makes a trace from the events of one queue, which are sorted by their numbers if necessary.
    ///
    /// The errors in the events are described: their `description` is called on the calling thread.
    ///
    /// - Parameters:
    ///   - events: The events. If some are missing, the values that they would have set are nil.
    ///   - start: The time when collecting started, or nil for the time of the first event.
    ///   - end: The time when it ended, or nil for the time of the last event.
    /// - Complexity: O(*n*), or O(*n* log *n*) if the events are not in order, where *n* is the number of events.
    public init(of events: some Collection<OperationEvent>, from start: Duration? = nil, to end: Duration? = nil) {
        let numbers = events.lazy.map(\.number)
        let isInOrder = zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
        let ordered = isInOrder ? Array(events) : events.sorted { $0.number < $1.number }
        var builder = TraceBuilder(queue: nil, start: start ?? ordered.first?.time ?? .zero)
        for event in ordered { builder.add(event) }
        self = builder.trace(at: end ?? .zero)
    }
}

// MARK: - Errors

/// The reason why a picture of a ``Trace`` could not be made or written.
@nonexhaustive
public enum TraceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Graphviz is not installed. `searched` lists the paths where its program `dot` was looked for.
    case graphvizMissing(searched: [String])
    /// The program `dot` ended with this status. `message` is the text of its standard error.
    case graphvizFailed(status: Int32, message: String)
    /// The file could not be written. `reason` says why.
    case notWritten(path: String, reason: String)

    /// A message that says what happened and what to do.
    public var description: String { text.cleanLines }

    private var text: String {
        switch self {
        case .graphvizMissing(let searched):
            "There is no program ‘dot’ in \(searched.joined(separator: ", ")). Install Graphviz (apt-get install "
                + "graphviz, brew install graphviz), say where it is, or write .dot or .mermaid, which need no program."
        case .graphvizFailed(let status, let message):
            "Graphviz could not draw the graph: ‘dot’ ended with status \(status)"
                + (message.isBlank ? ", and wrote no message." : ". \(message)")
        case .notWritten(let path, let reason) where path.isEmpty:
            "The picture could not be written: \(reason)"
        case .notWritten(let path, let reason):
            "The picture could not be written to \(path.quoted): \(reason)"
        }
    }
}
