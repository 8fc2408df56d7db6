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

/// Keeps an operation of a queue alive, and the queue from being idle.
final class HeldOperation: Sendable {
    private let reference: Unmanaged<AnyOperation>
    private let core: QueueCore?

    /// To be called while the operation cannot leave its queue.
    init(_ operation: Unmanaged<AnyOperation>) {
        reference = operation.retain()
        core = operation._withUnsafeGuaranteedRef { $0.core }
        core?.beginHolding()
    }

    deinit {
        reference.release()
        core?.hasReleased()
    }

    func use(_ body: (AnyOperation) -> Void) {
        withExtendedLifetime(self) { reference._withUnsafeGuaranteedRef(body) }
    }
}

/// An alarm that has been taken out, because its time has come.
struct DueAlarm: Sendable {
    private let alarm: Alarm
    /// Of a limit.
    private let held: HeldOperation?

    /// To be called in the locked step in which the alarm is taken out: until then the operation is there.
    init(_ alarm: Alarm) {
        self.alarm = alarm
        held = if case .waitingLimit(let operation) = alarm { HeldOperation(operation) } else { nil }
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
        case .waitingLimit: held?.use { $0.waitingLimitCame(at: now) }
        case .pauseEnd(let operation): AnyOperation.pauseEnded(of: operation)
        case .stall(let alarm): alarm.ring(at: now)
        case .rate(let alarm): alarm.ring()
        }
    }
}

/// Alarms that are due at once, in order, on as many tasks as it takes: to cancel runs handlers of the user's, and one
/// that blocks its thread holds up no other alarm. While one rings that may do so, another task is coming for those
/// after it.
final class Ringing: Sendable {
    private struct Rest {
        /// The last one rings first.
        var alarms: [DueAlarm]
        var isTaskComing = false
    }

    private let rest: Locked<Rest>
    private let now: Duration
    private let timerService: TimerService

    init(_ due: [DueAlarm], at now: Duration, by timerService: TimerService) {
        rest = Locked(Rest(alarms: due.reversed()))
        self.now = now
        self.timerService = timerService
    }

    /// On the calling task, which has nothing else to do, unless the clock has cancelled it.
    func begin(on taskFactory: TaskFactory) {
        if Task.isCancelled { ringElsewhere(on: taskFactory) } else { ring(on: taskFactory) }
    }

    private func ring(on taskFactory: TaskFactory) {
        while let (alarm, isFollowed) = next() {
            if isFollowed {
                taskFactory.spawn {
                    self.rest.withLock { $0.isTaskComing = false }
                    self.ring(on: taskFactory)
                }
            }
            alarm.ring(at: now, by: timerService)
            // A handler of a cancel has cancelled the task: those of the next alarm are not to notice.
            if Task.isCancelled { return ringElsewhere(on: taskFactory) }
        }
    }

    private func ringElsewhere(on taskFactory: TaskFactory) {
        taskFactory.spawn { self.ring(on: taskFactory) }
    }

    /// `isFollowed`: another task has to be started first.
    private func next() -> (DueAlarm, isFollowed: Bool)? {
        rest.withLock { rest in
            guard let alarm = rest.alarms.popLast() else { return nil }
            let isFollowed = alarm.cancels && !rest.isTaskComing && !rest.alarms.isEmpty
            if isFollowed { rest.isTaskComing = true }
            return (alarm, isFollowed)
        }
    }
}
