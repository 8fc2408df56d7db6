/// The life of one operation as a state machine: created → added → executing → finishing → finished, or an early end.
///
/// Pure: no lock, clock or callback in it. `AnyOperation` locks, asks, unlocks, and then acts on the answer.
struct Lifecycle {
    enum Phase: UInt8 {
        case created
        case added
        case executing
        /// Its outcome is decided and not yet published: `willFinish` handlers run.
        case finishing
        case finished
    }

    private(set) var phase = Phase.created
    private(set) var isCancelled = false
    /// Everything that it needs is known to have been added.
    private(set) var isUpstreamAdded = false
    /// A lane has taken it up. It stays true after the finish.
    private(set) var hasBegun = false
    private let inputs: UInt32
    /// The lane whose task runs the body. The lane outlives the phase in which this is set.
    private(set) unowned(unsafe) var lane: Lane?
    private(set) var dependents = Dependents.none
    /// What few operations have. See ``Details``.
    private(set) var details: Details?

    init(inputCount: Int = 0) { inputs = UInt32(inputCount) }

    /// So many of the first edges hand over their outputs.
    var inputCount: Int { Int(inputs) }

    mutating func madeDetails() -> Details {
        if let details { return details }
        let made = Details()
        details = made
        return made
    }

    /// Nothing of a dead operation is released recursively; see ``Trampoline``.
    mutating func takeDetails() -> Details? { details.take() }

    // MARK: Adding

    enum Claim {
        /// It is the caller's to link. `isAwaited`: somebody already waits for it, so a cycle may be closed by it.
        case claimed(isAwaited: Bool)
        case addedBefore
        /// Added and done, or cancelled before anybody added it.
        case finishedBefore
    }

    mutating func claim() -> Claim {
        switch phase {
        case .created:
            phase = .added
            return .claimed(isAwaited: !dependents.isEmpty || details?.isAwaitedByBody == true)
        case .added, .executing: return .addedBefore
        case .finishing, .finished: return .finishedBefore
        }
    }

    mutating func upstreamWasAdded() { isUpstreamAdded = phase != .created }

    /// It waits for something or runs, or its last handlers do.
    var isUnderWay: Bool { phase != .created && phase != .finished }

    enum Registration {
        case registered(sourceWasAdded: Bool)
        /// Nothing will count down.
        case finishedBefore
    }

    @inline(__always)
    mutating func register(_ dependent: Unmanaged<AnyOperation>) -> Registration {
        if phase == .finished { return .finishedBefore }
        dependents.append(dependent)
        return .registered(sourceWasAdded: phase != .created)
    }

    // MARK: Running

    enum Beginning {
        /// Its end came while it was ready.
        case endedBefore
        case plain
        /// Something of ``Details`` is asked or told around the body.
        case withDetails
    }

    @inline(__always)
    mutating func begin(on lane: Lane) -> Beginning {
        switch phase {
        case .added:
            phase = .executing
            hasBegun = true
            self.lane = lane
            guard let details, details.surroundsBody else { return .plain }
            details.isStartOpen = true
            return .withDetails
        case .finished, .finishing, .created, .executing: return .endedBefore
        }
    }

    func bodyStarts() { details?.isStartOpen = false }

    /// A rule kept the body from running.
    mutating func bodyWasSkipped() {
        details?.isStartOpen = false
        hasBegun = false
    }

    /// Its body or its last handlers run. One that ended before it ran has no lane, and so no slot to lend.
    var canWait: Bool { phase == .executing || phase == .finishing }

    // MARK: Cancelling

    enum Cancellation {
        /// Cancelled before, or finished.
        case none
        /// Not added yet, or waiting or ready: it ends here.
        case beforeRun
        /// Its body runs: cancel the lane's task, after unlocking.
        case inRun(Lane)
    }

    mutating func cancel() -> Cancellation {
        if isCancelled { return .none }
        switch phase {
        case .created, .added:
            isCancelled = true
            return .beforeRun
        case .executing:
            isCancelled = true
            return .inRun(lane!)
        // Too late: the outcome is decided.
        case .finishing, .finished: return .none
        }
    }

    // MARK: Finishing

    /// The outcome is stored. False: nothing stands between it and its publication.
    mutating func beginFinishing() -> Bool {
        guard let details, details.handlers.beginFinishing() else { return false }
        phase = .finishing
        return true
    }

    /// The end of a run. Nil: `willFinish` handlers stand between the outcome and its publication.
    @inline(__always)
    mutating func finishRun() -> Ending? { details != nil && beginFinishing() ? nil : finish() }

    struct Ending {
        var dependents: Dependents
        var hasDetails: Bool
        var isCancelled: Bool
        /// Waits of the body that outlive it: its lane holds no slot.
        var hasOpenWaits: Bool
    }

    /// The one step that publishes the outcome. The caller has stored it.
    @inline(__always)
    mutating func finish() -> Ending {
        phase = .finished
        lane = nil
        let ending = Ending(
            dependents: dependents,
            hasDetails: details != nil,
            isCancelled: isCancelled,
            hasOpenWaits: details.map { $0.openWaits > 0 } ?? false
        )
        dependents = .none
        return ending
    }
}
