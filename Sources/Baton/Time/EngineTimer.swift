/// The entries of a ``TimerService``: what happens when a timer fires.
enum EngineTimer: Sendable {
    /// The current attempt of this worker has reached its time limit.
    case attemptLimit(Worker)
    /// The operation has waited for its start for as long as its limit allows. The timer does not retain the operation:
    /// the thread that starts or releases the operation removes the timer first.
    case waitingLimit(Unmanaged<AnyOperation>)
    /// The pause of the operation is over. The timer owns the reference that the queue holds to the operation, and
    /// passes it on to the thread that removes the timer.
    case pauseEnd(Unmanaged<AnyOperation>)
    /// A stall watch has to check whether its queue has progressed.
    case stall(StallTimer)
    /// It is the turn of the first operation that waits for a rate.
    case rate(RateTimer)
}

/// Keeps an operation of a queue alive, and keeps the queue from being idle.
final class HeldOperation: Sendable {
    private let reference: Unmanaged<AnyOperation>
    private let core: QueueCore?

    /// Retains an operation that cannot leave its queue during the call.
    init(_ operation: Unmanaged<AnyOperation>) {
        reference = operation.retain()
        core = operation._withUnsafeGuaranteedRef { $0.core }
        core?.addHolder()
    }

    deinit {
        reference.release()
        core?.removeHolder()
    }

    func use(_ body: (AnyOperation) -> Void) {
        withExtendedLifetime(self) { reference._withUnsafeGuaranteedRef(body) }
    }
}

/// A timer that was removed from the heap because its time has come.
struct DueTimer: Sendable {
    private let timer: EngineTimer
    /// Retains the operation of a waiting limit or a pause.
    private let held: HeldOperation?

    /// Called in the locked step that removes the timer from the heap: up to that step the operation is certain to be
    /// alive.
    init(_ timer: EngineTimer) {
        self.timer = timer
        held =
            switch timer {
            case .waitingLimit(let operation), .pauseEnd(let operation): HeldOperation(operation)
            case .attemptLimit, .stall, .rate: nil
            }
    }

    /// True if the timer cancels an operation, which runs cancellation handlers of the user's.
    var cancels: Bool {
        switch timer {
        case .attemptLimit, .waitingLimit: true
        case .pauseEnd, .stall, .rate: false
        }
    }

    /// Performs what the timer is for. The caller holds no lock.
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
