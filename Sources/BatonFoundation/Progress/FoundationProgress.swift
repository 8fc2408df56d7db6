public import Baton
public import Foundation

extension AnyOperation {
    /// How far this has come, as a `Progress` of Foundation: for a view, or as the child of another one.
    ///
    /// ```swift
    /// total.addChild(image.foundationProgress, withPendingUnitCount: 10)
    /// ```
    ///
    /// It follows ``AnyOperation/progress`` as that changes, the newest only, a moment later, on a task of its own. Its
    /// units are those of the operation; when children that still run count for a part of a unit, 1000 times as many.
    /// It is finished when the operation has succeeded, not before; a failure or a cancel leaves it where it was. While
    /// the operation does not know its total, it is indeterminate.
    ///
    /// Cancelling it, or a parent of it, cancels the operation, and cancelling the operation cancels it. It cannot be
    /// paused.
    ///
    /// It is the same one as long as somebody keeps it. It does not keep the operation alive, nor the other way round.
    /// On Linux Foundation does not protect a `Progress` against several threads: a reader may see a total and a count
    /// that do not belong together.
    public var foundationProgress: Foundation.Progress {
        let table = ProgressMirror.table
        let (mirror, isNew) = table.find(for: self) { ProgressMirror(of: self, in: table) }
        if isNew { mirror.follow(self) }
        return mirror
    }
}

/// A `Progress` of Foundation that shows that of an operation.
private final class ProgressMirror: Foundation.Progress, @unchecked Sendable {
    // @unchecked: what it adds to Foundation's is constant or locked.

    static let table = Counterparts<ProgressMirror>()

    private let id: UInt64
    private let table: Counterparts<ProgressMirror>
    private let task = Locked<Task<Void, Never>?>(nil)

    init(of operation: AnyOperation, in table: Counterparts<ProgressMirror>) {
        id = operation.reference.id
        self.table = table
        // Not of the progress that happens to be current on this thread.
        super.init(parent: nil, userInfo: nil)
        totalUnitCount = -1
        isCancellable = true
        isPausable = false
    }

    deinit {
        table.forget(ObjectIdentifier(self), of: id)
        task.withLock { $0.take() }?.cancel()
    }

    /// To be called once, when it is the one that others find, too.
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
        // In an order in which it never seems to be finished in between: a parent would count it as that for good.
        if counts.total <= 0 || counts.total >= totalUnitCount && completedUnitCount < counts.total {
            totalUnitCount = counts.total
            completedUnitCount = counts.completed
        } else {
            completedUnitCount = counts.completed
            totalUnitCount = counts.total
        }
    }
}

/// Makes the changes of all mirrors, one at a time: on Linux, two children of one parent may not tell it at once.
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
                fraction: progress.fractionCompleted, isOver: hasSucceeded)
        }
    }
}
