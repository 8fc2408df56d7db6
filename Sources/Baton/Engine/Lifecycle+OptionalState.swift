/// Access to the optional state, or to limits that the operation shares with others.
extension Lifecycle {
    var optionalState: OptionalState? { optionalStateStorage.optionalState }

    @inline(__always)
    var borrowedOptionalState: Unmanaged<OptionalState>? { optionalStateStorage.borrowedOptionalState }

    @inline(__always)
    mutating func ensureOptionalState() -> OptionalState {
        optionalStateStorage.ensureOptionalState(attempt: hasBegun ? 1 : 0)
    }

    /// Calls `body` with the optional state, which is made if there is none, and is not retained.
    @inline(__always)
    mutating func withEnsuredOptionalState<Result>(_ body: (OptionalState) -> Result) -> Result {
        if borrowedOptionalState == nil { _ = ensureOptionalState() }
        return borrowedOptionalState!._withUnsafeGuaranteedRef(body)
    }

    mutating func takeOptionalState() -> OptionalState? { optionalStateStorage.takeOptionalState() }

    var timing: Timing? { optionalStateStorage.timing }

    /// Returns the operation's own timing, after converting shared limits into it. Nil if the operation has no limits.
    /// Called for an operation that runs.
    mutating func ownTiming() -> TimedState? {
        if case .limits = optionalStateStorage { _ = ensureOptionalState() }
        return optionalState?.timing
    }

    /// Returns nil after the add, because other threads may then read the optional state.
    @inline(__always)
    mutating func timingToChange() -> Unmanaged<TimedState>? {
        phase == .created ? optionalStateStorage.ensureTiming() : nil
    }

    /// Changes time limits and further attempts that other operations may share. Returns false if the operation has
    /// been added, or if it has optional state of its own, which must hold the limits.
    @inline(__always)
    mutating func changeSharedLimits(_ change: (inout SharedLimits.Values) -> Void) -> Bool {
        phase == .created && optionalStateStorage.changeShared(change)
    }
}
