public import Baton
public import Foundation

extension AnyOperation {
    /// Makes this start only after a Foundation operation has finished, and run only if that ended as `policy` says.
    ///
    /// ```swift
    /// image.addDependency(legacyImport)
    /// image.addDependency(legacyImport, on: .success)     // skipped if it was cancelled
    /// ```
    ///
    /// One that was cancelled has the outcome ``OperationOutcome/cancelled``; every other one has succeeded, because a
    /// Foundation operation has no error. It may have finished before, and may be a dependency of any number of
    /// operations. One that nobody adds to a queue does not finish, cancelled or not; ``AnyOperation/explain()`` names
    /// it.
    ///
    /// What stands for it among the ``AnyOperation/dependencies`` is an operation with its name. Its `completionBlock`
    /// is left alone. It is held until it has finished, or this operation has, or has been released. A circle through
    /// Foundation's dependencies is not found. After the add this is ``Misuse`` and changes nothing.
    @discardableResult
    public func addDependency(
        _ operation: Foundation.Operation, on policy: DependencyPolicy = .always, file: StaticString = #fileID,
        line: UInt = #line
    ) -> Self {
        let standIn = FoundationStandIn(for: operation)
        addDependency(standIn.operation, on: policy, file: file, line: line)
        standIn.begin()
        // Its bridge may be in a queue already, and must not start before the operation has finished.
        BridgedOperation.table.existing(for: reference.id)?.lookAgain()
        // Held by the list of handlers, which is dropped with the operation, and when that has finished.
        didCancel { _ in standIn.touch() }
        return self
    }
}

/// Owns the operation of ours that finishes when a Foundation operation has, and ends it when nobody waits for it any
/// more.
final class FoundationStandIn: Sendable {
    let operation: AsyncOperation<Void>
    let foundation: Foundation.Operation

    private static let table = Counterparts<FoundationStandIn>()

    init(for foundation: Foundation.Operation) {
        self.foundation = foundation
        operation = AsyncOperation(foundation.name ?? "\(type(of: foundation))") {}
        operation.addCondition(HasFinished(operation: foundation))
    }

    /// To be called when whoever waits for it depends on it.
    func begin() {
        _ = Self.table.find(for: operation) { self }
        AsyncOperationQueue.foundation.add(operation)
    }

    static var areThere: Bool { table.count > 0 }

    /// The Foundation operation that this stands for, unless that has finished.
    static func unfinished(of operation: AnyOperation) -> Foundation.Operation? {
        let foundation = table.existing(for: operation.reference.id)?.foundation
        return foundation?.isFinished ?? true ? nil : foundation
    }

    func touch() {}

    deinit {
        Self.table.forget(self, of: operation)
        operation.cancel(reason: .because("nobody waits for it any more"))
    }
}

extension AsyncOperationQueue {
    /// Holds what goes between Foundation and operations of ours, so that it is neither counted nor suspended with
    /// those.
    static let foundation = serving(name: "Foundation")
}

/// A condition, and not the body: it holds no permit, and an explanation tells it by this name.
private struct HasFinished: OperationCondition {
    let operation: Foundation.Operation

    var name: String { "the Foundation operation, which has to be in an OperationQueue or started, has finished" }

    func evaluate(for standIn: AnyOperation) async throws -> ConditionResult {
        // Foundation does not notice the end of one that has not told it, so it is asked.
        if !operation.isFinished {
            let signal = Signal()
            let watch = EndWatch(of: operation) { signal.give() }
            await signal.wait(onCancel: { signal.give() })
            watch.stop()
        }
        if operation.isCancelled { standIn.cancel(reason: .because("the Foundation operation was cancelled")) }
        return .satisfied
    }
}
