/// A group that nothing surrounds needs no task while its children run: the worker that has taken it up starts them and
/// goes on, and whoever ends the last one finishes the group.
extension QueueCore {
    /// Nil: all its children have ended, and its outcome is stored. Else the worker goes on with this.
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
            // So is the task of the worker.
            state.scheduler.releasePermit()
            return .end
        }
    }
}

extension Lifecycle {
    /// True: it was cancelled before.
    fileprivate mutating func leavesWorker() -> Bool {
        moves(to: nil)
        optionalState?.openWaits += 1
        if optionalState?.preconditions.noteWait() == true { ExclusionManager.holderWaits() }
        return isCancelled
    }

    fileprivate mutating func returns(to worker: Worker) {
        moves(to: worker)
        optionalState?.openWaits -= 1
    }
}

extension AnyOperation {
    /// Finishes groups whose children have ended, given as the first of a chain of links, and those that end by this.
    static func finish(groups first: Unmanaged<AnyOperation>?) {
        var groups = IntrusiveList()
        groups.append(linked: first)
        while let group = groups.popFirst() {
            groups.append(linked: group._withUnsafeGuaranteedRef { $0.finishGroup() })
        }
    }

    /// The queue's reference goes: nothing else keeps it.
    private final func finishGroup() -> Unmanaged<AnyOperation>? {
        let queued = Unmanaged.passUnretained(self)
        let group = withLife { $0.optionalState?.childGroups.first }
        let core = core
        if let group { childrenHaveEnded(in: group) }
        guard let ending = withLife({ $0.finishRun() }) else {
            finishOffWorker(core) { queued.release() }
            return nil
        }
        return settledOffWorker(ending, core) { queued.release() }
    }

    /// Stores the outcome of a group.
    final func childrenHaveEnded(in group: ChildGroup) {
        if let failures = group.outcome {
            // Nobody could tell later where it was.
            _ = progressState
            bodyFailed(.groupFailed(failures))
        } else {
            outcome = ()
        }
    }
}
