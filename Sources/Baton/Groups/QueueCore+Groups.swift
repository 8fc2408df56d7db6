/// A group with nothing around its body (middleware, time limits, an executor of its own) needs no task while its
/// children run: the worker that has taken up the group starts the children and goes on, and the thread that ends the
/// last child finishes the group.
extension QueueCore {
    /// Starts the children. Returns the action with which the worker goes on, or nil if all children have ended and the
    /// outcome of the group is stored.
    func startGroup(
        _ current: Unmanaged<AnyOperation>, _ group: ChildGroup, on worker: Worker
    ) -> Scheduler.WorkerAction? {
        let isCancelled = current._withUnsafeGuaranteedRef { $0.withLife { $0.leavesWorker() } }
        if isCancelled { group.cancel() }
        if group.start(on: self) {
            current._withUnsafeGuaranteedRef { operation in
                operation.withLife { $0.returns(to: worker) }
                operation.childrenHaveEnded(in: group)
            }
            return nil
        }
        return change { state in
            if !isCancelled { return state.nextAction { $0.park() } }
            // The cancel of the group has cancelled the worker's task as well, so the worker ends.
            state.scheduler.releasePermit()
            return .end
        }
    }
}

extension Lifecycle {
    /// Returns true if the group was cancelled before.
    fileprivate mutating func leavesWorker() -> Bool {
        setWorker(nil)
        optionalState?.openWaits += 1
        if optionalState?.preconditions.noteWait() == true { ExclusionManager.noteHolderWait() }
        return isCancelled
    }

    fileprivate mutating func returns(to worker: Worker) {
        setWorker(worker)
        optionalState?.endOpenWait()
    }
}

extension AnyOperation {
    /// Finishes groups whose children have ended, given as the first of a linked chain, and the groups that end because
    /// of this.
    static func finish(groups first: Unmanaged<AnyOperation>?) {
        var groups = IntrusiveList()
        groups.append(linked: first)
        while let group = groups.popFirst() {
            groups.append(linked: group._withUnsafeGuaranteedRef { $0.finishGroup() })
        }
    }

    /// Finishes this group and releases the queue's reference to it, which may be the last one. Returns the groups that
    /// end because of this, linked.
    private final func finishGroup() -> Unmanaged<AnyOperation>? {
        let queued = Unmanaged.passUnretained(self)
        let group = withLife { $0.optionalState?.childGroups.first }
        let core = core
        if let group { childrenHaveEnded(in: group) }
        guard let ending = withLife({ $0.finishRun() }) else {
            finishOffWorker(core) { queued.release() }
            return nil
        }
        return completeOffWorker(ending, core) { queued.release() }
    }

    /// Stores the outcome of the group, whose children have ended.
    final func childrenHaveEnded(in group: ChildGroup) {
        if let failures = group.outcome {
            // Creates the progress now: once the group has finished, the progress at which it failed can no longer be
            // computed.
            _ = progressState
            bodyFailed(.groupFailed(failures))
        } else {
            outcome = ()
        }
    }
}
