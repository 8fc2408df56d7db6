/// The time limit of the attempt that a worker runs. Pure; the worker locks it, asks, unlocks, and sets alarms.
///
/// There is one alarm for a worker, and not for an attempt: most attempts end in time, and an alarm that finds another
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

    /// What an alarm leads to.
    enum Ring {
        case none
        case cut(Attempt, HeldOperation)
        case setAlarm(Duration)
    }

    private var attempt: Attempt?
    /// An alarm rings then, or earlier. Known before it is set.
    private var alarmTime: Duration?
    private var ticket: TimerService.Ticket?

    /// Before the body. True: an alarm has to be set for its end.
    mutating func begin(_ attempt: Attempt) -> Bool {
        self.attempt = attempt
        return needsAlarm(at: attempt.end)
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

    /// Returns an alarm that is not needed any more.
    mutating func alarmWasSet(for time: Duration, _ ticket: TimerService.Ticket) -> TimerService.Ticket? {
        // It has rung already.
        if alarmTime != time { return nil }
        defer { self.ticket = ticket }
        return self.ticket
    }

    mutating func alarmRang(at now: Duration) -> Ring {
        if let alarmTime, alarmTime <= now {
            self.alarmTime = nil
            ticket = nil
        }
        guard let attempt else { return .none }
        if attempt.end > now { return needsAlarm(at: attempt.end) ? .setAlarm(attempt.end) : .none }
        self.attempt = nil
        return .cut(attempt, HeldOperation(attempt.operation))
    }

    mutating func takeAlarm() -> TimerService.Ticket? { ticket.take() }

    private mutating func needsAlarm(at time: Duration) -> Bool {
        if let alarmTime, alarmTime <= time { return false }
        alarmTime = time
        return true
    }
}

extension Worker {
    func beginAttempt(_ attempt: AttemptTimeout.Attempt, _ timerService: TimerService) {
        if watch.withLock({ $0.begin(attempt) }) { setAlarm(at: attempt.end, timerService) }
    }

    func endAttempt() { watch.withLock { $0.end() } }

    func alarmRang(at now: Duration, _ timerService: TimerService) {
        switch watch.withLock({ $0.alarmRang(at: now) }) {
        case .none: break
        case .cut(let attempt, let held):
            held.use { $0.attemptLimitCame(in: attempt.run, after: attempt.limit, isLast: attempt.isLast) }
        case .setAlarm(let time): setAlarm(at: time, timerService)
        }
    }

    /// It runs nothing more.
    func takeAlarmOut(of timerService: TimerService) {
        if let ticket = watch.withLock({ $0.takeAlarm() }) { timerService.remove(ticket) }
    }

    private func setAlarm(at time: Duration, _ timerService: TimerService) {
        let ticket = timerService.add(.attemptLimit(self), at: time)
        if let former = watch.withLock({ $0.alarmWasSet(for: time, ticket) }) { timerService.remove(former) }
    }
}
