/// The time limit of the attempt that a worker runs. A pure value: the worker locks it, asks, unlocks, and sets timers.
///
/// Each worker has one timer, instead of one for each attempt, because most attempts end in time. A timer that fires
/// during another attempt than the one it was set for is set again for that attempt. So an attempt takes the worker's
/// own lock twice, and hardly ever that of the timer service.
struct AttemptTimeout {
    struct Attempt {
        /// Not retained: the worker calls ``AttemptTimeout/end()`` before anything can release the operation.
        let operation: Unretained<AnyOperation>
        /// The run of the body. Runs are told apart by this number, because attempts are counted from 1 again when an
        /// operation repeats.
        let run: Int32
        let end: Duration
        let limit: Duration
        /// True if no further attempt follows, whatever the backoff says.
        let isLast: Bool
    }

    /// The action that the worker performs when a timer fires.
    enum Action {
        case none
        case timedOut(Attempt, HeldOperation)
        case setTimer(Duration)
    }

    private var attempt: Attempt?
    /// A timer fires at this time or earlier. Stored before the timer is set.
    private var timerTime: Duration?
    private var ticket: TimerService.Ticket?

    /// Records the attempt before its body runs. Returns true if the caller has to set a timer for its end.
    mutating func begin(_ attempt: Attempt) -> Bool {
        assert(self.attempt == nil, "a worker runs one attempt at a time")
        self.attempt = attempt
        return needsTimer(at: attempt.end)
    }

    /// Forgets the attempt after its body has run.
    mutating func end() { attempt = nil }

    /// The start of the attempt, for explanations. Nil if the operation does not run here, or if its limit is not
    /// measured from the start of the attempt.
    func start(of operation: AnyOperation) -> Duration? {
        guard let attempt, !attempt.isLast,
            attempt.operation.refers(to: operation)
        else { return nil }
        return attempt.end - attempt.limit
    }

    /// Records the ticket of a timer that was set. Returns the ticket of a timer that is not needed any more, which may
    /// be this one.
    mutating func timerWasSet(for time: Duration, _ ticket: TimerService.Ticket) -> TimerService.Ticket? {
        // The timer has fired already, or another one has replaced it.
        if timerTime != time { return ticket }
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
        return .timedOut(attempt, HeldOperation(attempt.operation))
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
        if attemptTimeout.withLock({ $0.begin(attempt) }) { setTimer(at: attempt.end, timerService) }
    }

    func endAttempt() { attemptTimeout.withLock { $0.end() } }

    func timerFired(at now: Duration, _ timerService: TimerService) {
        switch attemptTimeout.withLock({ $0.timerFired(at: now) }) {
        case .none: break
        case .timedOut(let attempt, let held):
            held.use { $0.attemptLimitExpired(in: attempt.run, after: attempt.limit, isLast: attempt.isLast) }
        case .setTimer(let time): setTimer(at: time, timerService)
        }
    }

    /// Removes the timer of a worker that runs nothing more.
    func removeTimer(of timerService: TimerService) {
        if let ticket = attemptTimeout.withLock({ $0.takeTimer() }) { timerService.remove(ticket) }
    }

    private func setTimer(at time: Duration, _ timerService: TimerService) {
        timerService.add(.attemptLimit(self), at: time) { ticket in
            let unneeded = attemptTimeout.withLock { $0.timerWasSet(for: time, ticket) }
            if let unneeded { timerService.remove(unneeded) }
        }
    }
}
