/// Events that somebody has not read yet. Pure.
struct EventBuffer {
    private var events = Fifo<OperationEvent>()
    /// Of several that are not read in time the newest stay. Nil: all.
    private let limit: Int?
    private var droppedCount = 0
    /// Without what it carried.
    private var lastDropped: OperationEvent?

    init(limit: Int? = nil) { self.limit = limit }

    var isEmpty: Bool { events.isEmpty && lastDropped == nil }

    /// Returns what is dropped for it, to be released without a lock.
    mutating func append(_ event: OperationEvent) -> OperationEvent? {
        defer { events.append(event) }
        guard let limit, events.count >= limit, let oldest = events.popFirst() else { return nil }
        droppedCount += 1
        lastDropped = oldest.dropped(droppedCount)
        return oldest
    }

    mutating func popFirst() -> OperationEvent? {
        if lastDropped == nil { return events.popFirst() }
        droppedCount = 0
        return lastDropped.take()
    }

    mutating func takeAll() -> [OperationEvent] {
        droppedCount = 0
        let first = lastDropped.take()
        let rest = events.takeAll()
        return first.map { [$0] + rest } ?? rest
    }
}
