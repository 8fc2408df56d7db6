public import Baton
public import Foundation

extension AnyOperation {
    /// Makes this operation wait for a Foundation operation, and run only if `policy` accepts its outcome.
    ///
    /// ```swift
    /// image.addDependency(legacyImport)
    /// image.addDependency(legacyImport, on: .success)     // skipped if it was cancelled
    /// ```
    ///
    /// A cancelled Foundation operation has the outcome ``OperationOutcome/cancelled``. Any other one has succeeded,
    /// because a Foundation operation has no error. It may already have finished, and any number of operations may
    /// depend on it. A Foundation operation that is not added to a queue does not finish, even if it is cancelled;
    /// ``AnyOperation/explain()`` names it.
    ///
    /// In ``AnyOperation/dependencies``, an operation of the same name represents the Foundation operation, whose
    /// `completionBlock` is not used. The Foundation operation is retained until it has finished, or until this
    /// operation has finished or is released. A cycle through dependencies in Foundation is not detected. Calling this
    /// method after the add is ``Misuse`` and changes nothing.
    ///
    /// - Parameters:
    ///   - operation: The Foundation operation.
    ///   - policy: The outcomes after which this operation runs.
    /// - Returns: This operation.
    @discardableResult
    public func addDependency(
        _ operation: Foundation.Operation, on policy: DependencyPolicy = .always, file: StaticString = #fileID,
        line: UInt = #line
    ) -> Self {
        let standIn = FoundationStandIn(for: operation)
        addDependency(standIn.operation, on: policy, file: file, line: line)
        standIn.addToQueue()
        // The bridge of this operation may be in a queue already, and must not start before the Foundation operation
        // has finished.
        BridgedOperation.table.existing(for: reference.id)?.notifyReadiness()
        // The list of handlers retains the stand-in. It is released with this operation, and when this operation has
        // finished.
        didCancel { _ in withExtendedLifetime(standIn) {} }
        return self
    }
}

/// Owns an operation that finishes when a Foundation operation has finished, and cancels it when no operation depends
/// on it any more.
final class FoundationStandIn: Sendable {
    let operation: AsyncOperation<Void>
    let foundation: Foundation.Operation

    private static let table = WeakObjectTable<FoundationStandIn>()

    init(for foundation: Foundation.Operation) {
        self.foundation = foundation
        operation = AsyncOperation(foundation.name ?? "\(type(of: foundation))") {}
        operation.addCondition(HasFinished(operation: foundation))
    }

    /// Adds the operation to its queue. Must be called after the dependent has been linked to it.
    func addToQueue() {
        _ = Self.table.find(for: operation) { self }
        AsyncOperationQueue.foundation.add(operation)
    }

    static var anyExists: Bool { table.count > 0 }

    /// Returns the Foundation operation that an operation represents, unless it has finished.
    static func unfinished(of operation: AnyOperation) -> Foundation.Operation? {
        let foundation = table.existing(for: operation.reference.id)?.foundation
        return foundation?.isFinished ?? true ? nil : foundation
    }

    deinit {
        Self.table.forget(self, of: operation)
        operation.cancel(reason: .because("nobody waits for it any more"))
    }
}

// MARK: - Bodies that wait for Foundation operations

extension FoundationStandIn {
    /// Returns when all of `awaited` have finished, or when `operation` has. If the calling task runs a body, the body
    /// releases its permit meanwhile. Cancelling the task cancels `operation`.
    static func await(_ awaited: [Foundation.Operation], of operation: Foundation.Operation) async {
        for awaited in awaited where !awaited.isFinished && !operation.isFinished {
            let standIn = FoundationStandIn(for: awaited)
            standIn.addToQueue()
            // The operation may be cancelled, and then finishes whatever it depends on.
            let watch = CompletionWatch(of: operation) { standIn.operation.cancel() }
            await withTaskCancellationHandler {
                _ = try? await standIn.operation.value
            } onCancel: {
                operation.cancel()
            }
            watch.stop()
        }
    }
}

extension AsyncOperationQueue {
    /// The queue of the operations that connect Foundation and Baton. It is separate from the user's queues, so that
    /// these operations are neither counted nor suspended with the user's.
    static let foundation = serving(name: "Foundation")
}

/// A condition, because an operation holds no permit while it waits for one, and explanations show its name.
private struct HasFinished: OperationCondition {
    let operation: Foundation.Operation

    var name: String {
        let finished = "the Foundation operation has finished"
        if operation.isExecuting || operation.isFinished { return finished }
        return operation.isReady
            ? "\(finished) (it has not begun: add it to an OperationQueue that is not suspended, or start it)"
            : "\(finished) (it is not ready: it waits for its own dependencies)"
    }

    func evaluate(for standIn: AnyOperation) async throws -> ConditionResult {
        // Foundation does not notice that an operation has finished if the operation sends no notification, so it is
        // asked.
        if !operation.isFinished {
            let signal = Signal()
            let watch = CompletionWatch(of: operation) { signal.signal() }
            await signal.wait(onCancel: { signal.signal() })
            watch.stop()
        }
        if operation.isCancelled { standIn.cancel(reason: .because("the Foundation operation was cancelled")) }
        return .satisfied
    }
}
