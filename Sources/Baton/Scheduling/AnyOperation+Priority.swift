/// Changing priorities after the add, and passing them on to the operations that are waited for.
extension AnyOperation {
    /// Performs a change of ``priority``.
    final func setLevel(_ level: OperationPriority) {
        let former = self.level
        guard changeLevel(when: { $0 != level }, to: level), level > former else { return }
        Self.raise(waitsFor, to: level)
    }

    /// Raises operations that have a lower level, and then the operations that they wait for.
    ///
    /// The sources of an operation are visited once for each level that it rises to, so at most four times unless
    /// somebody lowers it in between.
    @inline(never)
    static func raise(_ operations: [AnyOperation], to level: OperationPriority) {
        // The order of visits is the order in which the operations are waited for. Those with the same level start in
        // this order.
        var (pending, next) = (operations, 0)
        while next < pending.count {
            if pending[next].changeLevel(when: { $0 < level }, to: level) { pending += pending[next].waitsFor }
            next += 1
        }
    }

    /// Raises the sources of this operation, after it has been linked to them.
    @inline(never)
    final func raiseSources() { Self.raise(waitsFor, to: level) }

    /// Changes the level. Returns false if `condition` is not met, or if the operation has finished.
    private final func changeLevel(when condition: (OperationPriority) -> Bool, to level: OperationPriority) -> Bool {
        if !condition(self.level) { return false }
        let (isChanged, core, resumption) = withLife { life -> (Bool, QueueCore?, Scheduler.Resumption?) in
            switch life.phase {
            case .created:
                // While the operation is locked, nobody else changes its level. Its sources are raised when it is
                // added.
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
        // An operation that waits in a worker's local queue is listed again, so that it can be moved.
        if operation.listing == .localQueue || operation.listing == .releasedLocalQueue { reclaimAll() }
        scheduler.move(.passUnretained(operation), to: level)
    }
}
