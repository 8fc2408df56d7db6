internal import Foundation

/// Reports when a Foundation operation has finished, through a block operation that depends on it.
///
/// KVO does not exist on Linux, and an operation has only one `completionBlock`, which belongs to its owner. Every
/// queue honours dependencies, on every platform, even if the operation has already finished.
final class CompletionWatch: Sendable {
    private let operation: Foundation.Operation
    private let marker: BlockOperation

    /// - Parameter handler: A closure that is called once, on one of Foundation's threads, unless the watch is
    ///   stopped first.
    init(of operation: Foundation.Operation, _ handler: @escaping @Sendable () -> Void) {
        self.operation = operation
        // Each watch has its own queue, because a shared queue would check all its waiting operations for each one
        // added.
        let queue = OperationQueue()
        queue.name = "Baton"
        // The marker retains the queue until it has run or is cancelled.
        marker = BlockOperation { withExtendedLifetime(queue, handler) }
        marker.addDependency(operation)
        queue.addWithDependencies(marker)
    }

    /// Releases everything that the watch retains, even if the operation never finishes.
    ///
    /// The order of the calls matters. A cancelled block operation leaves its queue without waiting for its
    /// dependencies. On Linux the dependency keeps an unretained pointer to the marker, and would use it when it
    /// finishes, so the dependency is removed next.
    func stop() {
        marker.cancel()
        marker.removeDependency(operation)
    }

    /// Returns when `operation` has finished. A cancellation of the calling task does not end the wait, but calls
    /// `onCancel`.
    static func wait(for operation: Foundation.Operation, onCancel: @Sendable () -> Void) async {
        let signal = Signal()
        _ = CompletionWatch(of: operation) { signal.signal() }
        await signal.wait(onCancel: onCancel)
    }
}

extension OperationQueue {
    /// Adds an operation whose dependencies may be about to finish.
    ///
    /// On Linux, if the last dependency finishes while the operation is being added, the queue finds the operation
    /// ready, but does not start it until it has another reason to check. Setting the queue's width to its present
    /// value is such a reason. Another thread may change the width between the read and the write, so the write is
    /// skipped where it is not needed.
    func addWithDependencies(_ operation: Foundation.Operation) {
        addOperation(operation)
        #if !canImport(ObjectiveC)
            if operation.dependencies.isEmpty { return }
            let width = maxConcurrentOperationCount
            maxConcurrentOperationCount = width
        #endif
    }
}
