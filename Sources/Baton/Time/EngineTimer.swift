/// What happens at a deadline.
enum EngineTimer: Sendable {
    /// What this worker runs has taken as long as it may.
    case attemptLimit(Worker)
    /// It has waited for its start as long as it may. Not retained: whoever starts or releases it takes the timer out
    /// before.
    case waitingLimit(Unmanaged<AnyOperation>)
    /// Its pause is over. The timer has the reference that is the queue's; whoever takes it out has it from then on.
    case pauseEnd(Unmanaged<AnyOperation>)
    /// It is time to see whether anything has happened in a queue.
    case stall(StallTimer)
    /// The first operation that waits for a rate has its turn.
    case rate(RateTimer)
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

/// A timer that has been taken out, because its time has come.
struct DueTimer: Sendable {
    private let timer: EngineTimer
    /// Of a limit or a pause.
    private let held: HeldOperation?

    /// To be called in the locked step in which the timer is taken out: until then the operation is there.
    init(_ timer: EngineTimer) {
        self.timer = timer
        held =
            switch timer {
            case .waitingLimit(let operation), .pauseEnd(let operation): HeldOperation(operation)
            case .attemptLimit, .stall, .rate: nil
            }
    }

    /// It runs handlers of the user's.
    var cancels: Bool {
        switch timer {
        case .attemptLimit, .waitingLimit: true
        case .pauseEnd, .stall, .rate: false
        }
    }

    /// Outside every lock.
    consuming func fire(at now: Duration, by timerService: TimerService) {
        switch timer {
        case .attemptLimit(let worker): worker.timerFired(at: now, timerService)
        case .waitingLimit: held?.use { $0.waitingLimitCame(at: now) }
        case .pauseEnd(let operation): AnyOperation.pauseEnded(of: operation)
        case .stall(let timer): timer.fire(at: now)
        case .rate(let timer): timer.fire()
        }
    }
}

/// Timers that are due at once, in order, on as many tasks as it takes: to cancel runs handlers of the user's, and one
/// that blocks its thread holds up no other timer. While one fires that may do so, another task is coming for those
/// after it.
final class FiringTimers: Sendable {
    private struct Rest {
        /// The last one fires first.
        var timers: [DueTimer]
        var isTaskComing = false
    }

    private let rest: Locked<Rest>
    private let now: Duration
    private let timerService: TimerService

    init(_ due: [DueTimer], at now: Duration, by timerService: TimerService) {
        rest = Locked(Rest(timers: due.reversed()))
        self.now = now
        self.timerService = timerService
    }

    /// On the calling task, which has nothing else to do, unless the clock has cancelled it.
    func begin(on taskFactory: TaskFactory) {
        if Task.isCancelled { fireElsewhere(on: taskFactory) } else { fire(on: taskFactory) }
    }

    private func fire(on taskFactory: TaskFactory) {
        while let (timer, isFollowed) = next() {
            if isFollowed {
                taskFactory.spawn {
                    self.rest.withLock { $0.isTaskComing = false }
                    self.fire(on: taskFactory)
                }
            }
            timer.fire(at: now, by: timerService)
            // A handler of a cancel has cancelled the task: those of the next timer are not to notice.
            if Task.isCancelled { return fireElsewhere(on: taskFactory) }
        }
    }

    private func fireElsewhere(on taskFactory: TaskFactory) {
        taskFactory.spawn { self.fire(on: taskFactory) }
    }

    /// `isFollowed`: another task has to be started first.
    private func next() -> (DueTimer, isFollowed: Bool)? {
        rest.withLock { rest in
            guard let timer = rest.timers.popLast() else { return nil }
            let isFollowed = timer.cancels && !rest.isTaskComing && !rest.timers.isEmpty
            if isFollowed { rest.isTaskComing = true }
            return (timer, isFollowed)
        }
    }
}
