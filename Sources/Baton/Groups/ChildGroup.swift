/// Operations that another one runs as its children and awaits together: ``GroupStateMachine`` behind its lock.
///
/// The wait of the parent takes no permit again when it ends, so it is for parents that have nothing more to run
/// afterwards. A parent that waits on no task is finished by whoever ends its last child.
final class ChildGroup: Sendable {
    typealias Place = GroupStateMachine<AnyOperation>.Place

    private struct State {
        var machine: GroupStateMachine<AnyOperation>
        /// Of the parent's wait, if it waits on a task.
        var continuation: UnsafeContinuation<Void, Never>?
        /// Of an ordered group: what the next child comes after.
        var last: AnyOperation?
        /// Of an ordered group: who has its place in the order. By identity, because a child may have gone before the
        /// group ends.
        var ordered: Set<OperationReference> = []
        /// Once somebody has wanted to know the parent's.
        var progress: ProgressState?
    }

    private let state: Locked<State>
    /// It outlives its children's waiters, which hold it, and every call that it makes itself.
    private unowned let parent: AnyOperation
    /// How each child depends on the one before it; nil: not at all.
    private let order: DependencyPolicy?
    /// What all children hold, besides their own.
    private let width: Exclusion?

    init(
        of parent: AnyOperation, policy: GroupPolicy = .collectAll, order: DependencyPolicy? = nil,
        width: Exclusion? = nil
    ) {
        self.parent = parent
        self.order = order
        self.width = width
        // In an ordered group dependencies keep from running what a cancel would.
        state = Locked(State(machine: GroupStateMachine(policy: policy, cancelsRest: order == nil)))
    }

    /// Those that have not ended, while it runs.
    var waitsFor: [AnyOperation] { state.withLock { $0.machine.waitsFor } }

    /// So many of these, in no particular order; also of a group that does not run yet, if it `includesPlanned`
    /// children.
    func waitsFor(first limit: Int, includesPlanned: Bool) -> [AnyOperation] {
        state.withLock { $0.machine.waitsFor(first: limit, includesPlanned: includesPlanned) }
    }

    /// False: it takes no more.
    func insert(_ child: AnyOperation) -> Bool {
        let reference = order.map { _ in child.reference }
        let (insertion, last, progress) = state.withLock { state -> (_, AnyOperation?, _) in
            let insertion = state.machine.insert(child)
            var last: AnyOperation?
            if let reference, insertion != .refused, state.ordered.insert(reference).inserted {
                last = state.last
                state.last = child
            }
            return (insertion, last, state.progress)
        }
        if insertion != .refused, let progress { child.withProgressState { progress.addChild($0, weight: 1) } }
        switch insertion {
        case .planned: return true
        case .start(let place):
            // The parent cannot end before this child has.
            let core = parent.withLife { _ in parent.core! }
            start([child], from: place, after: last, on: core)
            if state.withLock({ $0.machine.haveStarted() }) { AnyOperation.finish(groups: endWait()) }
            return true
        case .refused: return false
        }
    }

    /// Those that have not ended, also before they run.
    var unendedChildren: [AnyOperation] { state.withLock { $0.machine.count.unended } }

    /// Each counts for one unit, those that have ended included. Returns those that have not, for the caller to add
    /// them.
    func count(in progress: ProgressState) -> [AnyOperation] {
        let count = state.withLock { state in
            state.progress = progress
            return state.machine.count
        }
        progress.report { $0.addEnded(count.ended, succeeded: count.succeeded) }
        return count.unended
    }

    // MARK: Running

    /// Returns when all have ended. On the parent's task, and with no permit.
    nonisolated(nonsending) func run(on core: QueueCore) async {
        let (hasReleasedPermit, isCancelled) = parent.beginGroupWait(for: self)
        // It came before the group was known.
        if isCancelled { cancel() }
        await withUnsafeContinuation { continuation in
            state.withLock { $0.continuation = continuation }
            let isOver = start(on: core)
            if hasReleasedPermit { core.change { $0.scheduler.releasePermit() } }
            if isOver { _ = endWait() }
        }
        TSanAnnotations.didAwait(self)
    }

    /// Starts those that were given so far. True: all have ended. Else whoever ends the last one is told so.
    func start(on core: QueueCore) -> Bool {
        switch state.withLock({ $0.machine.start() }) {
        case .run(let children): start(children, from: 0, after: nil, on: core)
        case .cancel(let children):
            cancel(children)
            // None of them is unfinished long: nobody adds them but who has done so before.
            watch(children, from: 0)
        }
        return state.withLock { $0.machine.haveStarted() }
    }

    /// When all have ended: their failures, in the order given, or nil for a success.
    var outcome: [OperationFailure]? { state.withLock { $0.machine.outcome } }

    private func start(
        _ children: [AnyOperation], from first: Place, after last: AnyOperation?, on core: QueueCore
    ) {
        prepare(children, after: last)
        let addedBefore = watch(children, from: first)
        AnyOperation.raise(children, to: parent.level)
        core.addWithUpstream(children, from: .child(of: parent, inside: parent.nameScope))
        for child in addedBefore { refuseEndlessWait(for: child) }
    }

    private func prepare(_ children: [AnyOperation], after last: AnyOperation?) {
        var last = last
        var seen: Set<ObjectIdentifier> = []
        // One that is given twice keeps its first place.
        for child in children where seen.insert(ObjectIdentifier(child)).inserted {
            if let width { child.holdNames([width]) }
            guard let order else { continue }
            // One that was cancelled meanwhile needs none.
            if let last { child.connectUnlessDecided(to: last, on: order) }
            last = child
        }
    }

    /// Before they are added, so that the add finds a cycle. Returns those that had been added before.
    @discardableResult
    private func watch(_ children: [AnyOperation], from first: Place) -> [AnyOperation] {
        var addedBefore: [AnyOperation] = []
        for (place, child) in zip(first..., children) {
            let waiter = Waiter(waking: .tell(self, place), body: parent)
            switch child.addWaiter(waiter) {
            case .created: break
            case .added, .evaluating, .executing, .finishing: addedBefore.append(child)
            case .finished: _ = waiter.outcomeCame(of: child)
            }
        }
        return addedBefore
    }

    private func refuseEndlessWait(for child: AnyOperation) {
        guard let path = parent.cycle(closedByWaitFor: child) else { return }
        _ = child.removeWaiter(of: parent)?.outcomeCame(of: child, error: .dependencyCycle(path))
    }

    /// Returns the parent if this has ended the group, and the caller is to finish it: see
    /// ``AnyOperation/finish(groups:)``.
    func childEnded(_ place: Place, _ child: AnyOperation, _ error: OperationError?) -> Unmanaged<AnyOperation>? {
        let failure = error.map { OperationFailure(ofChild: child.reference, error: $0) }
        let isCutOff = if case .cancelled(.parent(parent.reference))? = error { true } else { false }
        let actions = state.withLock { $0.machine.ended(place, failure, isCutOff: isCutOff) }
        cancel(actions.cancel)
        return actions.isOver ? endWait() : nil
    }

    /// It is over. Returns the parent if that is on no task.
    private func endWait() -> Unmanaged<AnyOperation>? {
        guard let continuation = state.withLock({ $0.continuation.take() }) else { return .passUnretained(parent) }
        TSanAnnotations.willResume(self)
        continuation.resume()
        return nil
    }

    // MARK: Cancelling

    func cancel() { cancel(state.withLock { $0.machine.cancel() }) }

    /// The parent fails by itself.
    func fail(_ failure: OperationFailure) { cancel(state.withLock { $0.machine.fail(failure) }) }

    func parentEnded() {
        let (children, last) = state.withLock { state in
            state.ordered = []
            return (state.machine.parentEnded(), state.last.take())
        }
        // One that ended because of a cycle that its children are on, too, is not what has ended these.
        let ends = children.map { $0.endsOnBrokenCycleOfGroup() }
        cancel(zip(children, ends).filter(\.1.isEmpty).map(\.0))
        for end in ends.joined() { end.settle() }
        withExtendedLifetime(last) {}
    }

    private func cancel(_ children: [AnyOperation]) {
        if !children.isEmpty { Trampoline.run(.cancel(children, .parent(parent.reference))) }
    }
}

extension AnyOperation {
    /// If this is its first open wait, its permit goes back.
    fileprivate final func beginGroupWait(for group: ChildGroup) -> (hasReleasedPermit: Bool, isCancelled: Bool) {
        withLife { life in
            let optionalState = life.madeOptionalState()
            optionalState.openWaits += 1
            if !optionalState.childGroups.contains(where: { $0 === group }) { optionalState.childGroups.append(group) }
            if optionalState.preconditions.noteWait() { ExclusionManager.holderWaits() }
            return (optionalState.openWaits == 1, life.isCancelled)
        }
    }

    /// It goes on, and had released its permit before.
    final func endGroupWait(for group: ChildGroup) {
        withLife { life in
            life.optionalState?.openWaits -= 1
            life.optionalState?.childGroups.removeAll { $0 === group }
        }
    }
}
