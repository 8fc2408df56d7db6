/// The life of a program that was started: whom signals may go to, when it may be reaped, and why it ended.
///
/// A number of a process or a group may belong to somebody else as soon as it has been reaped. So nothing is sent after
/// that, and it is not reaped while something is being sent.
struct ProgramLife {
    /// Why it was ended from here.
    enum Reason {
        case cancelled
        case failed(any Error)
    }

    enum Step: Equatable {
        case none
        /// To the whole group; then ``signalSent()`` is to be called.
        case signal
        /// It has ended. What is left of its group is killed before, if it was ended from here.
        case reap(killingTheRest: Bool)
    }

    private(set) var reason: Reason?
    /// It was ended from here in time; what it leaves is not complete.
    private(set) var isEnded = false
    private var hasExited = false
    private var signalsOnTheWay = 0

    /// It is to be ended. The first reason is the one that stays; a cancel that comes after its exit is none.
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

    /// It was ended, and has not.
    mutating func graceIsOver() -> Step {
        // It has exited, and the alarm was on its way.
        if hasExited { return .none }
        signalsOnTheWay += 1
        return .signal
    }

    mutating func signalSent() -> Step {
        signalsOnTheWay -= 1
        return hasExited && signalsOnTheWay == 0 ? reap : .none
    }

    /// Nobody has reaped it.
    mutating func exited() -> Step {
        hasExited = true
        return signalsOnTheWay == 0 ? reap : .none
    }

    private var reap: Step { .reap(killingTheRest: isEnded) }
}
