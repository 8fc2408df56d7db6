/// Changing priorities after the add, and passing them on to the operations that are waited for.
extension AnyOperation {
    /// Performs a change of ``priority``.
    final func setPriority(_ priority: OperationPriority) {
        let former = currentPriority
        guard changePriority(when: { $0 != priority }, to: priority), priority > former else { return }
        Self.raise(waitsFor, to: priority)
    }

    /// Raises operations that have a lower priority, and then the operations that they wait for.
    ///
    /// The sources of an operation are visited once for each priority that it rises to, so at most four times unless
    /// somebody lowers it in between.
    @inline(never)
    static func raise(_ operations: [AnyOperation], to priority: OperationPriority) {
        // The order of visits is the order in which the operations are waited for. Those with the same priority start
        // in this order.
        var (pending, next) = (operations, 0)
        while next < pending.count {
            if pending[next].changePriority(when: { $0 < priority }, to: priority) { pending += pending[next].waitsFor }
            next += 1
        }
    }

    /// Raises the sources of this operation, after it has been linked to them.
    @inline(never)
    final func raiseSources() { Self.raise(waitsFor, to: currentPriority) }

    /// Changes the priority. Returns false if `condition` is not met, or if the operation has finished.
    private final func changePriority(when condition: (OperationPriority) -> Bool, to priority: OperationPriority)
        -> Bool
    {
        if !condition(currentPriority) { return false }
        let (isChanged, core, resumption) = withLife { life -> (Bool, QueueCore?, Scheduler.Resumption?) in
            switch life.phase {
            case .created:
                // While the operation is locked, nobody else changes its priority. Its sources are raised when it is
                // added.
                let isChanged = condition(currentPriority)
                if isChanged { currentPriority = priority }
                return (isChanged, nil, nil)
            case .finished: return (false, nil, nil)
            case .added where isFence:
                let isChanged = condition(currentPriority)
                if isChanged { currentPriority = priority }
                return (isChanged, nil, nil)
            default: return (false, self.core, life.optionalState?.resumption)
            }
        }
        guard let core else { return isChanged }
        return core.change { state in
            if !condition(currentPriority) { return false }
            state.setPriority(of: self, to: priority)
            if let resumption { state.scheduler.append(resumption, at: priority) }
            return true
        }
    }
}

extension QueueCore.State {
    fileprivate mutating func setPriority(of operation: AnyOperation, to priority: OperationPriority) {
        // An operation that waits in a worker's local queue is listed again, so that it can be moved.
        if operation.listing == .localQueue || operation.listing == .releasedLocalQueue { reclaimAll() }
        scheduler.move(.passUnretained(operation), to: priority)
    }
}
