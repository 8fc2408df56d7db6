/// Is told of everything that happens to an operation, or to all operations of a queue, and can change nothing of it.
///
/// Add one with ``AsyncOperationQueue/addObserver(_:)`` or ``AnyOperation/addObserver(_:)``, early or late. It is
/// called with one event at a time, in order, on a task of its own that no cancel reaches. However long it takes, it
/// delays neither the queue nor an operation nor another observer: what happens meanwhile is kept for it.
public protocol OperationObserver: Sendable {
    /// Called with every event.
    ///
    /// It may do what it likes, such as adding operations or cancelling the one that it is told of.
    func observe(_ event: OperationEvent) async
}

/// One observer of a queue, from the call that added it: to take it away again.
///
/// Releasing this changes nothing.
public final class OperationObservation: Sendable {
    private let hub: EventBroadcaster
    private let id: UInt64

    init(of hub: EventBroadcaster, by observer: any OperationObserver) {
        self.hub = hub
        id = hub.add(observer, on: hub.taskFactory)
    }

    /// Takes the observer away and releases it. A call that is under way goes on, and is the last one.
    public func cancel() { hub.remove(id) }

    /// Returns when the observer has been called with everything that was told before, or has been taken away.
    ///
    /// ``AsyncOperationQueue/waitUntilIdle()`` does not wait for observers; this does, for a program that ends, or a
    /// test. The observer itself must not await it: it would wait for itself. Cancelling the calling task does not
    /// interrupt it.
    public func delivered() async { await hub.delivered(to: id) }
}

extension AsyncOperationQueue {
    /// Adds an observer, told of what happens to the queue's operations from now on.
    ///
    /// It is retained until it is taken away, or the queue has gone. The queue is not idle any later for it. This takes
    /// as long as there are operations in the queue.
    @discardableResult
    public func addObserver(_ observer: some OperationObserver) -> OperationObservation {
        let observation = OperationObservation(of: core.hub, by: observer)
        core.observeOperations()
        return observation
    }

    /// Calls `handler` with everything that happens to the queue's operations from now on, as an observer is called, on
    /// the isolation that it declares.
    ///
    /// ```swift
    /// queue.observe { event in print(event.operation, event.kind) }
    /// ```
    @discardableResult
    public func observe(
        _ handler: nonisolated(nonsending) @escaping @Sendable (_ event: OperationEvent) async -> Void
    ) -> OperationObservation {
        addObserver(BlockObserver(handler: handler))
    }

    /// Told of the moments of the queue's operations; not retained. Nil unless set.
    ///
    /// One that replaces another is told of what happens from then on; the other is not told any more.
    public var delegate: (any OperationDelegate)? {
        get { core.hub.delegate }
        set {
            core.hub.setDelegate(newValue, on: core.services)
            if newValue != nil { core.observeOperations() }
        }
    }
}

extension AnyOperation {
    /// Adds an observer, told of what happens to this operation from now on; after the finish, of `finished` alone.
    ///
    /// It is released when it has been told of the finish.
    @discardableResult
    public final func addObserver(_ observer: some OperationObserver) -> Self {
        let (hub, taskFactory) = audience()
        _ = hub.add(observer, on: taskFactory)
        return self
    }

    /// Calls `handler` with everything that happens to this operation from now on, as an observer is called, on the
    /// isolation that it declares.
    @discardableResult
    public final func observe(
        _ handler: nonisolated(nonsending) @escaping @Sendable (_ event: OperationEvent) async -> Void
    ) -> Self {
        addObserver(BlockObserver(handler: handler))
    }

    /// Told of the moments of this operation; not retained. Nil unless set, and when the operation has finished.
    ///
    /// One that replaces another is told of what happens from then on; the other is not told any more. One that is set
    /// after the finish is told of that alone.
    public final var delegate: (any OperationDelegate)? {
        get { withLife { $0.outbox?.machine.audience }?.delegate }
        set {
            if newValue == nil, !isObserved { return }
            let (hub, taskFactory) = audience()
            hub.setDelegate(newValue, on: taskFactory)
        }
    }
}

extension QueueCore {
    /// Somebody has begun to observe the queue: what is in it has to tell from now on.
    func observeOperations() {
        for operation in state.withLock({ $0.members() }) { operation.beObservedLate() }
    }
}

private struct BlockObserver: OperationObserver {
    let handler: nonisolated(nonsending) @Sendable (OperationEvent) async -> Void

    func observe(_ event: OperationEvent) async { await handler(event) }
}
