/// The events that a subscriber has not read yet. A pure value.
struct EventBuffer: Sequence, IteratorProtocol {
    private var events = ChunkedFIFOQueue<OperationEvent>()
    /// The maximum number of events. The oldest events are dropped when there are more. `nil` keeps all events.
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

/// The subscription of a reader, which asks for events when it is ready for them. A pure value; see
/// ``EventBroadcaster``.
struct EventReader<Waiter> {
    enum Next {
        case event(OperationEvent)
        /// There is no event yet: call ``wait(_:_:)`` with this number.
        case wait(UInt64)
        case end
    }

    private var buffer: EventBuffer
    private var hasEnded = false
    private var waiters: [(id: UInt64, waiter: Waiter)] = []
    private var lastWait: UInt64 = 0
    /// The suspensions and resumptions of the queue. `nil` for most readers, which do not record them.
    private var suspensions: [SuspensionChange]?

    init(limit: Int? = nil) { buffer = EventBuffer(limit: limit) }

    /// Returns the event that is dropped to make room, which the caller releases after unlocking. Call
    /// ``takeWaiters()`` next.
    mutating func append(_ event: consuming OperationEvent) -> OperationEvent? { buffer.append(event) }

    /// Notes that no event follows. Returns the waiters to wake.
    mutating func end() -> [Waiter] {
        hasEnded = true
        return takeWaiters()
    }

    mutating func next() -> Next {
        if let event = buffer.next() { return .event(event) }
        if hasEnded { return .end }
        lastWait += 1
        return .wait(lastWait)
    }

    mutating func takeAll() -> EventBuffer { buffer.takeAll() }

    // MARK: Suspensions

    mutating func recordSuspensions() { suspensions = suspensions ?? [] }

    mutating func noteSuspension(_ change: SuspensionChange) { suspensions?.append(change) }

    mutating func takeSuspensions() -> [SuspensionChange] {
        guard let suspensions else { return [] }
        self.suspensions = []
        return suspensions
    }

    // MARK: Waiting

    /// Returns false if there is an event or the end has come, so that `waiter` need not wait.
    mutating func wait(_ id: UInt64, _ waiter: Waiter) -> Bool {
        if hasEnded || !buffer.isEmpty { return false }
        waiters.append((id, waiter))
        return true
    }

    /// Returns `nil` if the waiter has been woken already.
    mutating func stopWaiting(_ id: UInt64) -> Waiter? {
        guard let place = waiters.firstIndex(where: { $0.id == id }) else { return nil }
        return waiters.remove(at: place).waiter
    }

    /// Returns all waiters to wake, because a waiter does not know whether it is the one that gets the event.
    @inline(__always)
    mutating func takeWaiters() -> [Waiter] {
        if waiters.isEmpty { return [] }
        defer { waiters = [] }
        return waiters.map(\.waiter)
    }
}

/// The subscription of an observer. A task calls it with one event at a time, and ends when no event is left. A pure
/// value; see ``EventBroadcaster``.
struct EventListener<Waiter> {
    private var buffer = EventBuffer()
    /// True if a task calls the observer, or was started to do so.
    private var isServed = false
    private var hasEnded = false
    private var appendedCount = 0
    private var calledCount = 0
    /// The tasks that wait until `count` calls have returned.
    private var waiters: [(count: Int, waiter: Waiter)] = []

    /// True if the observer will not be called again.
    var isDone: Bool { hasEnded && !isServed && buffer.isEmpty }

    /// Returns true if the caller has to start a task that calls the observer.
    mutating func append(_ event: consuming OperationEvent) -> Bool {
        _ = buffer.append(event)
        appendedCount += 1
        defer { isServed = true }
        return !isServed
    }

    mutating func end() { hasEnded = true }

    /// Returns the event for the next call, or `nil` if none is left and the task ends.
    mutating func nextCall() -> OperationEvent? {
        if let event = buffer.next() { return event }
        isServed = false
        return nil
    }

    /// Returns the waiters to wake.
    mutating func callReturned() -> [Waiter] {
        calledCount += 1
        let reached = waiters.prefix { $0.count <= calledCount }
        waiters.removeFirst(reached.count)
        return reached.map(\.waiter)
    }

    /// Returns false if the observer has been called with all events, so that `waiter` need not wait.
    mutating func wait(_ waiter: Waiter) -> Bool {
        if calledCount == appendedCount { return false }
        waiters.append((appendedCount, waiter))
        return true
    }

    /// Returns the waiters to wake when the observer is removed.
    mutating func takeWaiters() -> [Waiter] {
        defer { waiters = [] }
        return waiters.map(\.waiter)
    }
}

// MARK: - Table

/// Subscriptions in the order in which they were added, which is the order of their numbers. A pure value.
///
/// A subscription is found by binary search. Its removal leaves an empty place, and the empty places are dropped once
/// they make up half of the table, so a removal takes O(log *n*) amortized time.
struct SubscriptionTable<Subscription> {
    private struct Entry {
        let id: UInt64
        var subscription: Subscription?
    }

    private var places: [Entry] = []
    private var emptyCount = 0

    var isEmpty: Bool { places.count == emptyCount }

    /// - Parameter id: A number greater than all numbers before.
    mutating func append(_ subscription: Subscription, _ id: UInt64) {
        assert(places.last.map { $0.id < id } ?? true)
        places.append(Entry(id: id, subscription: subscription))
    }

    /// Returns `nil` if there is no subscription with this number.
    mutating func with<Result>(_ id: UInt64, _ body: (inout Subscription) -> Result) -> Result? {
        guard let place = place(of: id), places[place].subscription != nil else { return nil }
        return body(&places[place].subscription!)
    }

    mutating func forEach(_ body: (inout Subscription) -> Void) {
        for place in places.indices where places[place].subscription != nil { body(&places[place].subscription!) }
    }

    /// Passes the same value to all subscriptions. The last one gets the value itself instead of a copy.
    mutating func forEach<Value>(with value: consuming Value, _ body: (inout Subscription, consuming Value) -> Void) {
        guard let last = places.lastIndex(where: { $0.subscription != nil }) else { return }
        for place in 0..<last where places[place].subscription != nil { body(&places[place].subscription!, copy value) }
        body(&places[last].subscription!, value)
    }

    mutating func remove(_ id: UInt64) -> Subscription? {
        guard let place = place(of: id), let subscription = places[place].subscription.take() else { return nil }
        emptyCount += 1
        if emptyCount * 2 >= places.count { dropEmptyPlaces() }
        return subscription
    }

    mutating func removeAll(where isGone: (Subscription) -> Bool) -> [Subscription] {
        var gone: [Subscription] = []
        for place in places.indices {
            if let subscription = places[place].subscription, isGone(subscription) {
                gone.append(subscription)
                places[place].subscription = nil
            }
        }
        dropEmptyPlaces()
        return gone
    }

    private mutating func dropEmptyPlaces() {
        places.removeAll { $0.subscription == nil }
        emptyCount = 0
    }

    private func place(of id: UInt64) -> Int? {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < places.count && places[low].id == id ? low : nil
    }
}
