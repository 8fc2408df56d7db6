/// A type that receives all events of an operation, or of all operations of a queue.
///
/// Add an observer with ``AsyncOperationQueue/addObserver(_:)`` or ``AnyOperation/addObserver(_:)``, early or late. It
/// is called with one event at a time, in order, on a task of its own that no cancellation reaches. A slow observer
/// delays neither the queue nor an operation nor another observer, because the events are kept until it has taken them.
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

    /// Removes the observer and releases it. A call that is in progress goes on, and is the last one.
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
    /// - Parameter handler: Called like an ``OperationObserver``, in the isolation domain that it declares.
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
    /// - Parameter handler: Called like an ``OperationObserver``, in the isolation domain that it declares.
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
        get { withLifecycle { $0.outbox?.machine.ownBroadcaster }?.delegate }
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
        holding {
            for operation in state.withLock({ $0.registry.members() }) { operation.startObserving() }
        }
    }
}

private struct BlockObserver: OperationObserver {
    let handler: nonisolated(nonsending) @Sendable (OperationEvent) async -> Void

    func observe(_ event: OperationEvent) async { await handler(event) }
}

// MARK: - Delegates

/// An object that is notified of the moments of an operation, or of all operations of a queue, and is not retained.
///
/// Set it as ``AnyOperation/delegate`` or ``AsyncOperationQueue/delegate``. Every method has a default implementation
/// that does nothing. The methods are called one after another, in the order of the operation's life, like an
/// ``OperationObserver``: on a task of their own, or on the actor to which the method belongs, without delaying the
/// queue or its operations.
///
/// A class that belongs to the main actor can be a delegate. Its methods then declare that themselves, as in
/// `@MainActor func operationDidStart…`.
public protocol OperationDelegate: AnyObject, Sendable {
    /// Called when the body starts for the first time. For an operation that repeats, called once for each repetition.
    ///
    /// - Parameter operation: The operation whose body starts.
    func operationDidStart(_ operation: OperationReference) async

    /// Called when the body has added another operation with ``OperationContext/produce(_:file:line:)``.
    ///
    /// - Parameters:
    ///   - operation: The operation whose body has produced another one.
    ///   - product: The operation that was added.
    func operation(_ operation: OperationReference, didProduce product: OperationReference) async

    /// Called when the operation is cancelled. If its body runs, the outcome is still to come.
    ///
    /// - Parameters:
    ///   - operation: The operation that is cancelled.
    ///   - reason: The reason of the cancellation.
    func operationDidCancel(_ operation: OperationReference, reason: CancellationReason) async

    /// Called when the operation has its outcome.
    ///
    /// - Parameters:
    ///   - operation: The operation that has finished.
    ///   - error: The error of the operation, or `nil` if it has succeeded.
    func operationDidFinish(_ operation: OperationReference, error: OperationError?) async
}

extension OperationDelegate {
    /// Does nothing.
    ///
    /// - Parameter operation: The operation that has started.
    public func operationDidStart(_ operation: OperationReference) async {}

    /// Does nothing.
    ///
    /// - Parameters:
    ///   - operation: The operation that has added another one.
    ///   - product: The operation that was added.
    public func operation(_ operation: OperationReference, didProduce product: OperationReference) async {}

    /// Does nothing.
    ///
    /// - Parameters:
    ///   - operation: The operation that was cancelled.
    ///   - reason: The reason of the cancellation.
    public func operationDidCancel(_ operation: OperationReference, reason: CancellationReason) async {}

    /// Does nothing.
    ///
    /// - Parameters:
    ///   - operation: The operation that has finished.
    ///   - error: The error of the operation, or nil if it has an output.
    public func operationDidFinish(_ operation: OperationReference, error: OperationError?) async {}
}

/// Passes events on to a delegate, for as long as the delegate exists.
struct DelegateObserver: OperationObserver {
    weak let delegate: (any OperationDelegate)?

    func observe(_ event: OperationEvent) async {
        guard let delegate else { return }
        switch event.kind {
        case .started(attempt: 1): await delegate.operationDidStart(event.operation)
        case .produced(let product): await delegate.operation(event.operation, didProduce: product)
        case .cancelRequested(let reason): await delegate.operationDidCancel(event.operation, reason: reason)
        case .finished(_, let error): await delegate.operationDidFinish(event.operation, error: error)
        case .added, .waiting, .delayed, .evaluating, .ready, .acquiring, .excluded, .waitingForRate, .granted,
            .started,
            .progress, .retrying, .repeating,
            .misuse, .dropped:
            break
        }
    }
}

// MARK: - Debugger

/// An observer that writes a line for every step that an operation takes.
///
/// ```swift
/// queue.addObserver(BatonDebugger())
/// // Download added to queue
/// // Download executed
/// // Download finished (success after 1.5 seconds)
/// ```
///
/// Nothing is written unless a debugger is added to a queue or to an operation. The time is that since the first start,
/// on the queue's clock; it is left out for an operation that never started. The lines are those of AOperation's
/// debugger.
public final class BatonDebugger: OperationObserver {
    private let write: @Sendable (String) -> Void
    /// The times of the first starts, by the ids of the operations.
    private let starts = Locked<[UInt64: Duration]>([:])

    /// Creates a debugger that writes lines to standard output.
    public convenience init() { self.init { print($0) } }

    /// Creates a debugger that passes each line to a closure, for a log or a test.
    ///
    /// - Parameter write: Called on the observer's task, with one line at a time, without a line break. A debugger that
    ///   observes several queues or operations calls it on several tasks at once.
    public init(writingTo write: @escaping @Sendable (_ line: String) -> Void) { self.write = write }

    /// Writes the line of the event, if there is one for its kind.
    ///
    /// - Parameter event: The event that happened.
    public func observe(_ event: OperationEvent) async {
        if let line = line(for: event) { write("\(event.operation.name) \(line)".singleLine) }
    }

    private func line(for event: OperationEvent) -> String? {
        switch event.kind {
        case .added: return "added to queue"
        case .started(let attempt):
            starts.withLock { starts in
                if starts[event.operation.id] == nil { starts[event.operation.id] = event.time }
            }
            return attempt == 1 ? "executed" : "executed again (attempt \(attempt))"
        case .retrying(let attempt, let error, let delay):
            return "will be executed again in \(delay), because attempt \(attempt) failed: \(error)"
        case .repeating(let delay): return "will be executed again in \(delay)"
        case .produced(let product): return "produced \(product.name)"
        case .cancelRequested: return "cancelled"
        case .finished(_, error: .skipped(.duplicate(let other))):
            return "ignored because of uniqueId (\(other.name) is there)"
        case .finished(let outcome, let error):
            let start = starts.withLock { $0.removeValue(forKey: event.operation.id) }
            let time = start.map { " after \(event.time - $0)" } ?? ""
            return "finished (\(outcome)\(time)\(error.map { ": \($0)" } ?? ""))"
        case .misuse(let misuse): return "was misused: \(misuse)"
        case .dropped(let count): return "and others: \(count) \(count == 1 ? "event" : "events") dropped"
        case .waiting, .delayed, .evaluating, .ready, .acquiring, .excluded, .waitingForRate, .granted, .progress:
            return nil
        }
    }
}
