/// What happens at a deadline. It does not retain its operation: whoever runs or releases that takes the alarm out before.
enum Alarm: Sendable {
    /// This attempt has taken as long as it may.
    case attemptLimit(Unmanaged<AnyOperation>, attempt: Int32, after: Duration, isLast: Bool)
    /// It has waited for its start as long as it may.
    case waitingLimit(Unmanaged<AnyOperation>)
    /// Its pause is over. The alarm has the reference that is the queue's; whoever takes it out has it from then on.
    case pauseEnd(Unmanaged<AnyOperation>)
}

/// An alarm that has been taken out, because its time has come.
struct DueAlarm: Sendable {
    private let alarm: Alarm

    /// Retains its operation. To be called in the locked step in which the alarm is taken out: until then the operation is
    /// there.
    init(_ alarm: Alarm) {
        self.alarm = alarm
        switch alarm {
        case .attemptLimit(let operation, _, _, _), .waitingLimit(let operation): _ = operation.retain()
        case .pauseEnd: break
        }
    }

    /// Outside every lock: to cancel runs handlers of the user's.
    consuming func ring() {
        switch alarm {
        case .attemptLimit(let operation, let attempt, let limit, let isLast):
            operation.takeRetainedValue().attemptLimitCame(of: attempt, after: limit, isLast: isLast)
        case .waitingLimit(let operation): operation.takeRetainedValue().waitingLimitCame()
        case .pauseEnd(let operation): AnyOperation.pauseEnded(of: operation)
        }
    }
}
