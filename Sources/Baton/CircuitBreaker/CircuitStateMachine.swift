/// Whether the operations of a ``CircuitBreaker`` may run: closed → open → half-open → closed or open. Pure.
struct CircuitStateMachine {
    /// The breaker gives it to an operation that may run.
    struct Permit: Sendable {
        /// How often the state had changed: what an operation of an earlier state has come to says nothing about this
        /// one.
        fileprivate let changeCount: UInt64
        /// Which trial it is; 0 if it is none.
        fileprivate var trial: UInt64 = 0
    }

    /// The meaning of an operation's outcome for the service.
    enum Verdict {
        case success
        case failure
        /// It was cancelled, or has not run.
        case nothing
    }

    enum AskAction {
        case admit(Permit)
        /// Until the time has passed. Nil: until a trial has ended.
        case refuse(timeLeft: Duration?)
    }

    private enum Phase {
        /// So many have failed in a row.
        case closed(failures: Int)
        case open(since: Duration)
        /// The trial of this number is under way. Nil: the one before has given its permission back.
        case halfOpen(trial: UInt64?)
    }

    private let limit: Int
    private let openTime: Duration
    private var phase = Phase.closed(failures: 0)
    /// How often the state has changed.
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

    /// Whether an operation may run now.
    mutating func ask(at now: Duration) -> AskAction {
        switch phase {
        case .closed: return .admit(Permit(changeCount: changeCount))
        case .open(let since):
            // The clock has gone back: the time begins again.
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

    /// An operation that was let run has ended. That may be told twice, and says nothing after a change of the state.
    mutating func end(_ permit: Permit, as verdict: Verdict, at now: Duration) {
        if permit.changeCount != changeCount { return }
        switch (phase, verdict) {
        case (.closed, .success): phase = .closed(failures: 0)
        case (.closed(let failures), .failure):
            if failures + 1 < limit { phase = .closed(failures: failures + 1) } else { change(to: .open(since: now)) }
        // A trial that has given its permission back is told again when it is released.
        case (.halfOpen(let trial), _) where trial != permit.trial: break
        case (.halfOpen, .success): change(to: .closed(failures: 0))
        case (.halfOpen, .failure): change(to: .open(since: now))
        case (.halfOpen, .nothing): phase = .halfOpen(trial: nil)
        // Nobody is let run by an open one.
        case (.closed, .nothing), (.open, _): break
        }
    }

    private mutating func change(to next: Phase) {
        phase = next
        changeCount += 1
    }
}
