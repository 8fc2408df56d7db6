internal import Foundation

/// Tells when a Foundation operation has finished, by a block operation that depends on it.
///
/// Not by KVO, which does not exist on Linux, nor by `completionBlock`, of which an operation has one, and that is its
/// owner's. A dependency is what every queue honours, on every platform, also for an operation that has finished
/// before.
final class EndWatch: Sendable {
    private let operation: Foundation.Operation
    private let end: BlockOperation

    /// - Parameter handler: Called once, on a thread of Foundation's, unless it is stopped before.
    init(of operation: Foundation.Operation, _ handler: @escaping @Sendable () -> Void) {
        self.operation = operation
        // A queue for each: one for all would look at all that wait in it whenever one is added.
        let queue = OperationQueue()
        queue.name = "Baton"
        end = BlockOperation { withExtendedLifetime(queue, handler) }
        end.addDependency(operation)
        queue.addForSure(end)
    }

    /// Nothing is held any more, even if the operation never finishes.
    ///
    /// In this order: cancelled, it leaves its queue, dependency or not. On Linux the dependency still has its address
    /// then, and would look there when it finishes.
    func stop() {
        end.cancel()
        end.removeDependency(operation)
    }

    /// Returns when `operation` has finished; a cancel of the calling task alone does not end this, but calls
    /// `onCancel`.
    static func end(of operation: Foundation.Operation, onCancel: @Sendable () -> Void) async {
        let signal = Signal()
        _ = EndWatch(of: operation) { signal.give() }
        await signal.wait(onCancel: onCancel)
    }
}

extension OperationQueue {
    /// Adds an operation whose dependencies may be about to finish.
    ///
    /// On Linux, one whose last dependency finishes while it is being added is found to be ready, and not started: not
    /// before the queue has a reason to look again. The reason is its own width; where that is the user's, who may
    /// change it at this moment, only an operation that has dependencies is worth it.
    func addForSure(_ operation: Foundation.Operation) {
        addOperation(operation)
        #if !canImport(ObjectiveC)
            if operation.dependencies.isEmpty { return }
            let width = maxConcurrentOperationCount
            maxConcurrentOperationCount = width
        #endif
    }
}
