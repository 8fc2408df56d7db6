/// A type that receives all events of an operation, or of all operations of a queue.
///
/// Add an observer with ``AsyncOperationQueue/addObserver(_:)`` or ``AnyOperation/addObserver(_:)``, early or late. It
/// is called with one event at a time, in order, on a task of its own that no cancel reaches. A slow observer delays
/// neither the queue nor an operation nor another observer, because the events are kept until it has taken them.
public protocol OperationObserver: Sendable {
    /// Called with every event, one at a time.
    ///
    /// The observer may call any API, for instance to add operations or to cancel the one that the event is about.
    ///
    /// - Parameter event: The event that happened.
    func observe(_ event: OperationEvent) async
}

/// The registration of an observer of a queue, with which it can be removed.
///
/// Releasing this object changes nothing.
public final class OperationObservation: Sendable {
    private let broadcaster: EventBroadcaster
    private let id: UInt64

    init(of broadcaster: EventBroadcaster, by observer: any OperationObserver) {
        self.broadcaster = broadcaster
        id = broadcaster.add(observer, on: broadcaster.taskFactory)
    }

    /// Removes the observer and releases it. A call that is under way goes on, and is the last one.
    public func cancel() { broadcaster.remove(id) }

    /// Returns when the observer has been called with every event so far, or has been removed.
    ///
    /// ``AsyncOperationQueue/waitUntilIdle()`` does not wait for observers, so a program that ends, or a test, calls
    /// this method. The observer itself must not call it, because it would wait for itself. Cancelling the calling task
    /// does not interrupt the wait.
    public func delivered() async { await broadcaster.delivered(to: id) }
}

extension AsyncOperationQueue {
    /// Adds an observer that receives all events of the queue's operations from now on.
    ///
    /// The observer is retained until it is removed, or until the queue is released and its last event is delivered.
    /// The queue does not wait for the observer to become idle.
    ///
    /// - Parameter observer: The observer, which is called on a task of its own.
    /// - Returns: The registration of the observer. It may be discarded.
    /// - Complexity: O(*n*), where *n* is the number of operations in the queue.
    @discardableResult
    public func addObserver(_ observer: some OperationObserver) -> OperationObservation {
        let observation = OperationObservation(of: core.broadcaster, by: observer)
        core.observeOperations()
        return observation
    }

    /// Calls `handler` with all events of the queue's operations from now on.
    ///
    /// ```swift
    /// queue.observe { event in print(event.operation, event.kind) }
    /// ```
    ///
    /// - Parameter handler: Called like an ``OperationObserver``, on the isolation that it declares.
    /// - Returns: The registration of the handler. It may be discarded.
    /// - Complexity: O(*n*), where *n* is the number of operations in the queue.
    @discardableResult
    public func observe(
        _ handler: nonisolated(nonsending) @escaping @Sendable (_ event: OperationEvent) async -> Void
    ) -> OperationObservation {
        addObserver(BlockObserver(handler: handler))
    }

    /// The delegate of all operations of the queue, which is not retained. `nil` unless set.
    ///
    /// A delegate that replaces another one is notified of what happens from then on. The former delegate is not
    /// notified any more.
    ///
    /// - Complexity: Setting a delegate takes O(*n*) time, where *n* is the number of operations in the queue.
    public var delegate: (any OperationDelegate)? {
        get { core.broadcaster.delegate }
        set {
            core.broadcaster.setDelegate(newValue, on: core.services)
            if newValue != nil { core.observeOperations() }
        }
    }
}

extension AnyOperation {
    /// Adds an observer that receives all events of this operation from now on.
    ///
    /// If the operation has finished, the observer receives `finished` alone. The observer is released after it has
    /// received `finished`.
    ///
    /// - Parameter observer: The observer, which is called on a task of its own.
    /// - Returns: This operation.
    @discardableResult
    public final func addObserver(_ observer: some OperationObserver) -> Self {
        let (broadcaster, taskFactory) = ownBroadcaster()
        _ = broadcaster.add(observer, on: taskFactory)
        return self
    }

    /// Calls `handler` with all events of this operation from now on.
    ///
    /// - Parameter handler: Called like an ``OperationObserver``, on the isolation that it declares.
    /// - Returns: This operation.
    @discardableResult
    public final func observe(
        _ handler: nonisolated(nonsending) @escaping @Sendable (_ event: OperationEvent) async -> Void
    ) -> Self {
        addObserver(BlockObserver(handler: handler))
    }

    /// The delegate of this operation, which is not retained. `nil` unless set, and after the operation has finished.
    ///
    /// A delegate that replaces another one is notified of what happens from then on. The former delegate is not
    /// notified any more. A delegate that is set after the operation has finished is notified of the outcome alone.
    public final var delegate: (any OperationDelegate)? {
        get { withLife { $0.outbox?.machine.ownBroadcaster }?.delegate }
        set {
            if newValue == nil, !isObserved { return }
            let (broadcaster, taskFactory) = ownBroadcaster()
            broadcaster.setDelegate(newValue, on: taskFactory)
        }
    }
}

extension QueueCore {
    /// Makes the operations in the queue publish their events from now on, because somebody observes the queue.
    func observeOperations() {
        for operation in state.withLock({ $0.members() }) { operation.startObserving() }
    }
}

private struct BlockObserver: OperationObserver {
    let handler: nonisolated(nonsending) @Sendable (OperationEvent) async -> Void

    func observe(_ event: OperationEvent) async { await handler(event) }
}
