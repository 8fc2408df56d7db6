extension AnyOperation {
    /// Cancels the operation. The first call counts; later ones, and one after the finish, change nothing.
    ///
    /// Before its body runs, it finishes at once with ``OperationError/cancelled(reason:)``, added or not, without
    /// waiting for its dependencies; adding it afterwards is no misuse and does nothing. While its body runs,
    /// `Task.isCancelled` becomes true in the body and its child tasks, and the outcome comes when the body has
    /// returned: an error is then ``OperationError/cancelled(reason:)``, a value is a success all the same. What the
    /// body runs with `context.run` is cancelled with it.
    ///
    /// While others have joined it, this only ends the interest of its owner: see
    /// ``unique(by:policy:within:file:line:)``.
    ///
    /// May be called from anywhere: a body (its own, too), a handler, an `onCancel` block.
    public final func cancel(reason: CancellationReason = .requested) {
        cancel(reason: reason) { $0.ownerWithdraws(reason) }
    }

    /// Cancels it if `isWanted` says so in the same step, whoever else is interested.
    final func cancel(reason: CancellationReason, if isWanted: (Lifecycle) -> Bool) {
        settle(markCancelled(reason: reason, if: isWanted))
    }

    /// Cancels all of them before anybody notices: a body that throws because what it runs was cancelled was cancelled
    /// itself, and so was what needs the output of another one.
    static func cancel(
        _ operations: [AnyOperation], reason: CancellationReason, if isWanted: (Lifecycle) -> Bool
    ) {
        let effects = operations.map { $0.markCancelled(reason: reason, if: isWanted) }
        for (operation, effect) in zip(operations, effects) { operation.settle(effect) }
    }

    private final func markCancelled(
        reason: CancellationReason, if isWanted: (Lifecycle) -> Bool
    ) -> CancelEffect {
        withLife { life -> CancelEffect in
            guard isWanted(life) else { return .none }
            switch life.cancel() {
            case .none: return .none
            case .beforeRun:
                life.details?.cancellationReason = reason
                life.noteCancel(reason)
                return endBeforeRun(with: reason.error, &life).map { .ended($0) } ?? .none
            case .inRun(let worker):
                if case .requested = reason {} else { life.madeDetails().cancellationReason = reason }
                life.noteCancel(reason)
                return effectInRun(of: life, on: worker)
            }
        }
    }

    /// Cancels the attempt that runs, if `cut` says on which worker it does, in the same step.
    final func cancelAttempt(_ cut: (inout Lifecycle) -> Worker?) {
        settle(withLife { life in cut(&life).map { effectInRun(of: life, on: $0) } ?? .none })
    }

    private enum CancelEffect {
        case none
        case ended(EarlyEnd)
        /// One that runs on no worker is a group that waits for its children.
        case running(Worker?, children: [AnyOperation], [ChildGroup], delivers: Bool)
    }

    private final func effectInRun(of life: Lifecycle, on worker: Worker?) -> CancelEffect {
        .running(
            worker, children: life.details?.children ?? [], life.details?.childGroups ?? [],
            delivers: reachPast(life).isDue)
    }

    private final func settle(_ effect: CancelEffect) {
        if isObserved { tellEvents() }
        switch effect {
        case .none: break
        case .ended(let end): end.settle()
        case .running(let worker, let children, let groups, let delivers):
            if delivers { deliver(from: QueueDirectory.find(queueNumber)) }
            worker?.cancelTask()
            if !children.isEmpty { Trampoline.run(.cancel(children, .parent(reference))) }
            for group in groups { group.cancel() }
        }
    }
}
