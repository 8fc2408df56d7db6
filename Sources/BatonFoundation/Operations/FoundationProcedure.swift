public import Baton
public import Foundation

/// Runs a Foundation operation on Foundation's threads, and reads the output from it when it has finished.
///
/// ```swift
/// let thumbnail = AsyncOperation(foundation: render) { $0.image }
/// let pages = AsyncOperation(FoundationProcedure { LegacyImport(file) }).retry(.constant(.seconds(1)), attempts: 3)
/// ```
///
/// The Foundation operation is added to an `OperationQueue`, where it waits for its own dependencies and may block its
/// thread. The run ends when it has finished. Cancelling the run cancels the Foundation operation. If the Foundation
/// operation was cancelled, by the run or by other code, the run ends with ``OperationError/cancelled(reason:)``, even
/// if the Foundation operation has produced an output.
///
/// **Permits.** The run holds no permit of its Baton queue while it waits for dependencies of the Foundation operation,
/// which may be bridges of Baton operations in the same queue. It takes a permit again before the Foundation operation
/// starts, so the width of the Baton queue limits how many Foundation operations execute at once. For that purpose, a
/// Foundation operation that has unfinished dependencies gets one more. The run does not hold a permit either if the
/// Foundation operation is a bridge, or was started by another party.
///
/// **Operations that are not new.** If the Foundation operation has finished, is executing or is in a queue already,
/// the procedure does not start it, and only waits for its end. Foundation does not say whether an operation is in a
/// queue. The procedure finds that out on Linux and, on every platform, for operations that Baton has added. On Apple
/// platforms, do not pass an operation that waits in a queue of your own, because adding it twice raises an exception;
/// use it as a dependency instead. Do not add an operation to a queue after you have passed it to this procedure.
public struct FoundationProcedure<Performed: Foundation.Operation, Output: Sendable>: Procedure {
    private let make: @Sendable () -> Performed
    private let output: @Sendable (Performed) throws -> Output
    private let queue: OperationQueue?
    /// The number of runs, if all of them have the same Foundation operation.
    private let runsOfOne: RunCount?

    /// Creates a procedure with a closure that makes a new operation for each run, because a Foundation operation runs
    /// once.
    ///
    /// - Parameters:
    ///   - queue: The queue that runs the operation, or nil for an unlimited queue of Baton's. While a queue is
    ///     suspended, its operations neither begin nor end.
    ///   - make: A closure that is called once for each run, on the task of the run.
    ///   - output: A closure that is called on the task of the run when the operation has finished without being
    ///     cancelled. An error that it throws fails the run.
    public init(
        on queue: OperationQueue? = nil, _ make: @escaping @Sendable () -> Performed,
        output: @escaping @Sendable (Performed) throws -> Output
    ) {
        self.make = make
        self.output = output
        self.queue = queue
        runsOfOne = nil
    }

    /// Creates a procedure that runs the given operation, and reports a second run.
    fileprivate init(
        running operation: Performed, on queue: OperationQueue?,
        output: @escaping @Sendable (Performed) throws -> Output
    ) {
        make = { operation }
        self.output = output
        self.queue = queue
        runsOfOne = RunCount()
    }

    /// Runs the operation that the closure makes.
    ///
    /// - Parameter context: The context of the running operation.
    /// - Returns: The output of the operation.
    /// - Throws: Any error of the closure that reads the output, and `CancellationError` if the operation was
    ///   cancelled.
    public func execute(in context: OperationContext) async throws -> Output {
        let operation = make()
        if runsOfOne?.next() == 2 { context.operation.reportRunAgain(of: "its Foundation operation") }
        let claim = RunClaim(on: operation)
        // An operation that another party has started needs no permit. Nor does a bridge, whose operation takes one.
        let needsPermit = claim.isGranted && !(operation is BridgedOperation)
        let dependencies = operation.dependencies.filter { !$0.isFinished }
        let start = needsPermit && !dependencies.isEmpty ? PostponedStart(of: operation) : nil
        if claim.isGranted { (queue ?? FoundationQueue.shared).addWithDependencies(operation) }
        await FoundationStandIn.await(needsPermit ? dependencies : [operation], of: operation)
        start?.allow()
        if !operation.isFinished { await CompletionWatch.wait(for: operation, onCancel: { operation.cancel() }) }
        start?.forget()
        claim.end()
        if operation.isCancelled {
            context.operation.cancel(reason: .because("the Foundation operation that it ran was cancelled"))
            throw CancellationError()
        }
        return try output(operation)
    }
}

/// Counts the runs of a procedure whose runs share a Foundation operation.
private final class RunCount: Sendable {
    private let count = Locked(0)

    /// Returns the number of this run, from 1.
    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

extension FoundationProcedure where Output == Void {
    /// Creates a procedure with a closure that makes a new operation for each run, because a Foundation operation runs
    /// once.
    ///
    /// - Parameters:
    ///   - queue: The queue that runs the operation, or nil for an unlimited queue of Baton's.
    ///   - make: A closure that is called once for each run, on the task of the run.
    public init(on queue: OperationQueue? = nil, _ make: @escaping @Sendable () -> Performed) {
        self.init(on: queue, make, output: { _ in })
    }
}

extension AsyncOperation {
    /// Creates an operation that runs one Foundation operation, as ``FoundationProcedure`` does, and reads its output.
    ///
    /// It has the name of the Foundation operation or, if that has none, the name of its type. If this operation is
    /// cancelled or skipped before its run begins, the Foundation operation is cancelled and finished, so that its
    /// dependents do not wait forever, unless another party has started it.
    ///
    /// A Foundation operation runs once. A second run of this operation, by a retry or a repetition, is ``Misuse`` and
    /// ends with the old outcome of the Foundation operation; use a ``FoundationProcedure`` for that. If two operations
    /// are created with the same Foundation operation, the first one to run starts it, and both end with it.
    ///
    /// - Parameters:
    ///   - operation: The Foundation operation.
    ///   - queue: The queue that runs the operation, or nil for an unlimited queue of Baton's.
    ///   - output: A closure that is called on the task of the run when the operation has finished without being
    ///     cancelled. An error that it throws fails the run.
    public convenience init<Performed: Foundation.Operation>(
        foundation operation: Performed, on queue: OperationQueue? = nil,
        output: @escaping @Sendable (Performed) throws -> Output
    ) {
        self.init(FoundationProcedure(running: operation, on: queue, output: output))
        name = operation.name ?? "\(type(of: operation))"
        didFinish { result in
            if operation.isFinished { return }
            let wasCancelled = if case .failure(.cancelled) = result { true } else { false }
            FoundationQueue.end(operation, wasCancelled: wasCancelled)
        }
    }
}

extension AsyncOperation where Output == Void {
    /// Creates an operation that runs one Foundation operation, as ``FoundationProcedure`` does.
    ///
    /// It has the name of the Foundation operation or, if that has none, the name of its type.
    ///
    /// - Parameters:
    ///   - operation: The Foundation operation.
    ///   - queue: The queue that runs the operation, or nil for an unlimited queue of Baton's.
    public convenience init(foundation operation: Foundation.Operation, on queue: OperationQueue? = nil) {
        self.init(foundation: operation, on: queue, output: { _ in })
    }
}
