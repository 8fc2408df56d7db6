/// The state of an operation as a Foundation operation. It is pure: ``BridgedOperation`` locks it, asks it, unlocks it,
/// and acts.
///
/// Foundation requires a notification before and after each change, outside every lock. The thread that makes a change
/// therefore claims it first, then sends the first notification, makes the change, and sends the second one.
struct BridgeStateMachine {
    enum Phase: Equatable {
        /// The operation waits until its queue starts it.
        case idle
        /// A thread has claimed the start, and has not notified Foundation yet.
        case starting
        case executing
        case finishing
        case finished
    }

    private(set) var phase = Phase.idle

    var isExecuting: Bool { phase == .executing || phase == .finishing }
    var isFinished: Bool { phase == .finished }

    /// Returns false if another call has started the operation.
    mutating func claimStart() -> Bool {
        if phase != .idle { return false }
        phase = .starting
        return true
    }

    /// Makes the change that ``claimStart()`` has claimed.
    mutating func execute() {
        precondition(phase == .starting, "Internal inconsistency: a start that was not claimed")
        phase = .executing
    }

    /// Returns false if the operation is not executing, or if another thread finishes it.
    mutating func claimFinish() -> Bool {
        if phase != .executing { return false }
        phase = .finishing
        return true
    }

    /// Makes the change that ``claimFinish()`` has claimed.
    mutating func finish() {
        precondition(phase == .finishing, "Internal inconsistency: an end that was not claimed")
        phase = .finished
    }
}
