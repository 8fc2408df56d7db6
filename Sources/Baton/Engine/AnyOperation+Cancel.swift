extension AnyOperation {
    /// Cancels the operation. The first call counts: later calls, and a call after the finish, change nothing. When any
    /// of these calls has returned, the body sees the cancellation.
    ///
    /// An operation whose body has not begun finishes at once with ``OperationError/cancelled(reason:)``, whether or
    /// not it has been added, and without waiting for its dependencies. Adding it afterwards is not misuse and does
    /// nothing. While the body runs, `Task.isCancelled` becomes true in the body and in its child tasks, and the
    /// outcome is decided when the body has returned: an error becomes ``OperationError/cancelled(reason:)``, and a
    /// value is still a success. Operations that the body runs with `context.run` are cancelled with it.
    ///
    /// While other operations have joined this one, a call only withdraws the owner's interest: see
    /// ``unique(by:policy:within:file:line:)``.
    ///
    /// The method may be called from anywhere: from a body (also the operation's own), a handler or an `onCancel`
    /// block.
    ///
    /// - Parameter reason: The reason that the error carries.
    public final func cancel(reason: CancellationReason = .requested) {
        cancel(reason: reason) { $0.ownerWithdraws(reason) }
    }

    /// Cancels the operation if `isWanted` agrees in the same locked step, even if other operations have joined it.
    ///
    /// - Parameter wait: For the error of a time limit, what the operation waits for.
    final func cancel(
        reason: CancellationReason, waitingFor wait: String? = nil, if isWanted: (Lifecycle) -> Bool
    ) {
        perform(markCancelled(reason: reason, waitingFor: wait, if: isWanted))
    }

    /// Cancels those of the children that nobody has added and that are in no other planned group, because nothing else
    /// will run them.
    static func cancel(_ children: [AnyOperation], ofUnstarted group: OperationReference) {
        let reason = CancellationReason.parent(group)
        let actions = children.map { child in
            child.markCancelled(reason: reason) { life in
                let isInNoOther = child.leavePlannedGroup(life)
                guard life.phase == .created, isInNoOther, life.ownerWithdraws(reason) else { return false }
                child.kinship = .childOfUnstartedGroup
                return true
            }
        }
        for (child, action) in zip(children, actions) { child.perform(action) }
    }

    /// Marks all of these operations as cancelled before it acts on any of them. When one of them fails because another
    /// was cancelled, it is therefore already marked, and finishes as cancelled and not as failed.
    static func cancel(
        _ operations: [AnyOperation], reason: CancellationReason, if isWanted: (Lifecycle) -> Bool
    ) {
        let actions = operations.map { $0.markCancelled(reason: reason, if: isWanted) }
        for (operation, action) in zip(operations, actions) { operation.perform(action) }
    }

    private final func markCancelled(
        reason: CancellationReason, waitingFor wait: String? = nil, if isWanted: (Lifecycle) -> Bool
    ) -> CancelAction {
        withLifecycle { life -> CancelAction in
            guard isWanted(life) else { return .none }
            switch life.cancel() {
            case .none: return .none
            case .again(let worker):
                return .running(worker, children: [], [], handlersAreDue: false)
            case .beforeRun:
                if !reason.isRequested { life.optionalState?.cancellationReason = reason }
                life.noteCancel(reason)
                return endBeforeRun(with: reason.error(waitingFor: wait), &life).map { .ended($0) } ?? .none
            case .inRun(let worker):
                if !reason.isRequested { life.ensureOptionalState().cancellationReason = reason }
                if let wait { life.optionalState?.timing?.rareTimedState?.waitAtLimit = wait }
                life.noteCancel(reason)
                return actionInRun(of: life, on: worker)
            }
        }
    }

    /// Cancels the attempt that runs. In one locked step, `markAttempt` marks the attempt and returns the worker on
    /// which it runs.
    final func cancelAttempt(_ markAttempt: (inout Lifecycle) -> Worker?) {
        perform(withLifecycle { life in markAttempt(&life).map { actionInRun(of: life, on: $0) } ?? .none })
    }

    private enum CancelAction {
        case none
        case ended(EarlyEnd)
        /// The worker is nil for a group that waits for its children.
        case running(
            Worker?, children: [AnyOperation], [ChildGroup], cancelsPlannedChildren: Bool = true, handlersAreDue: Bool)
    }

    private final func actionInRun(of life: Lifecycle, on worker: Worker?) -> CancelAction {
        .running(
            worker, children: life.optionalState?.awaitedChildren ?? [], life.optionalState?.childGroups ?? [],
            cancelsPlannedChildren: cancelsPlannedChildren(life), handlersAreDue: makePassedPhasesDue(life).isDue)
    }

    private final func perform(_ action: CancelAction) {
        if isObserved { publishEvents() }
        switch action {
        case .none: break
        case .ended(let end): end.complete()
        case .running(let worker, let children, let groups, let cancelsPlannedChildren, let handlersAreDue):
            if handlersAreDue { callDueHandlers(from: QueueDirectory.find(queueNumber)) }
            worker?.task.cancel()
            if !children.isEmpty { Trampoline.run(.cancel(children, .parent(reference))) }
            for group in groups { group.cancel(includingPlanned: cancelsPlannedChildren) }
        }
    }
}

/// Cancelling dependencies that only the cancelled operation needed.
extension AnyOperation {
    /// Cancels the operation and, on request, the dependencies that nobody else needs.
    ///
    /// These are all direct and indirect dependencies, regardless of who has added them, except those that somebody
    /// awaits, on which another unfinished operation depends, or that are children of a group which has not started. An
    /// operation that a cancelled one has joined is not a dependency of it. Operations that nobody has added need
    /// nothing yet: one that is added later fails if its dependency was cancelled. ``AsyncOperationQueue/run(_:)`` does
    /// the same by itself for the operations that it has added.
    ///
    /// - Parameters:
    ///   - reason: The reason that the errors of all of them carry.
    ///   - includingDependencies: Pass false to do the same as ``cancel(reason:)``.
    ///
    /// - Complexity: O(n), where n is the number of operations that the call cancels and of their dependencies. If the
    ///   first dependents of a dependency have joined it, or are cancelled and wait for `willFinish` handlers, all of
    ///   its dependents count.
    public final func cancel(reason: CancellationReason = .requested, includingDependencies: Bool) {
        guard includingDependencies else { return cancel(reason: reason) }
        // The sources are read first, because a cancellation drops them.
        var needs = needsIfNotBegun
        var isCancelled = false
        cancel(reason: reason) { life in
            isCancelled = life.ownerWithdraws(reason)
            return isCancelled
        }
        if !isCancelled { return }
        // The search does not go beyond an operation that stays, because that one needs its dependencies. A dependency
        // that is found while another dependent still needs it is found again when that dependent is cancelled.
        while let need = needs.popLast() { needs += need.cancelIfUnneeded(reason: reason) }
    }

    /// The operations that an operation which has not begun waits for, without fences.
    final var sourcesIfNotBegun: [AnyOperation] {
        withLifecycle { $0.phase == .created || $0.phase == .added ? edges.all.filter { !$0.isFence } : [] }
    }

    /// The dependencies of an operation that has not begun. The operation that it has joined is not among them, because
    /// that one belongs to its owner.
    final var needsIfNotBegun: [AnyOperation] {
        let original = withLifecycle { $0.optionalState?.uniqueness?.joined?.original }
        return sourcesIfNotBegun.filter { $0 !== original }
    }

    /// Cancels the operation if no unfinished operation depends on it, nobody awaits it, and no group is to start it.
    ///
    /// - Returns: The dependencies of the operation if this call has cancelled it before it began. The cancellation has
    ///   dropped them.
    @discardableResult
    final func cancelIfUnneeded(reason: CancellationReason) -> [AnyOperation] {
        // Usually one of the first dependents still needs the operation, so examining a few of them saves copying all.
        if isNeeded(by: withLifecycle { $0.dependents.retained(first: 16) }) { return [] }
        let dependents = withLifecycle { $0.dependents.retained() }
        if isNeeded(by: dependents) { return [] }
        let known = Set(dependents.map { ObjectIdentifier($0) })
        let needs = needsIfNotBegun
        var isCancelled = false
        cancel(reason: reason) { life in
            // Another thread may have added a dependent or a waiter since.
            isCancelled =
                !life.isCancelled && life.optionalState?.waiters.isEmpty != false && !isInPlannedGroup(life)
                && life.dependents.areAll(in: known) && life.ownerWithdraws(reason, isOfDependent: true)
            return isCancelled
        }
        return isCancelled ? needs : []
    }
}
