public import Baton

/// Records what happens to the operations of a queue, from when it is made.
///
/// ```swift
/// let recorder = TraceRecorder(of: queue)
/// try await queue.run(report)
/// let trace = await recorder.trace()
/// ```
///
/// Events are kept as they come, about 85 bytes for each, and more for what they carry, such as errors, until
/// ``trace()`` is called: nothing else is done while the queue runs. It keeps neither the queue nor operations alive,
/// and stops recording when it is released.
public actor TraceRecorder {
    private let events: OperationEvents
    private var builder: TraceBuilder

    /// Begins to record.
    ///
    /// Takes as long as there are operations in the queue. Of those, what happened before is not known.
    public init(of queue: AsyncOperationQueue) {
        events = queue.events
        events.beginRecordingSuspensions()
        builder = TraceBuilder(queue: events.queue, start: events.now)
    }

    /// What has happened so far. May be called as often as one likes; each trace has all from the beginning.
    ///
    /// Errors are described here: their `description` is called, on a thread of the global executor and under no lock.
    /// Takes less than a microsecond for each new event, and as long again for each operation that there has been.
    public func trace() -> Trace {
        let told = events.takeAll()
        let changes = events.takeSuspensions()
        let end = events.now
        for event in told { builder.add(event) }
        for change in changes { builder.add(change) }
        return builder.trace(at: end)
    }
}
