/// What few operations have, in a single word. Guarded by the operation's lock.
enum Extras {
    case none
    /// The first that is a reference, and so stored as it is, where LeakSanitizer finds it.
    case details(Details)
    /// Nothing but these, which others have, too.
    case limits(Unmanaged<SharedLimits>)

    /// Its own, if it has any.
    var details: Details? {
        if case .details(let details) = self { details } else { nil }
    }

    /// Without a reference of its own: nobody takes them away from the holder of the lock.
    @inline(__always)
    var borrowedDetails: Unmanaged<Details>? {
        if case .details(let details) = self { .passUnretained(details) } else { nil }
    }

    /// Nothing of a dead operation is released recursively; see ``Trampoline``.
    mutating func takeDetails() -> Details? {
        guard case .details(let details) = self else { return nil }
        self = .none
        return details
    }

    /// - Parameter attempt: Of the body; see ``TimedDetails/attempt``.
    @inline(__always)
    mutating func madeDetails(attempt: Int32) -> Details {
        if case .details(let details) = self { return details }
        return makeDetails(attempt)
    }

    @inline(never)
    private mutating func makeDetails(_ attempt: Int32) -> Details {
        let made =
            if case .limits(let limits) = self {
                TimedDetails(limits._withUnsafeGuaranteedRef(\.values), attempt: attempt)
            } else {
                Details()
            }
        self = .details(made)
        return made
    }

    // MARK: Limits

    var timing: Timing? {
        switch self {
        case .none: nil
        case .limits(let limits): .shared(limits)
        case .details(let details): details.borrowedTiming.map { .own($0) }
        }
    }

    /// Its own time limits, delays and further attempts: also for one that has had none.
    mutating func madeTiming() -> Unmanaged<TimedDetails>? {
        let details = madeDetails(attempt: 0)
        if details.timing == nil { self = .details(TimedDetails(after: details)) }
        return borrowedDetails?._withUnsafeGuaranteedRef { $0.borrowedTiming }
    }

    /// False: they are, or have to be, part of its details.
    @inline(__always)
    mutating func changeShared(_ change: (inout SharedLimits.Values) -> Void) -> Bool {
        var values: SharedLimits.Values
        switch self {
        case .none: values = SharedLimits.Values()
        case .limits(let limits): values = limits._withUnsafeGuaranteedRef(\.values)
        case .details: return false
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
    case own(Unmanaged<TimedDetails>)

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

/// What few operations have: details, or limits that they share with others.
extension Lifecycle {
    var details: Details? { extras.details }

    @inline(__always)
    var borrowedDetails: Unmanaged<Details>? { extras.borrowedDetails }

    @inline(__always)
    mutating func madeDetails() -> Details { extras.madeDetails(attempt: hasBegun ? 1 : 0) }

    /// As above, without a reference of its own.
    @inline(__always)
    mutating func inMadeDetails<Result>(_ body: (Details) -> Result) -> Result {
        if borrowedDetails == nil { _ = madeDetails() }
        return borrowedDetails!._withUnsafeGuaranteedRef(body)
    }

    mutating func takeDetails() -> Details? { extras.takeDetails() }

    var timing: Timing? { extras.timing }

    /// For one that runs: its own, if it has limits or further attempts.
    mutating func madeTiming() -> TimedDetails? {
        if case .limits = extras { _ = madeDetails() }
        return details?.timing
    }

    /// Nil after the add: then somebody may look at the details that are there.
    @inline(__always)
    mutating func timingToChange() -> Unmanaged<TimedDetails>? { phase == .created ? extras.madeTiming() : nil }

    /// Time limits and further attempts that others may have, too. False: it is too late, or they have to be its own.
    @inline(__always)
    mutating func changeSharedLimits(_ change: (inout SharedLimits.Values) -> Void) -> Bool {
        phase == .created && extras.changeShared(change)
    }
}
