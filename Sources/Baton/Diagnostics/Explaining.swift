extension AnyOperation {
    /// Why has this not finished? Follows what it waits for, through dependencies and through bodies that await other
    /// operations, to what is at the root: something nobody added, a suspended or full queue, a body that runs.
    ///
    /// Takes as long as there are operations to follow, and stops nothing meanwhile; so it is a snapshot.
    public final func explain() -> Explanation {
        let direct = pendingSources
        var roots: [Explanation.Root] = []
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
        var frontier = [self]
        while let operation = frontier.popLast() {
            let sources = operation === self ? direct : operation.pendingSources
            if sources.isEmpty { roots.append(.init(operation: operation.reference, cause: operation.ownCause)) }
            for source in sources.reversed() where seen.insert(ObjectIdentifier(source)).inserted {
                frontier.append(source)
            }
        }
        return Explanation(
            operation: reference, state: state, waitsFor: direct.map(\.reference), roots: roots,
            error: hasFinished ? failure : nil)
    }

    /// The unfinished operations that this one waits for. One that nobody added waits for being added.
    private final var pendingSources: [AnyOperation] {
        var seen: Set<ObjectIdentifier> = []
        return waitsFor.filter { !$0.hasFinished && seen.insert(ObjectIdentifier($0)).inserted }
    }

    private final var ownCause: Explanation.Cause {
        if let (name, holder) = Claims.obstacle(for: self) {
            return .excluded(by: holder.reference, exclusion: "\(name)")
        }
        let (phase, core, waitsForSlot, conditions) = life.withLock { life in
            (
                life.phase, life.isUnderWay ? self.core : nil,
                // One that iterates and waits for no operation waits for the elements.
                life.details.map { $0.openWaits > 0 && $0.listeners.isEmpty } ?? false,
                life.details?.rules.conditions ?? .none
            )
        }
        switch phase {
        case .created: return .notAdded
        case .finished: return .finished(outcomeKind)
        case .added: return core?.causeOfWaiting(of: self) ?? .starting
        case .evaluating: return .evaluating(conditions: conditions.all.map(\.name))
        case .executing: return waitsForSlot ? .waitingForSlot(width: core?.width ?? 0) : .executing
        case .finishing: return waitsForSlot ? .waitingForSlot(width: core?.width ?? 0) : .finishing
        }
    }
}

extension QueueCore {
    var width: Int { state.withLock { $0.scheduler.width } }

    fileprivate func causeOfWaiting(of operation: AnyOperation) -> Explanation.Cause {
        state.withLock { state in
            if state.scheduler.isSuspended, !operation.goesFirst { return .queueSuspended }
            let scheduler = state.scheduler
            return scheduler.running >= scheduler.width ? .queueFull(width: scheduler.width) : .starting
        }
    }
}
