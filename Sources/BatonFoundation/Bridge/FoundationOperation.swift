public import Baton
public import Foundation

extension AnyOperation {
    /// This operation as one of Foundation's, for an `OperationQueue`; it runs on ``AsyncOperationQueue/shared``.
    ///
    /// See ``foundationOperation(on:)``.
    public var foundationOperation: Foundation.Operation { foundationOperation(on: .shared) }

    /// This operation as one of Foundation's, for an `OperationQueue`, and for operations there that depend on it.
    ///
    /// ```swift
    /// let legacy = image.foundationOperation(on: queue)
    /// show.addDependency(legacy)
    /// OperationQueue.main.addOperations([legacy, show], waitUntilFinished: false)
    /// ```
    ///
    /// It is the same one as long as somebody keeps it, on the queue of the first call. It has the name and the
    /// priority that this has at that moment. The result is this operation's.
    ///
    /// **Start.** It is ready when its dependencies in Foundation have finished, and the Foundation operations for
    /// which this operation waits through dependencies of its own (``AnyOperation/addDependency(_:on:file:line:)``),
    /// however long the way to them: so a queue of any width runs both, in whatever order they are added. When its
    /// queue starts it, this operation is added to `queue`, with everything that it needs and nobody has added yet,
    /// unless it was added before. What else this one waits for does not count for `isReady`, because who else would
    /// add it: meanwhile it executes, blocks no thread, and counts for `maxConcurrentOperationCount`. That queue must
    /// therefore be wider than the number of its bridged operations whose own dependencies or bodies run Foundation
    /// operations there (``FoundationProcedure``).
    ///
    /// **End.** It finishes when it was started and this operation has finished: Foundation wants each operation of a
    /// queue to be started, so it does not finish before, in a suspended queue, or if nobody adds it to one.
    ///
    /// **Cancel.** Cancelling either cancels the other. A cancelled one does not wait for its dependencies in
    /// Foundation.
    ///
    /// It keeps this operation alive, and is not kept alive by it. Add it to one queue, once; this is Foundation's
    /// rule.
    public func foundationOperation(on queue: AsyncOperationQueue) -> Foundation.Operation {
        let table = BridgedOperation.table
        let (bridge, isNew) = table.find(for: self) { BridgedOperation(of: self, on: queue, in: table) }
        if isNew { bridge.follow() }
        return bridge
    }
}

extension BridgedOperation {
    static let table = Counterparts<BridgedOperation>()
}
