public import Baton
public import Foundation

extension AnyOperation {
    /// This operation as a Foundation operation for an `OperationQueue`. It runs on ``AsyncOperationQueue/shared``.
    ///
    /// See ``foundationOperation(on:)``.
    public var foundationOperation: Foundation.Operation { foundationOperation(on: .shared) }

    /// Returns a Foundation operation that stands for this operation, for an `OperationQueue` and for its dependents
    /// there.
    ///
    /// ```swift
    /// let legacy = image.foundationOperation(on: queue)
    /// show.addDependency(legacy)
    /// OperationQueue.main.addOperations([legacy, show], waitUntilFinished: false)
    /// ```
    ///
    /// As long as the Foundation operation exists, all calls return the same one, with the queue of the first call. It
    /// takes over the name and the priority that this operation has at the first call. Read the result from this
    /// operation.
    ///
    /// **Start.** The Foundation operation is ready when two groups of operations have finished: its own dependencies
    /// in Foundation, and the Foundation operations that this operation waits for through
    /// ``AnyOperation/addDependency(_:on:file:line:)``, directly or through other dependencies. A queue of any width
    /// can therefore run both, whatever the order in which they are added. When its `OperationQueue` starts it, this
    /// operation is added to `queue`, together with all dependencies that have not been added yet, unless it was added
    /// before.
    ///
    /// Other operations that this one waits for do not affect `isReady`, because nobody else may add them. While this
    /// operation waits for them, the Foundation operation is executing: it blocks no thread, but counts towards
    /// `maxConcurrentOperationCount`. If the dependencies or the bodies of bridged operations run Foundation operations
    /// on the same `OperationQueue` (``FoundationProcedure``), that queue must be wider than the number of these
    /// bridged operations.
    ///
    /// **End.** The Foundation operation finishes when it has been started and this operation has finished. Foundation
    /// requires each operation of a queue to be started, so it does not finish while its queue is suspended, or if it
    /// is not added to a queue.
    ///
    /// **Cancellation.** Cancelling one of the two operations cancels the other. A cancelled Foundation operation does
    /// not wait for its dependencies.
    ///
    /// The Foundation operation retains this operation; this operation does not retain it. Add it to one queue only,
    /// and only once, as Foundation requires.
    ///
    /// - Parameter queue: The queue to which this operation is added when the Foundation operation starts.
    /// - Returns: The Foundation operation.
    /// - Complexity: O(1). Each time Foundation asks whether it is ready, it may walk over everything that this
    ///   operation waits for. Foundation asks every waiting operation of an `OperationQueue` whenever one of them
    ///   changes, so a chain that alternates between bridged operations and dependencies on them takes O(*n*²) time: a
    ///   debug build took 0.5 s for 500 links, 2 s for 1,000, and 5 s or more for 2,000. Link long chains in one of the
    ///   two systems only.
    public func foundationOperation(on queue: AsyncOperationQueue) -> Foundation.Operation {
        let table = BridgedOperation.table
        let (bridge, isNew) = table.find(for: self) { BridgedOperation(of: self, on: queue, in: table) }
        if isNew { bridge.follow() }
        return bridge
    }
}

extension BridgedOperation {
    static let table = WeakObjectTable<BridgedOperation>()
}
