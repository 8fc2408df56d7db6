/// One who reads events when it likes. Pure; see ``EventBroadcaster``.
struct EventReader<Waiter> {
    enum Next {
        case event(OperationEvent)
        /// To be followed by ``wait(_:_:)`` with this number.
        case wait(UInt64)
        case end
    }

    private var buffer: EventBuffer
    private var isOver = false
    private var waiters: [(id: UInt64, waiter: Waiter)] = []
    private var lastWait: UInt64 = 0
    /// When the queue was suspended and resumed. Nil for most readers: they do not ask.
    private var suspensions: [SuspensionChange]?

    init(limit: Int? = nil) { buffer = EventBuffer(limit: limit) }

    /// Returns what is dropped for it, to be released without a lock. To be followed by ``takeWaiters()``.
    mutating func append(_ event: consuming OperationEvent) -> OperationEvent? { buffer.append(event) }

    /// Nothing more comes.
    mutating func end() -> [Waiter] {
        isOver = true
        return takeWaiters()
    }

    mutating func next() -> Next {
        if let event = buffer.next() { return .event(event) }
        if isOver { return .end }
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

    /// False: there is something now.
    mutating func wait(_ id: UInt64, _ waiter: Waiter) -> Bool {
        if isOver || !buffer.isEmpty { return false }
        waiters.append((id, waiter))
        return true
    }

    /// Nil: it has been woken before.
    mutating func stopWaiting(_ id: UInt64) -> Waiter? {
        guard let place = waiters.firstIndex(where: { $0.id == id }) else { return nil }
        return waiters.remove(at: place).waiter
    }

    /// Whom to wake: all, because none of them knows that it is the first.
    @inline(__always)
    mutating func takeWaiters() -> [Waiter] {
        if waiters.isEmpty { return [] }
        defer { waiters = [] }
        return waiters.map(\.waiter)
    }
}

/// One who is called with every event, one at a time, by a task that lives for as long as there is something to tell.
/// Pure; see ``EventBroadcaster``.
struct EventListener<Waiter> {
    private var buffer = EventBuffer()
    /// A task calls it, or is about to.
    private var isServed = false
    private var isOver = false
    private var toldCount = 0
    private var calledCount = 0
    /// Those who wait until so many calls have returned.
    private var waiters: [(count: Int, waiter: Waiter)] = []

    /// It will not be called any more.
    var isDone: Bool { isOver && !isServed && buffer.isEmpty }

    /// True: a task has to be started.
    mutating func append(_ event: consuming OperationEvent) -> Bool {
        _ = buffer.append(event)
        toldCount += 1
        defer { isServed = true }
        return !isServed
    }

    mutating func end() { isOver = true }

    /// For the task that serves it. Nil: there is nothing more, and the task ends.
    mutating func nextCall() -> OperationEvent? {
        if let event = buffer.next() { return event }
        isServed = false
        return nil
    }

    /// Returns whom to wake.
    mutating func callReturned() -> [Waiter] {
        calledCount += 1
        let reached = waiters.prefix { $0.count <= calledCount }
        waiters.removeFirst(reached.count)
        return reached.map(\.waiter)
    }

    /// False: it has been called with everything.
    mutating func wait(_ waiter: Waiter) -> Bool {
        if calledCount == toldCount { return false }
        waiters.append((toldCount, waiter))
        return true
    }

    /// It is taken away.
    mutating func takeWaiters() -> [Waiter] {
        defer { waiters = [] }
        return waiters.map(\.waiter)
    }
}
