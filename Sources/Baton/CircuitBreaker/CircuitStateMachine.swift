/// The states of a ``CircuitBreaker``: closed → open → half-open → closed or open. A pure state machine.
struct CircuitStateMachine {
    /// The admission of an operation by the breaker.
    struct Admission: Sendable {
        /// The number of state changes before the admission. The outcome of an operation that was admitted in an
        /// earlier state says nothing about the current one.
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
        case admit(Admission)
        /// The operation may not run before this time has passed, or, if it is nil, before a trial has ended.
        case refuse(timeLeft: Duration?)
    }

    enum LookAction: Equatable {
        /// The breaker would admit an operation that asks it now.
        case pass
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

    /// Looks whether an operation that still has to wait would be admitted now. Neither admits it nor begins a trial,
    /// so an operation that ends while it waits leaves nothing behind.
    mutating func look(at now: Duration) -> LookAction {
        switch phase {
        case .closed, .halfOpen(nil): return .pass
        case .open(let since): return timeLeft(since: since, at: now).map { .refuse(timeLeft: $0) } ?? .pass
        case .halfOpen(_?): return .refuse(timeLeft: nil)
        }
    }

    /// Decides whether an operation may run now.
    mutating func ask(at now: Duration) -> AskAction {
        switch phase {
        case .closed: return .admit(Admission(changeCount: changeCount, trial: nil))
        case .open(let since):
            if let left = timeLeft(since: since, at: now) { return .refuse(timeLeft: left) }
            change(to: .halfOpen(trial: nil))
            return .admit(beginTrial())
        case .halfOpen(_?): return .refuse(timeLeft: nil)
        case .halfOpen(nil): return .admit(beginTrial())
        }
    }

    /// Returns the time for which a breaker that is open still allows no trial; nil if it allows one.
    private mutating func timeLeft(since: Duration, at now: Duration) -> Duration? {
        // If the clock has gone back, the open time begins again.
        if now < since { phase = .open(since: now) }
        let left = openTime - (now - min(since, now))
        return left > .zero ? left : nil
    }

    private mutating func beginTrial() -> Admission {
        lastTrial += 1
        phase = .halfOpen(trial: lastTrial)
        return Admission(changeCount: changeCount, trial: lastTrial)
    }

    /// Records the end of an admitted operation. A second end of the same admission, or one after a change of the
    /// state, changes nothing.
    ///
    /// - Parameter now: The time of a failure. It is not read for other verdicts.
    mutating func end(_ admission: Admission, as verdict: Verdict, at now: Duration) {
        if admission.changeCount != changeCount { return }
        switch (phase, verdict) {
        case (.closed, .success): phase = .closed(failures: 0)
        case (.closed(let failures), .failure):
            if failures + 1 < limit { phase = .closed(failures: failures + 1) } else { change(to: .open(since: now)) }
        // An admission can end twice: by the outcome, and by its release. Another trial may be running by then.
        case (.halfOpen(let trial), _) where trial != admission.trial: break
        case (.halfOpen, .success): change(to: .closed(failures: 0))
        case (.halfOpen, .failure): change(to: .open(since: now))
        case (.halfOpen, .nothing): phase = .halfOpen(trial: nil)
        case (.closed, .nothing): break
        // An open breaker admits no operation, and the check of `changeCount` has rejected earlier admissions.
        case (.open, _): preconditionFailure("Internal inconsistency: an open circuit breaker admitted an operation")
        }
    }

    private mutating func change(to next: Phase) {
        phase = next
        changeCount += 1
    }
}
