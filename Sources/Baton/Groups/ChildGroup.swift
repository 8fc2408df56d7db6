/// The operations that a parent runs as its children and awaits together. Guards a ``GroupStateMachine`` with a lock.
///
/// The parent does not take its permit again when the wait ends, so this type suits only parents that have nothing more
/// to run. If the parent does not wait on a task, the thread that finishes the last child also finishes
/// the parent.
final class ChildGroup: Sendable {
    typealias ChildIndex = GroupStateMachine<AnyOperation>.ChildIndex

    private struct State {
        var machine: GroupStateMachine<AnyOperation>
        /// The continuation of the parent's wait, if the parent waits on a task.
        var continuation: UnsafeContinuation<Void, Never>?
        /// The child that was given last to an ordered group; the next child depends on it.
        var last: AnyOperation?
        /// The progress of the parent, once it has been asked for.
        var progress: ProgressState?
    }

    private let state: Locked<State>
    /// Unowned is safe: each child's waiter, which holds this group, retains the parent as well, and the parent makes
    /// all other calls.
    private unowned let parent: AnyOperation
    /// The policy of each child's dependency on the child before it, or nil if the group is not ordered.
    private let order: DependencyPolicy?
    /// The exclusion that limits the width of the group: every child holds it in addition to its own.
    private let width: Exclusion?

    init(
        of parent: AnyOperation, policy: GroupPolicy = .collectAll, order: DependencyPolicy? = nil,
        width: Exclusion? = nil
    ) {
        self.parent = parent
        self.order = order
        self.width = width
        // In an ordered group the dependencies keep the rest from running, so the machine does not have to cancel it.
        state = Locked(State(machine: GroupStateMachine(policy: policy, cancelsRest: order == nil)))
    }

    /// The children that have not ended, if the group runs.
    var waitsFor: [AnyOperation] { state.withLock { $0.machine.waitsFor } }

    /// The first `limit` children found that have not ended, in no particular order.
    ///
    /// - Parameters:
    ///   - limit: The greatest number of children to return.
    ///   - includesPlanned: Whether to return the children of a group that does not run yet.
    func waitsFor(first limit: Int, includesPlanned: Bool) -> [AnyOperation] {
        state.withLock { $0.machine.waitsFor(first: limit, includesPlanned: includesPlanned) }
    }

    /// Adds a child, and starts it if the group runs. Returns false if the group takes no more children.
    func insert(_ child: AnyOperation) -> Bool {
        // Before the machine has the child, because another thread may end the group at any time from then on.
        child.enterPlannedGroup()
        let getsPlace = order != nil && child.takePlace(inOrderOf: parent)
        let (insertion, last, progress) = state.withLock { state -> (_, AnyOperation?, _) in
            let insertion = state.machine.insert(child)
            var last: AnyOperation?
            if getsPlace, insertion != .refused {
                last = state.last
                state.last = child
            }
            return (insertion, last, state.progress)
        }
        if insertion != .refused, let progress { child.withProgressState { progress.addChild($0, weight: 1) } }
        switch insertion {
        case .planned: return true
        case .start(let place):
            // The parent cannot end before this child has ended, so it still has its core.
            guard let core = parent.withLifecycle({ _ in parent.core }) else {
                preconditionFailure("a group that runs is in no queue")
            }
            start([child], from: place, after: last, on: core)
            if state.withLock({ $0.machine.didStartChildren() }) { AnyOperation.finish(groups: endWait()) }
            return true
        case .refused:
            child.withLifecycle { _ = child.leavePlannedGroup($0) }
            return false
        }
    }

    /// The children that have not ended, also before the group runs.
    var unfinishedChildren: [AnyOperation] { state.withLock { $0.machine.progressCounts.unfinished } }

    /// Counts each child, including those that have ended, as one unit of `progress`. Returns the children that have
    /// not ended, which the caller adds to `progress`.
    func count(in progress: ProgressState) -> [AnyOperation] {
        let count = state.withLock { state in
            state.progress = progress
            return state.machine.progressCounts
        }
        progress.report { $0.addEnded(count.ended, succeeded: count.succeeded) }
        return count.unfinished
    }

    deinit {
        // Nobody has added the group, so its children are left as they are.
        for child in state.withLock({ $0.machine.isPlanned ? $0.machine.progressCounts.unfinished : [] }) {
            child.withLifecycle { _ = child.leavePlannedGroup($0) }
        }
    }

    // MARK: Running the children

    /// Starts the children, and returns when all of them have ended. Runs on the parent's task, without a permit.
    nonisolated(nonsending) func run(on core: QueueCore) async {
        let (hasReleasedPermit, isCancelled) = parent.beginGroupWait(for: self)
        // The cancellation came before the group was known to the parent.
        if isCancelled { cancel() }
        await withUnsafeContinuation { continuation in
            state.withLock { $0.continuation = continuation }
            let hasEnded = start(on: core)
            if hasReleasedPermit { core.change { $0.scheduler.releasePermit() } }
            if hasEnded { _ = endWait() }
        }
        TSanAnnotations.didAwait(self)
    }

    /// Starts the children that were given so far. Returns true if all of them have ended; otherwise
    /// ``childEnded(_:_:_:)`` informs the thread that ends the last child.
    func start(on core: QueueCore) -> Bool {
        switch state.withLock({ $0.machine.start() }) {
        case .run(let children): start(children, from: 0, after: nil, on: core)
        case .cancel(let children):
            cancel(children)
            // Children that run, or whose handlers do, have not ended, and may wait for the parent.
            for child in watch(children, from: 0) { refuseWaitOnCycle(for: child) }
        }
        return state.withLock { $0.machine.didStartChildren() }
    }

    /// The failures of the children in the order in which they were given, or nil if the group has succeeded. Valid
    /// when all children have ended.
    var outcome: [OperationFailure]? { state.withLock { $0.machine.outcome } }

    private func start(
        _ children: [AnyOperation], from first: ChildIndex, after last: AnyOperation?, on core: QueueCore
    ) {
        prepare(children, after: last)
        let addedBefore = watch(children, from: first)
        AnyOperation.raise(children, to: parent.currentPriority)
        core.addWithUpstream(children, from: .child(of: parent, inside: parent.exclusionHolderForChildren))
        for child in addedBefore { refuseWaitOnCycle(for: child) }
    }

    private func prepare(_ children: [AnyOperation], after last: AnyOperation?) {
        var last = last
        var seen: Set<ObjectIdentifier> = []
        // A child that is given twice keeps its first place.
        for child in children where seen.insert(ObjectIdentifier(child)).inserted {
            if let width { child.requireExclusions([width]) }
            guard let order else { continue }
            // A child that was cancelled meanwhile has ended and needs no dependency.
            if let last { child.addDependencyUnlessEnded(last, on: order, inOrderOf: parent) }
            last = child
        }
    }

    /// Adds a waiter to each child, which leaves the planned group. Runs before the children are added, so that the add
    /// finds a cycle through the parent. Returns the children that had been added before.
    private func watch(_ children: [AnyOperation], from first: ChildIndex) -> [AnyOperation] {
        var addedBefore: [AnyOperation] = []
        for (place, child) in zip(first..., children) {
            let waiter = Waiter(receiver: .group(self, place), body: parent)
            switch child.addWaiter(waiter) {
            case .created: break
            case .added, .evaluating, .executing, .finishing: addedBefore.append(child)
            case .finished: _ = waiter.outcomeCame(of: child)
            }
            child.withLifecycle { _ = child.leavePlannedGroup($0) }
        }
        return addedBefore
    }

    private func refuseWaitOnCycle(for child: AnyOperation) {
        guard let path = parent.cycle(closedByWaitFor: child) else { return }
        _ = child.removeWaiter(of: parent)?.outcomeCame(of: child, error: .dependencyCycle(path))
    }

    /// Records the end of a child. If the group is over and its parent is on no task, returns the parent, which the
    /// caller has to finish with ``AnyOperation/finish(groups:)``.
    func childEnded(_ place: ChildIndex, _ child: AnyOperation, _ error: OperationError?) -> Unretained<AnyOperation>? {
        let failure = error.map { OperationFailure(ofChild: child.reference, error: $0) }
        let isCutOff = if case .cancelled(.parent(parent.reference))? = error { true } else { false }
        let actions = state.withLock { $0.machine.ended(place, failure, isCutOff: isCutOff) }
        cancel(actions.cancel)
        return actions.hasEnded ? endWait() : nil
    }

    /// Resumes the parent's task when the group is over. Returns the parent if it is on no task.
    private func endWait() -> Unretained<AnyOperation>? {
        guard let continuation = state.withLock({ $0.continuation.take() }) else { return Unretained(parent) }
        TSanAnnotations.willResume(self)
        continuation.resume()
        return nil
    }

    // MARK: Cancelling the children

    /// Cancels the children.
    ///
    /// - Parameter includingPlanned: False to leave the children of a group that has not started to
    ///   ``parentEnded(cancelsChildren:)``.
    func cancel(includingPlanned: Bool = true) {
        let children = state.withLock { state in
            let isIncluded = includingPlanned || !state.machine.isPlanned
            let children = state.machine.cancel()
            return isIncluded ? children : []
        }
        cancel(children)
    }

    /// Cancels the children, because the parent fails with an error of its own.
    func fail(_ failure: OperationFailure) { cancel(state.withLock { $0.machine.fail(failure) }) }

    /// Ends the children of a group that was never started.
    ///
    /// - Parameter cancelsChildren: True to cancel all children, as the cancellation of a group that runs does. False
    ///   to end only those that nobody has added and that are in no other group that may start.
    func parentEnded(cancelsChildren: Bool) {
        let (children, last) = state.withLock { ($0.machine.parentEnded(), $0.last.take()) }
        // A child on the cycle that ended the parent fails because of that cycle, and not because its parent has ended.
        let ends = children.map { $0.endAsChildOnBrokenCycle() }
        let rest = zip(children, ends).filter(\.1.isEmpty).map(\.0)
        if cancelsChildren {
            cancel(rest)
        } else if !rest.isEmpty {
            Trampoline.run(.cancelUnstarted(rest, parent.reference))
        }
        for end in ends.joined() { end.complete() }
        withExtendedLifetime(last) {}
    }

    private func cancel(_ children: [AnyOperation]) {
        if !children.isEmpty { Trampoline.run(.cancel(children, .parent(parent.reference))) }
    }
}

extension AnyOperation {
    /// Records that the operation is a child of a group that has not started.
    fileprivate final func enterPlannedGroup() {
        withLifecycle { life in
            if life.isDecided { return }
            if life.phase == .created, kinship == .none {
                kinship = .childOfPlannedGroup
            } else {
                life.ensureOptionalState().otherPlannedGroups += 1
            }
        }
    }

    /// True if a group that has not started has the operation as a child. The caller holds the operation's lock.
    final func isInPlannedGroup(_ life: Lifecycle) -> Bool {
        kinship == .childOfPlannedGroup || (life.optionalState?.otherPlannedGroups ?? 0) > 0
    }

    /// Records that a group which has the operation as a child is not planned any more. Returns false if there is
    /// another such group. The caller holds the operation's lock.
    final func leavePlannedGroup(_ life: Lifecycle) -> Bool {
        if let optionalState = life.optionalState, optionalState.otherPlannedGroups > 0 {
            optionalState.otherPlannedGroups -= 1
            return !isInPlannedGroup(life)
        }
        if kinship == .childOfPlannedGroup { kinship = .none }
        return true
    }

    /// True if the end of this operation, a group that has not started, cancels also the children that others have
    /// added: it was cancelled by a call, with its queue or with its parent. The caller holds the operation's lock.
    final func cancelsPlannedChildren(_ life: Lifecycle) -> Bool {
        if !life.isCancelled || kinship == .childOfUnstartedGroup { return false }
        let reason = life.optionalState?.cancellationReason ?? .requested
        return !reason.isEndOfWait
    }

    /// Gives this operation its place in the order of a group. Returns false if it has one already: a child that is
    /// given twice keeps its first place, also when it has ended.
    fileprivate final func takePlace(inOrderOf group: AnyOperation) -> Bool {
        let id = group.reference.id
        return withLifecycle { $0.ensureOptionalState().takePlace(inOrderOf: id) }
    }

    /// Registers the group as an open wait of this operation. The first open wait releases the operation's permit.
    fileprivate final func beginGroupWait(for group: ChildGroup) -> (hasReleasedPermit: Bool, isCancelled: Bool) {
        withLifecycle { life in
            let optionalState = life.ensureOptionalState()
            optionalState.openWaits += 1
            if !optionalState.childGroups.contains(where: { $0 === group }) { optionalState.childGroups.append(group) }
            if optionalState.preconditions.noteWait() { ExclusionManager.noteHolderWait() }
            return (optionalState.openWaits == 1, life.isCancelled)
        }
    }

    /// Removes the open wait that ``beginGroupWait(for:)`` has registered. The operation goes on without a permit.
    final func endGroupWait(for group: ChildGroup) {
        withLifecycle { life in
            life.optionalState?.endOpenWait()
            life.optionalState?.childGroups.removeAll { $0 === group }
        }
    }
}

// MARK: - Groups without tasks

/// A group with nothing around its body (middleware, time limits, an executor of its own) needs no task while its
/// children run: the worker that has dequeued the group starts the children and goes on, and the thread that ends the
/// last child finishes the group.
extension QueueCore {
    /// Starts the children. Returns the action with which the worker goes on, or nil if all children have ended and the
    /// outcome of the group is stored.
    func startGroup(
        _ current: Unretained<AnyOperation>, _ group: ChildGroup, on worker: Worker
    ) -> Scheduler.WorkerAction? {
        let isCancelled = current.use { $0.withLifecycle { $0.leavesWorker() } }
        if isCancelled { group.cancel() }
        if group.start(on: self) {
            current.use { operation in
                operation.withLifecycle { $0.returns(to: worker) }
                operation.childrenHaveEnded(in: group)
            }
            return nil
        }
        return change { state in
            if !isCancelled { return state.scheduler.park() }
            // The cancellation of the group has cancelled the worker's task as well, so the worker ends.
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
    static func finish(groups first: Unretained<AnyOperation>?) {
        var groups = IntrusiveList()
        groups.append(linked: first)
        while let group = groups.popFirst() {
            groups.append(linked: group.use { $0.finishGroup() })
        }
    }

    /// Finishes this group and releases the queue's reference to it, which may be the last one. Returns the groups that
    /// end because of this, linked.
    private final func finishGroup() -> Unretained<AnyOperation>? {
        let queued = Unretained(self)
        let group = withLifecycle { $0.optionalState?.childGroups.first }
        let core = core
        if let group { childrenHaveEnded(in: group) }
        guard let action = withLifecycle({ $0.finishRun() }) else {
            finishOffWorker(core) { Retained(handedOver: queued).release() }
            return nil
        }
        return completeOffWorker(action, core) { Retained(handedOver: queued).release() }
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
