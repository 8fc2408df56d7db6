public import Baton
public import Foundation

extension AnyOperation {
    /// The progress of this operation as a Foundation `Progress`, for a view or as a child of another `Progress`.
    ///
    /// ```swift
    /// total.addChild(image.foundationProgress, withPendingUnitCount: 10)
    /// ```
    ///
    /// It follows ``AnyOperation/progress`` with a small delay, on a task of its own, and may skip intermediate values.
    /// It has the units of the operation; if running children have completed a part of a unit, its counts are 1000
    /// times as fine. It is finished only when the operation has succeeded; after a failure or a cancellation it keeps
    /// its last value. While the operation does not know its total, it is indeterminate.
    ///
    /// Cancelling it or one of its parents cancels the operation, and cancelling the operation cancels it. It cannot be
    /// paused.
    ///
    /// As long as it exists, all calls return the same one. It does not retain the operation, and the operation does
    /// not retain it. On Linux, Foundation's `Progress` is not thread-safe: a reader may see a total and a count that
    /// do not belong together.
    public var foundationProgress: Foundation.Progress {
        let table = ProgressMirror.table
        let (mirror, isNew) = table.find(for: self) { ProgressMirror(of: self, in: table) }
        if isNew { mirror.follow(self) }
        return mirror
    }
}

/// A Foundation `Progress` that shows the progress of an operation.
private final class ProgressMirror: Foundation.Progress, @unchecked Sendable {
    // @unchecked: the properties that it adds to its superclass are constant or locked.

    static let table = WeakObjectTable<ProgressMirror>()

    private let id: UInt64
    private let table: WeakObjectTable<ProgressMirror>
    private let task = Locked<Task<Void, Never>?>(nil)

    init(of operation: AnyOperation, in table: WeakObjectTable<ProgressMirror>) {
        id = operation.reference.id
        self.table = table
        // Without an explicit parent, the progress that is current on this thread would become its parent.
        super.init(parent: nil, userInfo: nil)
        totalUnitCount = -1
        isCancellable = true
        isPausable = false
    }

    deinit {
        table.forget(ObjectIdentifier(self), of: id)
        task.withLock { $0.take() }?.cancel()
    }

    /// Begins to follow the operation. Must be called once, after the table has stored this object.
    func follow(_ operation: AnyOperation) {
        show(operation.progress)
        cancellationHandler = { [weak operation] in
            operation?.cancel(reason: .because("its progress in Foundation was cancelled"))
        }
        table.follow(operation) { mirror in if !mirror.isCancelled { mirror.cancel() } }
        let updates = operation.progressUpdates
        let task = TaskFactory.services.spawn { [weak self] in
            for await progress in updates {
                guard let self else { return }
                await ProgressActor.shared.show(progress, in: self)
            }
        }
        self.task.withLock { $0 = task }
    }

    func show(_ progress: OperationProgress) {
        let counts = UnitCounts(of: progress)
        // The order of the assignments keeps the mirror from appearing finished in between, because a parent would
        // count it as finished from then on.
        if counts.total <= 0 || counts.total >= totalUnitCount && completedUnitCount < counts.total {
            totalUnitCount = counts.total
            completedUnitCount = counts.completed
        } else {
            completedUnitCount = counts.completed
            totalUnitCount = counts.total
        }
    }
}

/// Applies the changes of all mirrors one at a time, because on Linux two children of a parent must not notify it at
/// once.
private actor ProgressActor {
    static let shared = ProgressActor()

    func show(_ progress: OperationProgress, in mirror: ProgressMirror) { mirror.show(progress) }
}

extension UnitCounts {
    fileprivate init(of progress: OperationProgress) {
        let completed = Int64(progress.completedUnitCount)
        let hasSucceeded = progress.isFinished && progress.fractionCompleted == 1
        if hasSucceeded, progress.totalUnitCount ?? 0 == 0 {
            self = .done(completed)
        } else {
            self.init(
                completed: completed, total: Int64(progress.totalUnitCount ?? -1),
                fraction: progress.fractionCompleted, isComplete: hasSucceeded)
        }
    }
}
