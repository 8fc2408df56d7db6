extension AnyOperation {
    /// How far it has come, now. Without reports from its body: 0, and 1 once it has succeeded.
    ///
    /// Bodies report with ``OperationContext/progress``. May be read before the add and after the finish. A failure or
    /// a cancel leaves it where it was.
    public final var progress: OperationProgress {
        var (state, ending) = withLife { ($0.optionalState?.progress, progressEnding($0)) }
        if state == nil, ending == nil, self is GroupOperation { state = progressState }
        guard let state else { return ProgressState.Machine(ending: ending).value }
        // Whoever finishes it is on the way to do this.
        if let ending { state.end(ending) }
        return state.value
    }

    /// Its progress, now and whenever it changes, the newest only, up to the outcome.
    ///
    /// May be asked for at any time, and any number of times. Iterating does not keep the operation alive. A body that
    /// iterates keeps its permit meanwhile: one that waits for another operation awaits its ``AsyncOperation/value``
    /// instead.
    public final var progressUpdates: OperationProgressUpdates { OperationProgressUpdates(state: progressState) }

    /// Made when somebody first wants it.
    final var progressState: ProgressState { withProgressState { _ in } }

    /// As above. A group then counts its children, after `link` has made it a child itself: what has no children yet
    /// closes no cycle, so nobody has to look for one.
    @discardableResult
    final func withProgressState(_ link: (ProgressState) -> Void) -> ProgressState {
        let (state, isNew) = makeProgressState()
        link(state)
        if isNew, self is GroupOperation { AnyOperation.countChildren(of: self, in: state) }
        return state
    }

    /// In a loop: groups can be nested as deep as one likes.
    private static func countChildren(of group: AnyOperation, in state: ProgressState) {
        var uncounted = [(group, state)]
        while let (group, state) = uncounted.popLast() {
            guard let children = group.withLife({ $0.optionalState?.childGroups.first }) else { continue }
            for child in children.count(in: state) {
                let (childState, isNew) = child.makeProgressState()
                state.addChild(childState, weight: 1)
                if isNew, child is GroupOperation { uncounted.append((child, childState)) }
            }
        }
    }

    /// Without the children of a group.
    private final func makeProgressState() -> (ProgressState, isNew: Bool) {
        let (state, isNew) = withLife { life -> (ProgressState, Bool) in
            let optionalState = life.madeOptionalState()
            if let state = optionalState.progress { return (state, false) }
            let state = ProgressState(ending: progressEnding(life))
            optionalState.progress = state
            return (state, true)
        }
        if isNew, isObserved { state.watch(for: self) }
        return (state, isNew)
    }

    /// Nil: it has not finished.
    private final func progressEnding(_ life: Lifecycle) -> ProgressState.Machine.Ending? {
        life.phase == .finished ? (hasFailed ? .failed : .succeeded) : nil
    }
}
