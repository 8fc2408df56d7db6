public import Baton
public import Foundation

/// Runs a Foundation operation, on threads of Foundation's, and takes the output from it when it has finished.
///
/// ```swift
/// let thumbnail = AsyncOperation(foundation: render) { $0.image }
/// let pages = AsyncOperation(FoundationProcedure { LegacyImport(file) }).retry(.constant(.seconds(1)), attempts: 3)
/// ```
///
/// The operation is added to an `OperationQueue`, where it waits for its own dependencies and may block its thread. The
/// run ends when it has finished. Cancelling the run cancels it; if it was cancelled, by whomever, the run ends as
/// ``OperationError/cancelled(reason:)``, whatever it has done.
///
/// **One that is not new.** One that has finished, runs already or is in a queue already is not started: the run takes
/// part in its end. Foundation does not say whether an operation waits in a queue. It is known here on Linux, and of
/// those that Baton has added; on Apple platforms do not give this one that waits in a queue of your own, which is an
/// exception of Foundation's: use it as a dependency. In no case add it to a queue afterwards.
public struct FoundationProcedure<Performed: Foundation.Operation, Output: Sendable>: Procedure {
    private let make: @Sendable () -> Performed
    private let output: @Sendable (Performed) throws -> Output
    private let queue: OperationQueue?

    /// Plans to run what `make` returns: a new operation for each run, because a Foundation operation runs once.
    ///
    /// - Parameters:
    ///   - queue: Where it runs; a queue of Baton's own without a limit if nil. While it is suspended, nothing begins
    ///     or ends.
    ///   - make: Called once for each run, on the task of the run.
    ///   - output: Called when the operation has finished, and was not cancelled. What it throws fails the run.
    public init(
        on queue: OperationQueue? = nil, _ make: @escaping @Sendable () -> Performed,
        output: @escaping @Sendable (Performed) throws -> Output
    ) {
        self.make = make
        self.output = output
        self.queue = queue
    }

    /// Runs it. Throws what the closure for the output does, and `CancellationError` if it was cancelled.
    public func execute(in context: OperationContext) async throws -> Output {
        let operation = make()
        let claim = RunClaim(on: operation)
        if claim.isFirst { (queue ?? FoundationRuns.queue).addForSure(operation) }
        if !operation.isFinished { await EndWatch.end(of: operation, onCancel: { operation.cancel() }) }
        claim.end()
        if operation.isCancelled {
            context.operation.cancel(reason: .because("the Foundation operation that it ran was cancelled"))
            throw CancellationError()
        }
        return try output(operation)
    }
}

extension FoundationProcedure where Output == Void {
    /// Plans to run what `make` returns: a new operation for each run, because a Foundation operation runs once.
    public init(on queue: OperationQueue? = nil, _ make: @escaping @Sendable () -> Performed) {
        self.init(on: queue, make, output: { _ in })
    }
}

extension AsyncOperation {
    /// Plans the run of one Foundation operation, and takes the output from it when it has finished, as
    /// ``FoundationProcedure`` does.
    ///
    /// It is called as the Foundation operation is, or after its type. If the run ends before it begins, because it was
    /// cancelled or skipped, the Foundation operation is cancelled and finishes, so that nothing waits for it in vain;
    /// but not one that somebody else has started.
    public convenience init<Performed: Foundation.Operation>(
        foundation operation: Performed, on queue: OperationQueue? = nil,
        output: @escaping @Sendable (Performed) throws -> Output
    ) {
        self.init(FoundationProcedure(on: queue, { operation }, output: output))
        name = operation.name ?? "\(type(of: operation))"
        didFinish { result in
            if operation.isFinished { return }
            let wasCancelled = if case .failure(.cancelled) = result { true } else { false }
            FoundationRuns.end(operation, wasCancelled: wasCancelled)
        }
    }
}

extension AsyncOperation where Output == Void {
    /// Plans the run of one Foundation operation, as ``FoundationProcedure`` does.
    ///
    /// It is called as the Foundation operation is, or after its type.
    public convenience init(foundation operation: Foundation.Operation, on queue: OperationQueue? = nil) {
        self.init(foundation: operation, on: queue, output: { _ in })
    }
}
