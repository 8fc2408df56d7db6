public import Baton

/// Records the events of a queue's operations from the time when it is made.
///
/// ```swift
/// let recorder = TraceRecorder(of: queue)
/// try await queue.run(report)
/// let trace = await recorder.trace()
/// ```
///
/// While the queue runs, the recorder only stores the events: about 85 bytes for each, and more for what they carry,
/// such as errors. They are processed when ``trace()`` is called. The recorder keeps neither the queue nor operations
/// alive, and stops recording when it is released.
public actor TraceRecorder {
    private let events: OperationEvents
    private var builder: TraceBuilder

    /// Starts to record the events of a queue.
    ///
    /// Events that happened before are not known, also for operations that are in the queue already.
    ///
    /// - Parameter queue: The queue to record. The recorder does not keep it alive.
    /// - Complexity: O(*n*), where *n* is the number of operations in the queue.
    public init(of queue: AsyncOperationQueue) {
        events = queue.events
        events.beginRecordingSuspensions()
        builder = TraceBuilder(queue: events.queue, start: events.now)
    }

    /// Returns a trace of all events since the recorder was made. May be called any number of times.
    ///
    /// The errors are described here: their `description` is called on a thread of the global executor, while no lock
    /// is held.
    ///
    /// - Complexity: O(*n* + *m*), where *n* is the number of new events and *m* is the number of operations recorded
    ///   so far. Each takes less than a microsecond.
    public func trace() -> Trace {
        let taken = events.takeAll()
        let changes = events.takeSuspensions()
        let end = events.now
        for event in taken { builder.add(event) }
        for change in changes { builder.add(change) }
        return builder.trace(at: end)
    }
}
