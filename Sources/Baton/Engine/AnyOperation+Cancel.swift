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
        withLife { life -> CancelAction in
            guard isWanted(life) else { return .none }
            switch life.cancel() {
            case .none: return .none
            case .again(let worker):
                return .running(worker, children: [], [], delivers: false)
            case .beforeRun:
                if !reason.isRequested { life.optionalState?.cancellationReason = reason }
                life.noteCancel(reason)
                return endBeforeRun(with: reason.error(waitingFor: wait), &life).map { .ended($0) } ?? .none
            case .inRun(let worker):
                if !reason.isRequested { life.ensureOptionalState().cancellationReason = reason }
                if let wait { life.optionalState?.timing?.rareTiming?.waitAtLimit = wait }
                life.noteCancel(reason)
                return actionInRun(of: life, on: worker)
            }
        }
    }

    /// Cancels the attempt that runs. In one locked step, `markAttempt` marks the attempt and returns the worker on
    /// which it runs.
    final func cancelAttempt(_ markAttempt: (inout Lifecycle) -> Worker?) {
        perform(withLife { life in markAttempt(&life).map { actionInRun(of: life, on: $0) } ?? .none })
    }

    private enum CancelAction {
        case none
        case ended(EarlyEnd)
        /// The worker is nil for a group that waits for its children.
        case running(Worker?, children: [AnyOperation], [ChildGroup], delivers: Bool)
    }

    private final func actionInRun(of life: Lifecycle, on worker: Worker?) -> CancelAction {
        .running(
            worker, children: life.optionalState?.awaitedChildren ?? [], life.optionalState?.childGroups ?? [],
            delivers: makePassedPhasesDue(life).isDue)
    }

    private final func perform(_ action: CancelAction) {
        if isObserved { publishEvents() }
        switch action {
        case .none: break
        case .ended(let end): end.complete()
        case .running(let worker, let children, let groups, let delivers):
            if delivers { deliver(from: QueueDirectory.find(queueNumber)) }
            worker?.cancelTask()
            if !children.isEmpty { Trampoline.run(.cancel(children, .parent(reference))) }
            for group in groups { group.cancel() }
        }
    }
}

/// Cancelling dependencies that only the cancelled operation needed.
extension AnyOperation {
    /// Cancels the operation and, on request, the dependencies that nobody else needs.
    ///
    /// These are all direct and indirect dependencies on which no other unfinished operation depends and which nobody
    /// awaits, regardless of who has added them. ``AsyncOperationQueue/run(_:)`` does this by itself for the operations
    /// that it has added. Otherwise the method does the same as ``cancel(reason:)``.
    ///
    /// - Parameters:
    ///   - reason: The reason that the errors of all of them carry.
    ///   - includingDependencies: Pass false to do the same as ``cancel(reason:)``.
    ///
    /// - Complexity: O(n), where n is the number of direct and indirect dependencies.
    public final func cancel(reason: CancellationReason = .requested, includingDependencies: Bool) {
        // The dependencies are collected first, because a cancellation drops them.
        let dependencies = includingDependencies ? transitiveDependencies : []
        cancel(reason: reason)
        for dependency in dependencies { dependency.cancelIfUnneeded(reason: reason) }
    }

    /// All operations that this one depends on, directly or not, in reverse topological order: an operation comes
    /// before its dependencies.
    final var transitiveDependencies: [AnyOperation] {
        var sourcesFirst: [AnyOperation] = []
        var seen: Set = [ObjectIdentifier(self)]
        var path = [(operation: self, sources: sourcesIfNotBegun[...])]
        while let last = path.indices.last {
            if let source = path[last].sources.popFirst() {
                if seen.insert(ObjectIdentifier(source)).inserted {
                    path.append((source, source.sourcesIfNotBegun[...]))
                }
            } else {
                sourcesFirst.append(path.removeLast().operation)
            }
        }
        return sourcesFirst.dropLast().reversed()
    }

    /// The dependencies of an operation that has not begun, without fences.
    final var sourcesIfNotBegun: [AnyOperation] {
        withLife { $0.phase == .created || $0.phase == .added ? edges.all.filter { !$0.isFence } : [] }
    }

    /// Cancels the operation if no unfinished operation depends on it and nobody awaits it.
    ///
    /// - Returns: The dependencies of an operation that was cancelled before it began. The cancellation has dropped
    ///   them.
    @discardableResult
    final func cancelIfUnneeded(reason: CancellationReason) -> [AnyOperation] {
        // Usually one of the first dependents still needs the operation, so a look at a few saves copying all of them.
        if isNeeded(by: withLife { $0.dependents.retained(first: 16) }) { return [] }
        let dependents = withLife { $0.dependents.retained() }
        if isNeeded(by: dependents) { return [] }
        let known = Set(dependents.map { ObjectIdentifier($0) })
        let sources = sourcesIfNotBegun
        var isCancelled = false
        cancel(reason: reason) { life in
            // Another thread may have added a dependent or a waiter since.
            isCancelled =
                life.optionalState?.waiters.isEmpty != false && life.dependents.areAll(in: known)
                && life.ownerWithdraws(reason)
            return isCancelled
        }
        return isCancelled ? sources : []
    }
}
