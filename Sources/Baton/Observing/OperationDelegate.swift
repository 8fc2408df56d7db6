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
    ///   - reason: The reason of the cancel.
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
    public func operationDidStart(_ operation: OperationReference) async {}

    /// Does nothing.
    public func operation(_ operation: OperationReference, didProduce product: OperationReference) async {}

    /// Does nothing.
    public func operationDidCancel(_ operation: OperationReference, reason: CancellationReason) async {}

    /// Does nothing.
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
