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
        let actions = operations.map { $0.markCancelled(reason: reason, if: isWanted) }
        for (operation, effect) in zip(operations, actions) { operation.settle(effect) }
    }

    private final func markCancelled(
        reason: CancellationReason, if isWanted: (Lifecycle) -> Bool
    ) -> CancelEffect {
        withLife { life -> CancelEffect in
            guard isWanted(life) else { return .none }
            switch life.cancel() {
            case .none: return .none
            case .beforeRun:
                life.optionalState?.cancellationReason = reason
                life.noteCancel(reason)
                return endBeforeRun(with: reason.error, &life).map { .ended($0) } ?? .none
            case .inRun(let worker):
                if case .requested = reason {} else { life.madeOptionalState().cancellationReason = reason }
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
            worker, children: life.optionalState?.children ?? [], life.optionalState?.childGroups ?? [],
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

/// Cancelling with an operation what only that needed.
extension AnyOperation {
    /// Cancels the operation, and on request what it depends on and nobody else needs.
    ///
    /// That is every dependency, direct or not, on which no other unfinished operation depends and which nobody awaits,
    /// whoever has added it. ``AsyncOperationQueue/run(_:)`` does so by itself with what it has added. Else this is as
    /// ``cancel(reason:)``.
    ///
    /// - Parameters:
    ///   - reason: What the errors of all of them say.
    ///   - includingDependencies: False: the same as ``cancel(reason:)``.
    ///
    /// - Complexity: O(n) for n operations and dependencies that come before it.
    public final func cancel(reason: CancellationReason = .requested, includingDependencies: Bool) {
        // A cancel drops the dependencies.
        let needs = includingDependencies ? needs : []
        cancel(reason: reason)
        for need in needs { need.cancelIfUnneeded(reason: reason) }
    }

    /// All that this depends on, directly or not, each before what it needs itself.
    final var needs: [AnyOperation] {
        var sourcesFirst: [AnyOperation] = []
        var seen: Set = [ObjectIdentifier(self)]
        var path = [(operation: self, sources: unfinishedSources[...])]
        while let last = path.indices.last {
            if let source = path[last].sources.popFirst() {
                if seen.insert(ObjectIdentifier(source)).inserted {
                    path.append((source, source.unfinishedSources[...]))
                }
            } else {
                sourcesFirst.append(path.removeLast().operation)
            }
        }
        return sourcesFirst.dropLast().reversed()
    }

    private final var unfinishedSources: [AnyOperation] {
        withLife { $0.phase == .created || $0.phase == .added ? edges.all.filter { !$0.isFence } : [] }
    }

    /// No unfinished operation depends on it, and nobody awaits it.
    final func cancelIfUnneeded(reason: CancellationReason) {
        // Most often one of the first still needs it, however many others do.
        if isNeeded(by: withLife { $0.dependents.retained(first: 16) }) { return }
        let dependents = withLife { $0.dependents.retained() }
        if isNeeded(by: dependents) { return }
        let known = Set(dependents.map { ObjectIdentifier($0) })
        cancel(reason: reason) { life in
            // No dependent has come in between.
            life.optionalState?.waiters.isEmpty != false && life.dependents.areAll(in: known)
                && life.ownerWithdraws(reason)
        }
    }
}
