/// The state machine of a started program. It decides when signals may be sent, when the program may be reaped, and
/// what its outcome is.
///
/// As soon as a process has been reaped, the system may reuse its process number. So no signal is sent after the
/// program was reaped, and the program is not reaped while a signal is being sent.
struct ProgramLife {
    /// The reason for which this process ended the program.
    enum Reason {
        case cancelled
        case failed(any Error)
    }

    enum Step: Equatable {
        case none
        /// Send a signal to the whole group, then call ``signalSent()``.
        case signal
        /// Reap the program, which has exited. If `killingTheRest` is true, kill the rest of its group before.
        case reap(killingTheRest: Bool)
    }

    private(set) var reason: Reason?
    /// True if this process ended the program before it exited by itself, so its output is not complete.
    private(set) var isEnded = false
    private var hasExited = false
    private var signalsOnTheWay = 0

    /// Ends the program. The first reason is kept. A cancel that comes after the program's exit has no effect, but a
    /// failure of its output is kept.
    mutating func end(_ reason: Reason) -> Step {
        if hasExited {
            if case .failed = reason, self.reason == nil { self.reason = reason }
            return .none
        }
        if isEnded { return .none }
        self.reason = reason
        isEnded = true
        signalsOnTheWay += 1
        return .signal
    }

    /// Handles the end of the grace period.
    mutating func graceIsOver() -> Step {
        // The program exited while the timer fired.
        if hasExited { return .none }
        signalsOnTheWay += 1
        return .signal
    }

    mutating func signalSent() -> Step {
        signalsOnTheWay -= 1
        return hasExited && signalsOnTheWay == 0 ? reap : .none
    }

    /// Notes that the program has exited. It has not been reaped yet.
    mutating func exited() -> Step {
        hasExited = true
        return signalsOnTheWay == 0 ? reap : .none
    }

    private var reap: Step { .reap(killingTheRest: isEnded) }
}
