/// Somebody who is told of the moments of an operation, or of all operations of a queue, and is not retained for it.
///
/// Set as ``AnyOperation/delegate`` or ``AsyncOperationQueue/delegate``. Every method may be left out. They are called
/// one after another, in the order of the operation's life, as an ``OperationObserver`` is: on a task of their own, or
/// on the actor to which the method belongs, without delaying anybody. A class that belongs to the main actor can be a
/// delegate; its methods say so themselves, as in `@MainActor func operationDidStart…`.
public protocol OperationDelegate: AnyObject, Sendable {
    /// Its body runs, for the first time; of an operation that repeats, once for each repetition.
    func operationDidStart(_ operation: OperationReference) async

    /// Its body has added another operation with ``OperationContext/produce(_:file:line:)``.
    func operation(_ operation: OperationReference, didProduce product: OperationReference) async

    /// Somebody has cancelled it. If its body runs, the outcome is still to come.
    func operationDidCancel(_ operation: OperationReference, reason: CancellationReason) async

    /// It has its outcome: without an error a success.
    func operationDidFinish(_ operation: OperationReference, error: OperationError?) async
}

extension OperationDelegate {
    /// Does nothing.
    public func operationDidStart(_ operation: OperationReference) async {}

    /// Does nothing.
    public func operation(_ operation: OperationReference, didProduce product: OperationReference) async {}

    /// Does nothing.
    public func operationDidCancel(_ operation: OperationReference, reason: CancellationReason) async {}

    /// Does nothing.
    public func operationDidFinish(_ operation: OperationReference, error: OperationError?) async {}
}

/// Tells a delegate, for as long as there is one.
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
