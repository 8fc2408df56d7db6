/// The optional state of an operation, or the limits that it shares with others, in a single word. Guarded by the
/// operation's lock.
enum OptionalStateStorage {
    case none
    /// This must stay the first case with a payload. Swift then stores the reference without tag bits, so LeakSanitizer
    /// recognises it.
    case optionalState(OptionalState)
    /// The operation has nothing but limits that it shares with other operations.
    case limits(Unretained<SharedLimits>)

    /// The optional state of the operation, if it has any of its own.
    var optionalState: OptionalState? {
        if case .optionalState(let optionalState) = self { optionalState } else { nil }
    }

    /// The optional state, not retained, because no other thread can take it away from the holder of the lock.
    @inline(__always)
    var borrowedOptionalState: Unretained<OptionalState>? {
        if case .optionalState(let optionalState) = self { Unretained(optionalState) } else { nil }
    }

    /// Moves the optional state out of a dead operation, so that it is not released recursively; see ``Trampoline``.
    mutating func takeOptionalState() -> OptionalState? {
        guard case .optionalState(let optionalState) = self else { return nil }
        self = .none
        return optionalState
    }

    /// Returns the optional state, which is made if there is none.
    ///
    /// - Parameter attempt: The number of the attempt that runs; see ``TimedState/attempt``.
    @inline(__always)
    mutating func ensureOptionalState(attempt: Int32) -> OptionalState {
        if case .optionalState(let optionalState) = self { return optionalState }
        return makeOptionalState(attempt)
    }

    @inline(never)
    private mutating func makeOptionalState(_ attempt: Int32) -> OptionalState {
        let made =
            if case .limits(let limits) = self {
                TimedState(limits.use(\.values), attempt: attempt)
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

    /// Returns time limits, delays and further attempts that belong to this operation alone. They are made if there are
    /// none.
    mutating func ensureTiming() -> Unretained<TimedState>? {
        let optionalState = ensureOptionalState(attempt: 0)
        if optionalState.timing == nil { self = .optionalState(TimedState(after: optionalState)) }
        return borrowedOptionalState?.use { $0.borrowedTiming }
    }

    /// Changes the shared limits. Returns false if the operation has optional state, or if the table of shared limits
    /// has no room for these.
    @inline(__always)
    mutating func changeShared(_ change: (inout SharedLimits.Values) -> Void) -> Bool {
        var values: SharedLimits.Values
        switch self {
        case .none: values = SharedLimits.Values()
        case .limits(let limits): values = limits.use(\.values)
        case .optionalState: return false
        }
        change(&values)
        guard let limits = SharedLimits.with(values) else { return false }
        self = .limits(limits)
        return true
    }
}

/// Time limits and further attempts of an operation, for the worker that runs it. The references are not retained:
/// shared limits are never released, and the operation's own state lives until the operation has finished.
enum Timing {
    case shared(Unretained<SharedLimits>)
    case own(Unretained<TimedState>)

    /// True if a failed attempt is followed by another one.
    var retries: Bool {
        switch self {
        case .shared(let limits): limits.use { $0.values.backoff != nil }
        case .own(let timing): timing.use { $0.backoff != nil }
        }
    }

    /// The setting with which the body runs more than once; nil if it runs once.
    var runAgain: RunAgain? {
        if retries { return .retry }
        return switch self {
        case .shared: nil
        case .own(let timing): timing.use { $0.rareTimedState?.repetition == nil ? nil : .repetition }
        }
    }

    /// The time limit of each attempt.
    var limit: Duration? {
        switch self {
        case .shared(let limits): limits.use { $0.values.limit }
        case .own(let timing): timing.use { $0.limit }
        }
    }
}

// MARK: - Access

/// Access to the optional state, or to limits that the operation shares with others.
extension Lifecycle {
    var optionalState: OptionalState? { optionalStateStorage.optionalState }

    @inline(__always)
    var borrowedOptionalState: Unretained<OptionalState>? { optionalStateStorage.borrowedOptionalState }

    @inline(__always)
    mutating func ensureOptionalState() -> OptionalState {
        optionalStateStorage.ensureOptionalState(attempt: hasBegun ? 1 : 0)
    }

    /// Calls `body` with the optional state, which is made if there is none, and is not retained.
    @inline(__always)
    mutating func withEnsuredOptionalState<Result>(_ body: (OptionalState) -> Result) -> Result {
        if borrowedOptionalState == nil { _ = ensureOptionalState() }
        return borrowedOptionalState!.use(body)
    }

    mutating func takeOptionalState() -> OptionalState? { optionalStateStorage.takeOptionalState() }

    var timing: Timing? { optionalStateStorage.timing }

    /// Returns the operation's own timing, after converting shared limits into it. Nil if the operation has no limits.
    /// Called for an operation that runs.
    mutating func ownTiming() -> TimedState? {
        if case .limits = optionalStateStorage { _ = ensureOptionalState() }
        return optionalState?.timing
    }

    /// Returns the timing to configure, or nil once the operation has been added, because other threads may then read
    /// the optional state.
    @inline(__always)
    mutating func timingToChange() -> Unretained<TimedState>? {
        phase == .created ? optionalStateStorage.ensureTiming() : nil
    }

    /// Changes time limits and further attempts that other operations may share. Returns false if the operation has
    /// been added, or if it has optional state of its own, which must hold the limits.
    @inline(__always)
    mutating func changeSharedLimits(_ change: (inout SharedLimits.Values) -> Void) -> Bool {
        phase == .created && optionalStateStorage.changeShared(change)
    }
}
