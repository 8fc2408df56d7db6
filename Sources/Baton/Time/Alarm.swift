/// What happens at a deadline.
enum Alarm: Sendable {
    /// What this worker runs has taken as long as it may.
    case attemptLimit(Worker)
    /// It has waited for its start as long as it may. Not retained: whoever starts or releases it takes the alarm out
    /// before.
    case waitingLimit(Unmanaged<AnyOperation>)
    /// Its pause is over. The alarm has the reference that is the queue's; whoever takes it out has it from then on.
    case pauseEnd(Unmanaged<AnyOperation>)
    /// It is time to see whether anything has happened in a queue.
    case stall(StallAlarm)
    /// The first operation that waits for a rate has its turn.
    case rate(RateAlarm)
}

/// An alarm that has been taken out, because its time has come.
struct DueAlarm: Sendable {
    private let alarm: Alarm

    /// Retains its operation. To be called in the locked step in which the alarm is taken out: until then the operation
    /// is there.
    init(_ alarm: Alarm) {
        self.alarm = alarm
        switch alarm {
        case .waitingLimit(let operation): _ = operation.retain()
        case .attemptLimit, .pauseEnd, .stall, .rate: break
        }
    }

    /// It runs handlers of the user's.
    var cancels: Bool {
        switch alarm {
        case .attemptLimit, .waitingLimit: true
        case .pauseEnd, .stall, .rate: false
        }
    }

    /// Outside every lock.
    consuming func ring(at now: Duration, by timerService: TimerService) {
        switch alarm {
        case .attemptLimit(let worker): worker.alarmRang(at: now, timerService)
        case .waitingLimit(let operation): operation.takeRetainedValue().waitingLimitCame(at: now)
        case .pauseEnd(let operation): AnyOperation.pauseEnded(of: operation)
        case .stall(let alarm): alarm.ring(at: now)
        case .rate(let alarm): alarm.ring()
        }
    }
}
