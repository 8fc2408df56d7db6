/// The life of one operation as a state machine: created → added → executing → finished, or an early end.
///
/// Pure: no lock, clock or callback in it. `AnyOperation` locks, asks, unlocks, and then acts on the answer.
struct Lifecycle {
    enum Phase: UInt8 {
        case created
        case added
        case executing
        case finished
    }

    private(set) var phase = Phase.created
    private(set) var isCancelled = false
    /// Everything that it needs is known to have been added.
    private(set) var isUpstreamAdded = false
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
        case .finished: return .finishedBefore
        }
    }

    mutating func upstreamWasAdded() { isUpstreamAdded = phase != .created }

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

    /// False: it was cancelled while it was ready.
    @inline(__always)
    mutating func begin(on lane: Lane) -> Bool {
        switch phase {
        case .added:
            phase = .executing
            self.lane = lane
            return true
        case .finished, .created, .executing: return false
        }
    }

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
        case .finished: return .none
        }
    }

    // MARK: Finishing

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
