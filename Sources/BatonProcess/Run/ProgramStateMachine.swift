/// The state machine of a started program. It decides when signals may be sent, when the program may be reaped, and
/// what its outcome is.
///
/// As soon as a process has been reaped, the system may reuse its process number. So no signal is sent after the
/// program was reaped, and the program is not reaped while a signal is being sent.
struct ProgramStateMachine {
    /// The reason for which this process ended the program.
    enum Reason {
        case cancelled
        case failed(any Error)
    }

    enum Action: Equatable {
        case none
        /// Send a signal to the whole group, then call ``signalSent()``.
        case signal
        /// Reap the program, which has exited. If `killingTheRest` is true, kill the rest of its group before.
        case reap(killingTheRest: Bool)
    }

    private(set) var reason: Reason?
    /// True if this process ended the program before it exited by itself, so its output is not complete.
    private(set) var isEndRequested = false
    private var hasExited = false
    private var pendingSignals = 0

    /// Ends the program. The first reason is kept. A cancellation that comes after the program's exit has no effect,
    /// but a failure of its output is kept.
    mutating func end(_ reason: Reason) -> Action {
        if hasExited {
            if case .failed = reason, self.reason == nil { self.reason = reason }
            return .none
        }
        if isEndRequested { return .none }
        self.reason = reason
        isEndRequested = true
        pendingSignals += 1
        return .signal
    }

    /// Handles the end of the grace period.
    mutating func graceIsOver() -> Action {
        assert(isEndRequested, "Internal inconsistency: a grace period that has not begun")
        // The program exited while the timer fired.
        if hasExited { return .none }
        pendingSignals += 1
        return .signal
    }

    mutating func signalSent() -> Action {
        assert(pendingSignals > 0, "Internal inconsistency: a signal that was not asked for")
        pendingSignals -= 1
        return hasExited && pendingSignals == 0 ? reap : .none
    }

    /// Notes that the program has exited. It has not been reaped yet.
    mutating func exited() -> Action {
        assert(!hasExited, "Internal inconsistency: a second exit")
        hasExited = true
        return pendingSignals == 0 ? reap : .none
    }

    private var reap: Action { .reap(killingTheRest: isEndRequested) }
}
