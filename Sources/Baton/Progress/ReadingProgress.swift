extension AnyOperation {
    /// How far it has come, now. Without reports from its body: 0, and 1 once it has succeeded.
    ///
    /// Bodies report with ``OperationContext/progress``. May be read before the add and after the finish. A failure or a
    /// cancel leaves it where it was.
    public final var progress: OperationProgress {
        var (state, ending) = withLife { ($0.details?.progress, progressEnding($0)) }
        if state == nil, ending == nil, self is GroupOperation { state = progressState }
        guard let state else { return ProgressState.Machine(ending: ending).value }
        // Whoever finishes it is on the way to do this.
        if let ending { state.end(ending) }
        return state.value
    }

    /// Its progress, now and whenever it changes, the newest only, up to the outcome.
    ///
    /// May be asked for at any time, and any number of times. Iterating does not keep the operation alive.
    public final var progressUpdates: OperationProgressUpdates { OperationProgressUpdates(state: progressState) }

    /// Made when somebody first wants it.
    final var progressState: ProgressState {
        let (state, isNew) = withLife { life -> (ProgressState, Bool) in
            let details = life.madeDetails()
            if let state = details.progress { return (state, false) }
            let state = ProgressState(ending: progressEnding(life))
            details.progress = state
            return (state, true)
        }
        if isNew, isObserved { state.watch(for: self) }
        if isNew, let group = self as? GroupOperation { group.countChildren(in: state) }
        return state
    }

    /// Nil: it has not finished.
    private final func progressEnding(_ life: Lifecycle) -> ProgressState.Machine.Ending? {
        life.phase == .finished ? (hasFailed ? .failed : .succeeded) : nil
    }
}
