/// Changes of priorities after the add, and how they spread to what is waited for.
extension AnyOperation {
    /// What ``priority`` does when it is set.
    final func setLevel(_ level: OperationPriority) {
        let former = self.level
        guard changeLevel(when: { $0 != level }, to: level), level > former else { return }
        Self.raise(waitsFor, to: level)
    }

    /// Raises what has a lower level, and what that waits for.
    ///
    /// Each that is raised is followed once for each level that it rises to, four times unless somebody lowers it.
    @inline(never)
    static func raise(_ operations: [AnyOperation], to level: OperationPriority) {
        // In the order in which they are waited for, which is the order in which they start then.
        var (pending, next) = (operations, 0)
        while next < pending.count {
            if pending[next].changeLevel(when: { $0 < level }, to: level) { pending += pending[next].waitsFor }
            next += 1
        }
    }

    /// This waits for what it is linked to.
    @inline(never)
    final func raiseSources() { Self.raise(waitsFor, to: level) }

    /// False: it has that level, or one that `condition` does not want changed, or it has finished.
    private final func changeLevel(when condition: (OperationPriority) -> Bool, to level: OperationPriority) -> Bool {
        if !condition(self.level) { return false }
        let (isChanged, core, resumption) = withLife { life -> (Bool, QueueCore?, Scheduler.Resumption?) in
            switch life.phase {
            case .created:
                // Nobody else changes it while this is locked, and what it waits for follows when it is added.
                let isChanged = condition(self.level)
                if isChanged { self.level = level }
                return (isChanged, nil, nil)
            case .finished: return (false, nil, nil)
            case .added where isFence:
                let isChanged = condition(self.level)
                if isChanged { self.level = level }
                return (isChanged, nil, nil)
            default: return (false, self.core, life.optionalState?.resumption)
            }
        }
        guard let core else { return isChanged }
        return core.change { state in
            if !condition(self.level) { return false }
            state.setLevel(of: self, to: level)
            if let resumption { state.scheduler.append(resumption, at: level) }
            return true
        }
    }
}

extension QueueCore.State {
    fileprivate mutating func setLevel(of operation: AnyOperation, to level: OperationPriority) {
        // One that a worker has in its local queue and has not begun is listed again.
        if operation.listing == .localQueue || operation.listing == .releasedLocalQueue { reclaimAll() }
        scheduler.move(.passUnretained(operation), to: level)
    }
}
