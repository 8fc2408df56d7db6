public import Baton

/// What happened to the operations of a queue while somebody recorded it: a value to look at, to draw, to write and to
/// read.
///
/// ```swift
/// let recorder = TraceRecorder(of: queue)
/// try await queue.run(report)
/// let trace = await recorder.trace()
/// print(trace.summary())
/// try await trace.write(.timeline, to: "trace.html")
/// ```
///
/// All times are on the clock of the queue, since that was made. It keeps nothing alive: operations are named by their
/// ids and names, errors by their texts.
public struct Trace: Sendable, Hashable {
    /// The name of the queue, if it has one.
    public internal(set) var queueName: String?
    /// Tells queues of the process apart; see `QueueReference.number`. Nil of events that no queue has told.
    public internal(set) var queueNumber: UInt32?
    /// When recording began.
    public internal(set) var start: Duration
    /// When the trace was taken: never before the last event. What has not finished is drawn up to here.
    public internal(set) var end: Duration
    /// How many events it was made of.
    public internal(set) var eventCount: Int
    /// Those of which an event was told, in the order of their first; unfinished ones are among them.
    public internal(set) var operations: [TracedOperation]
    /// When the queue was suspended, in order. Only a recorder knows it: a trace that is made of events has none.
    public internal(set) var suspensions: [Suspension] = []

    /// A time in which the queue was suspended.
    public struct Suspension: Sendable, Hashable {
        /// When it began, or when recording began if that was later.
        public internal(set) var start: Duration
        /// When the queue was resumed. Nil: it is suspended at the end of the trace.
        public internal(set) var end: Duration?
    }

    /// From the first event of an operation to the end; zero without operations.
    public var duration: Duration { operations.isEmpty ? .zero : end - firstMoment }

    /// When the first of its events was told, or recording began if there is none.
    public var firstMoment: Duration { operations.lazy.compactMap(\.firstMoment).min() ?? start }
}

extension Trace {
    /// Makes a trace of events that somebody has collected, of one queue; their order is that of their numbers.
    ///
    /// Describing the errors in them calls their `description`, on the calling thread.
    ///
    /// - Parameters:
    ///   - events: As they were told. Some may be missing: what they would have said is nil.
    ///   - start: When collecting began; nil: with the first event.
    ///   - end: When it ended; nil: with the last event.
    public init(of events: some Collection<OperationEvent>, from start: Duration? = nil, to end: Duration? = nil) {
        let numbers = events.lazy.map(\.number)
        let isInOrder = zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
        let ordered = isInOrder ? Array(events) : events.sorted { $0.number < $1.number }
        var builder = TraceBuilder(queue: nil, start: start ?? ordered.first?.time ?? .zero)
        for event in ordered { builder.add(event) }
        self = builder.trace(at: end ?? .zero)
    }
}
