/// The life of an operation of ours as one of Foundation's. Pure; ``BridgedOperation`` locks, asks, unlocks, and acts.
///
/// Foundation wants to be told before and after each change, outside every lock. So a change is claimed first, by the
/// one who will make it, then announced, and made in between.
struct BridgeStateMachine {
    enum Phase: Equatable {
        /// Waits to be started by its queue.
        case idle
        /// Somebody has started it, and is about to say so.
        case starting
        case executing
        case finishing
        case finished
    }

    private(set) var phase = Phase.idle

    var isExecuting: Bool { phase == .executing || phase == .finishing }
    var isFinished: Bool { phase == .finished }

    /// False: somebody has started it before.
    mutating func claimStart() -> Bool {
        if phase != .idle { return false }
        phase = .starting
        return true
    }

    mutating func execute() {
        if phase == .starting { phase = .executing }
    }

    /// False: it has not begun, or somebody else finishes it.
    mutating func claimFinish() -> Bool {
        if phase != .executing { return false }
        phase = .finishing
        return true
    }

    mutating func finish() {
        if phase == .finishing { phase = .finished }
    }
}
