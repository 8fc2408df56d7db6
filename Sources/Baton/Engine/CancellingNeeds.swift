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
        let dependents = withLife { $0.dependents.retained() }
        if isNeeded(by: dependents) { return }
        let known = Set(dependents.map { ObjectIdentifier($0) })
        cancel(reason: reason) { life in
            // No dependent has come in between.
            life.details?.waiters.isEmpty != false && life.dependents.areAll(in: known) && life.ownerWithdraws(reason)
        }
    }
}
