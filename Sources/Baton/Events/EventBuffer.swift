/// The events that a subscriber has not read yet. A pure value.
struct EventBuffer: Sequence, IteratorProtocol {
    private var events = ChunkedFIFOQueue<OperationEvent>()
    /// How many events are kept; if there are more, the oldest are dropped. `nil` keeps all.
    private let limit: Int?
    private var droppedCount = 0
    /// An event that stands for all dropped ones, and retains nothing of what they contained.
    private var lastDropped: OperationEvent?

    init(limit: Int? = nil) { self.limit = limit }

    var isEmpty: Bool { events.isEmpty && lastDropped == nil }

    /// Returns the event that is dropped to make room. The caller releases it after unlocking.
    mutating func append(_ event: consuming OperationEvent) -> OperationEvent? {
        let oldest = limit.flatMap { events.count >= $0 ? events.popFirst() : nil }
        events.append(event)
        guard let oldest else { return nil }
        droppedCount += 1
        lastDropped = oldest.dropped(droppedCount)
        return oldest
    }

    mutating func next() -> OperationEvent? {
        if lastDropped == nil { return events.popFirst() }
        droppedCount = 0
        return lastDropped.take()
    }

    /// Returns all unread events in O(1), and leaves the buffer empty.
    mutating func takeAll() -> Self {
        defer { self = Self(limit: limit) }
        return self
    }
}
