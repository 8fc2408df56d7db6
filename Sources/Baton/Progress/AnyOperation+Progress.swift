extension AnyOperation {
    /// The current progress of the operation. Without reports from its body, 0 until it has succeeded, then 1.
    ///
    /// A body reports its progress with ``OperationContext/progress``. The progress may be read before the operation is
    /// added and after it has finished. A failure or a cancel leaves it unchanged.
    public final var progress: OperationProgress {
        var (state, ending) = withLife { ($0.optionalState?.progress, progressEnding($0)) }
        if state == nil, ending == nil, self is GroupOperation { state = progressState }
        guard let state else { return ProgressState.Machine(ending: ending).value }
        // The thread that finishes the operation may not have passed the end on yet.
        if let ending { state.end(ending) }
        return state.value
    }

    /// The progress of the operation, now and whenever it changes, up to the outcome. Skips values that are not read in
    /// time.
    ///
    /// The sequence may be requested at any time, and any number of times. Iterating it does not keep the operation
    /// alive.
    ///
    /// A body that iterates the sequence keeps its permit while it waits for the next value. A body that waits for
    /// another operation should await its ``AsyncOperation/value`` instead, which releases the permit.
    public final var progressUpdates: OperationProgressUpdates { OperationProgressUpdates(state: progressState) }

    /// The progress state, which is made when it is first needed.
    final var progressState: ProgressState { withProgressState { _ in } }

    /// Returns the progress state, which is made if necessary, after passing it to `link`.
    ///
    /// A new state of a group then counts the children of the group. `link` runs before that: an operation without
    /// children closes no cycle, so nobody has to search for one.
    @discardableResult
    final func withProgressState(_ link: (ProgressState) -> Void) -> ProgressState {
        let (state, isNew) = makeProgressState()
        link(state)
        if isNew, self is GroupOperation { AnyOperation.countChildren(of: self, in: state) }
        return state
    }

    /// A loop instead of a recursion, because groups can be nested to any depth.
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

    /// Makes the state without the children of a group.
    private final func makeProgressState() -> (ProgressState, isNew: Bool) {
        let (state, isNew) = withLife { life -> (ProgressState, Bool) in
            let optionalState = life.ensureOptionalState()
            if let state = optionalState.progress { return (state, false) }
            let state = ProgressState(ending: progressEnding(life))
            optionalState.progress = state
            return (state, true)
        }
        if isNew, isObserved { state.watch(for: self) }
        return (state, isNew)
    }

    /// Returns `nil` if the operation has not finished.
    private final func progressEnding(_ life: Lifecycle) -> ProgressState.Machine.Ending? {
        life.phase == .finished ? (hasFailed ? .failed : .succeeded) : nil
    }
}
