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
