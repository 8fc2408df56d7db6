/// What few operations have, in a single word. Guarded by the operation's lock.
enum OptionalStateStorage {
    case none
    /// The first that is a reference, and so stored as it is, where LeakSanitizer finds it.
    case optionalState(OptionalState)
    /// Nothing but these, which others have, too.
    case limits(Unmanaged<SharedLimits>)

    /// Its own, if it has any.
    var optionalState: OptionalState? {
        if case .optionalState(let optionalState) = self { optionalState } else { nil }
    }

    /// Without a reference of its own: nobody takes them away from the holder of the lock.
    @inline(__always)
    var borrowedOptionalState: Unmanaged<OptionalState>? {
        if case .optionalState(let optionalState) = self { .passUnretained(optionalState) } else { nil }
    }

    /// Nothing of a dead operation is released recursively; see ``Trampoline``.
    mutating func takeOptionalState() -> OptionalState? {
        guard case .optionalState(let optionalState) = self else { return nil }
        self = .none
        return optionalState
    }

    /// - Parameter attempt: Of the body; see ``TimedState/attempt``.
    @inline(__always)
    mutating func madeOptionalState(attempt: Int32) -> OptionalState {
        if case .optionalState(let optionalState) = self { return optionalState }
        return makeOptionalState(attempt)
    }

    @inline(never)
    private mutating func makeOptionalState(_ attempt: Int32) -> OptionalState {
        let made =
            if case .limits(let limits) = self {
                TimedState(limits._withUnsafeGuaranteedRef(\.values), attempt: attempt)
            } else {
                OptionalState()
            }
        self = .optionalState(made)
        return made
    }

    // MARK: Limits

    var timing: Timing? {
        switch self {
        case .none: nil
        case .limits(let limits): .shared(limits)
        case .optionalState(let optionalState): optionalState.borrowedTiming.map { .own($0) }
        }
    }

    /// Its own time limits, delays and further attempts: also for one that has had none.
    mutating func madeTiming() -> Unmanaged<TimedState>? {
        let optionalState = madeOptionalState(attempt: 0)
        if optionalState.timing == nil { self = .optionalState(TimedState(after: optionalState)) }
        return borrowedOptionalState?._withUnsafeGuaranteedRef { $0.borrowedTiming }
    }

    /// False: they are, or have to be, part of its optionalState.
    @inline(__always)
    mutating func changeShared(_ change: (inout SharedLimits.Values) -> Void) -> Bool {
        var values: SharedLimits.Values
        switch self {
        case .none: values = SharedLimits.Values()
        case .limits(let limits): values = limits._withUnsafeGuaranteedRef(\.values)
        case .optionalState: return false
        }
        change(&values)
        guard let limits = SharedLimits.with(values) else { return false }
        self = .limits(limits)
        return true
    }
}

/// Time limits and further attempts of an operation, for the worker that runs it. They are there until it has finished.
enum Timing {
    case shared(Unmanaged<SharedLimits>)
    case own(Unmanaged<TimedState>)

    /// What fails is tried again.
    var retries: Bool {
        switch self {
        case .shared(let limits): limits._withUnsafeGuaranteedRef { $0.values.backoff != nil }
        case .own(let timing): timing._withUnsafeGuaranteedRef { $0.backoff != nil }
        }
    }

    /// Of each attempt.
    var limit: Duration? {
        switch self {
        case .shared(let limits): limits._withUnsafeGuaranteedRef { $0.values.limit }
        case .own(let timing): timing._withUnsafeGuaranteedRef { $0.limit }
        }
    }
}

/// What few operations have: optionalState, or limits that they share with others.
extension Lifecycle {
    var optionalState: OptionalState? { optionalStateStorage.optionalState }

    @inline(__always)
    var borrowedOptionalState: Unmanaged<OptionalState>? { optionalStateStorage.borrowedOptionalState }

    @inline(__always)
    mutating func madeOptionalState() -> OptionalState {
        optionalStateStorage.madeOptionalState(attempt: hasBegun ? 1 : 0)
    }

    /// As above, without a reference of its own.
    @inline(__always)
    mutating func inMadeOptionalState<Result>(_ body: (OptionalState) -> Result) -> Result {
        if borrowedOptionalState == nil { _ = madeOptionalState() }
        return borrowedOptionalState!._withUnsafeGuaranteedRef(body)
    }

    mutating func takeOptionalState() -> OptionalState? { optionalStateStorage.takeOptionalState() }

    var timing: Timing? { optionalStateStorage.timing }

    /// For one that runs: its own, if it has limits or further attempts.
    mutating func madeTiming() -> TimedState? {
        if case .limits = optionalStateStorage { _ = madeOptionalState() }
        return optionalState?.timing
    }

    /// Nil after the add: then somebody may look at the optional state that is there.
    @inline(__always)
    mutating func timingToChange() -> Unmanaged<TimedState>? {
        phase == .created ? optionalStateStorage.madeTiming() : nil
    }

    /// Time limits and further attempts that others may have, too. False: it is too late, or they have to be its own.
    @inline(__always)
    mutating func changeSharedLimits(_ change: (inout SharedLimits.Values) -> Void) -> Bool {
        phase == .created && optionalStateStorage.changeShared(change)
    }
}
