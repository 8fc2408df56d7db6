/// Events that somebody has not read yet. Pure.
struct EventBuffer: Sequence, IteratorProtocol {
    private var events = ChunkedFIFOQueue<OperationEvent>()
    /// Of several that are not read in time the newest stay. Nil: all.
    private let limit: Int?
    private var droppedCount = 0
    /// Without what it carried.
    private var lastDropped: OperationEvent?

    init(limit: Int? = nil) { self.limit = limit }

    var isEmpty: Bool { events.isEmpty && lastDropped == nil }

    /// Returns what is dropped for it, to be released without a lock.
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

    /// However much it is, in a moment.
    mutating func takeAll() -> Self {
        defer { self = Self(limit: limit) }
        return self
    }
}
