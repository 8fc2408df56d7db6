/// The time limit of the attempt that a worker runs. Pure; the worker locks it, asks, unlocks, and sets timers.
///
/// There is one timer for a worker, and not for an attempt: most attempts end in time, and a timer that finds another
/// attempt than the one it was set for is set anew. So an attempt takes the worker's own lock twice, and the timer
/// service's hardly ever.
struct AttemptTimeout {
    struct Attempt {
        /// Not retained: the worker ends the watch before anybody can let it go.
        let operation: Unmanaged<AnyOperation>
        /// Of its body. Attempts are numbered anew when an operation repeats.
        let run: Int32
        let end: Duration
        let limit: Duration
        /// There is none after it, whatever the policy says.
        let isLast: Bool
    }

    /// The worker does this when a timer fires.
    enum Action {
        case none
        case cut(Attempt, HeldOperation)
        case setTimer(Duration)
    }

    private var attempt: Attempt?
    /// A timer fires then, or earlier. Known before it is set.
    private var timerTime: Duration?
    private var ticket: TimerService.Ticket?

    /// Before the body. True: a timer has to be set for its end.
    mutating func begin(_ attempt: Attempt) -> Bool {
        self.attempt = attempt
        return needsTimer(at: attempt.end)
    }

    /// After the body.
    mutating func end() { attempt = nil }

    /// For explanations. Nil: it does not run here, or its limit is not counted from its own start.
    func start(of operation: AnyOperation) -> Duration? {
        guard let attempt, !attempt.isLast,
            attempt.operation.toOpaque() == Unmanaged.passUnretained(operation).toOpaque()
        else { return nil }
        return attempt.end - attempt.limit
    }

    /// Returns a timer that is not needed any more.
    mutating func timerWasSet(for time: Duration, _ ticket: TimerService.Ticket) -> TimerService.Ticket? {
        // It has fired already.
        if timerTime != time { return nil }
        defer { self.ticket = ticket }
        return self.ticket
    }

    mutating func timerFired(at now: Duration) -> Action {
        if let timerTime, timerTime <= now {
            self.timerTime = nil
            ticket = nil
        }
        guard let attempt else { return .none }
        if attempt.end > now { return needsTimer(at: attempt.end) ? .setTimer(attempt.end) : .none }
        self.attempt = nil
        return .cut(attempt, HeldOperation(attempt.operation))
    }

    mutating func takeTimer() -> TimerService.Ticket? { ticket.take() }

    private mutating func needsTimer(at time: Duration) -> Bool {
        if let timerTime, timerTime <= time { return false }
        timerTime = time
        return true
    }
}

extension Worker {
    func beginAttempt(_ attempt: AttemptTimeout.Attempt, _ timerService: TimerService) {
        if watch.withLock({ $0.begin(attempt) }) { setTimer(at: attempt.end, timerService) }
    }

    func endAttempt() { watch.withLock { $0.end() } }

    func timerFired(at now: Duration, _ timerService: TimerService) {
        switch watch.withLock({ $0.timerFired(at: now) }) {
        case .none: break
        case .cut(let attempt, let held):
            held.use { $0.attemptLimitCame(in: attempt.run, after: attempt.limit, isLast: attempt.isLast) }
        case .setTimer(let time): setTimer(at: time, timerService)
        }
    }

    /// It runs nothing more.
    func removeTimer(of timerService: TimerService) {
        if let ticket = watch.withLock({ $0.takeTimer() }) { timerService.remove(ticket) }
    }

    private func setTimer(at time: Duration, _ timerService: TimerService) {
        let ticket = timerService.add(.attemptLimit(self), at: time)
        if let former = watch.withLock({ $0.timerWasSet(for: time, ticket) }) { timerService.remove(former) }
    }
}
