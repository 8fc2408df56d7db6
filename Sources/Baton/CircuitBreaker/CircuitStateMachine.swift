/// The states of a ``CircuitBreaker``: closed → open → half-open → closed or open. A pure state machine.
struct CircuitStateMachine {
    /// The permission to run that the breaker gives to an operation.
    struct Permit: Sendable {
        /// The number of state changes before the permit. The outcome of an operation that was admitted in an earlier
        /// state says nothing about the current one.
        fileprivate let changeCount: UInt64
        /// The number of the trial; nil if the operation is not a trial.
        fileprivate let trial: UInt64?
    }

    /// The conclusion about the service that the breaker draws from the outcome of an operation.
    enum Verdict {
        case success
        case failure
        /// The operation was cancelled or has not run.
        case nothing
    }

    enum AskAction {
        case admit(Permit)
        /// The operation may not run before this time has passed, or, if it is nil, before a trial has ended.
        case refuse(timeLeft: Duration?)
    }

    private enum Phase {
        /// The number of operations that have failed in a row.
        case closed(failures: Int)
        case open(since: Duration)
        /// The number of the running trial; nil if the last trial has ended without a verdict, so that the next
        /// operation becomes the trial.
        case halfOpen(trial: UInt64?)
    }

    private let limit: Int
    private let openTime: Duration
    private var phase = Phase.closed(failures: 0)
    /// The number of state changes. The caller compares it to find out whether the state has changed since it looked.
    private(set) var changeCount: UInt64 = 0
    private var lastTrial: UInt64 = 0

    init(failures: Int, openTime: Duration) {
        limit = failures
        self.openTime = openTime
    }

    var state: CircuitBreaker.State {
        switch phase {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .halfOpen
        }
    }

    /// Decides whether an operation may run now.
    mutating func ask(at now: Duration) -> AskAction {
        switch phase {
        case .closed: return .admit(Permit(changeCount: changeCount, trial: nil))
        case .open(let since):
            // If the clock has gone back, the open time begins again.
            if now < since { phase = .open(since: now) }
            let left = openTime - (now - min(since, now))
            if left > .zero { return .refuse(timeLeft: left) }
            change(to: .halfOpen(trial: nil))
            return .admit(beginTrial())
        case .halfOpen(_?): return .refuse(timeLeft: nil)
        case .halfOpen(nil): return .admit(beginTrial())
        }
    }

    private mutating func beginTrial() -> Permit {
        lastTrial += 1
        phase = .halfOpen(trial: lastTrial)
        return Permit(changeCount: changeCount, trial: lastTrial)
    }

    /// Records the end of an admitted operation. A second end of the same permit, or one after a change of the state,
    /// changes nothing.
    ///
    /// - Parameter now: The time of a failure. It is not read for other verdicts.
    mutating func end(_ permit: Permit, as verdict: Verdict, at now: Duration) {
        if permit.changeCount != changeCount { return }
        switch (phase, verdict) {
        case (.closed, .success): phase = .closed(failures: 0)
        case (.closed(let failures), .failure):
            if failures + 1 < limit { phase = .closed(failures: failures + 1) } else { change(to: .open(since: now)) }
        // A permit can end twice: by the outcome, and by its release. Another trial may be running by then.
        case (.halfOpen(let trial), _) where trial != permit.trial: break
        case (.halfOpen, .success): change(to: .closed(failures: 0))
        case (.halfOpen, .failure): change(to: .open(since: now))
        case (.halfOpen, .nothing): phase = .halfOpen(trial: nil)
        case (.closed, .nothing): break
        // An open breaker admits no operation, and the check of `changeCount` has rejected permits of earlier states.
        case (.open, _): preconditionFailure("Internal inconsistency: an open circuit breaker admitted an operation")
        }
    }

    private mutating func change(to next: Phase) {
        phase = next
        changeCount += 1
    }
}
