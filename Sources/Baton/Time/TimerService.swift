/// Fires timers when their time has come. One task sleeps until the earliest deadline, however many timers there are.
///
/// All queues with the continuous clock share one service; a queue with another clock has its own. When a timer is
/// removed, the task sleeps on, because most timers are removed before they fire, and the next one is usually later.
/// A service with a clock of its own ends the sleep with the last timer, because a test counts the sleepers of a
/// `TestClock` to find out whether the next pause has begun.
final class TimerService: Sendable {
    typealias Ticket = TimerHeap<Duration, EngineTimer>.Ticket

    fileprivate struct State {
        var timers = TimerHeap<Duration, EngineTimer>()
        /// The time at which the task wakes, or `nil` if there is no task.
        var wakeTime: Duration?
        /// The number of the task that sleeps. A task with an older number has been replaced.
        var number: UInt64 = 0
        var task: CancellableTask?
    }

    static let shared = TimerService(TimeSource(ContinuousClock()), .background, sleepsWithoutTimers: true)

    private let time: TimeSource
    private let taskFactory: TaskFactory
    /// Whether the task sleeps on when the last timer was removed.
    private let sleepsWithoutTimers: Bool
    private let state = Locked(State())

    init(_ time: TimeSource, _ taskFactory: TaskFactory, sleepsWithoutTimers: Bool = false) {
        self.time = time
        self.taskFactory = taskFactory
        self.sleepsWithoutTimers = sleepsWithoutTimers
    }

    /// The time on the clock of the deadlines. The caller holds no lock.
    var now: Duration { time.now }

    /// True if times of `other` are deadlines here: clocks of different queues count from different starts.
    func counts(from other: TimeSource) -> Bool { time === other }

    /// Adds a timer.
    ///
    /// - Parameter store: Stores the ticket, or removes the timer if it is not needed any more. Called before any task
    ///   sleeps for this timer: a thread that sees the sleeper of a `TestClock` can cancel the operation, which removes
    ///   the timer and ends the sleep. The timer may fire before or during the call if a task sleeps already.
    func add(_ timer: EngineTimer, at deadline: Duration, store: (Ticket) -> Void) {
        let (ticket, replacement) = state.withLock { state -> (Ticket, Replacement?) in
            let ticket = state.timers.add(timer, at: deadline)
            if let wakeTime = state.wakeTime, wakeTime <= deadline { return (ticket, nil) }
            return (ticket, state.replaceTask(wakingAt: deadline))
        }
        store(ticket)
        if let replacement { start(replacement) }
    }

    /// Removes a timer. Returns `nil` if its time has come, or if it was removed before. The caller holds no lock, and
    /// releases what the timer owned.
    @discardableResult
    func remove(_ ticket: Ticket) -> EngineTimer? {
        let (timer, unneededTask) = state.withLock { state in
            let timer = state.timers.remove(ticket)
            let isUnneeded = !sleepsWithoutTimers && timer != nil && state.timers.count == 0
            return (timer, isUnneeded ? state.takeTask() : nil)
        }
        unneededTask?.cancel()
        return timer
    }

    /// Ends the task. The queue was released, and with it every operation that could have a timer.
    func stop() { state.withLock { $0.takeTask() }?.cancel() }

    /// The number of timers, for tests.
    var count: Int { state.withLock { $0.timers.count } }

    // MARK: The task

    fileprivate struct Replacement {
        let number: UInt64
        let task: CancellableTask
        let oldTask: CancellableTask?
    }

    private func start(_ replacement: Replacement) {
        replacement.oldTask?.cancel()
        replacement.task.spawn(with: taskFactory) { await self.sleep(as: replacement.number) }
    }

    private func sleep(as number: UInt64) async {
        while let wakeTime = state.withLock({ $0.number == number ? $0.wakeTime : nil }) {
            try? await time.sleep(until: time.nextWake(until: wakeTime))
            let now = now
            let (due, successor) = state.withLock { $0.wake(at: now, as: number) }
            if due.isEmpty {
                if Task.isCancelled { return sleepOnAnotherTask(as: number) }
                continue
            }
            // The successor starts first, because a timer may run cancellation handlers, which may take any time.
            if let successor { start(successor) }
            return FiringTimers(due, at: now, by: self).begin(on: taskFactory)
        }
    }
}

extension TimerService {
    /// Continues on another task, because this one is cancelled: it was replaced, or the clock's own `sleep` has
    /// cancelled it. The clock may do so each time, so the other task starts a millisecond later.
    private func sleepOnAnotherTask(as number: UInt64) {
        if !state.withLock({ $0.number == number }) { return }
        TimerThread.shared.call(after: .milliseconds(1)) {
            let replacement = self.state.withLock { state in
                state.number == number ? state.wakeTime.map { state.replaceTask(wakingAt: $0) } : nil
            }
            if let replacement { self.start(replacement) }
        }
    }
}

extension TimerService.State {
    /// Returns the task that sleeps, which the caller cancels. The next timer starts another one.
    fileprivate mutating func takeTask() -> CancellableTask? {
        wakeTime = nil
        number += 1
        return task.take()
    }

    fileprivate mutating func replaceTask(wakingAt time: Duration) -> TimerService.Replacement {
        wakeTime = time
        number += 1
        let (newTask, oldTask) = (CancellableTask(), task)
        task = newTask
        return TimerService.Replacement(number: number, task: newTask, oldTask: oldTask)
    }

    /// Removes the timers that are due. If there are others, returns a task that sleeps until the next one. If none is
    /// due, the calling task sleeps on until the earliest deadline.
    fileprivate mutating func wake(at now: Duration, as number: UInt64) -> ([DueTimer], TimerService.Replacement?) {
        if self.number != number { return ([], nil) }
        let due = timers.takeDue(at: now).map { DueTimer($0) }
        wakeTime = timers.next
        if due.isEmpty {
            if wakeTime == nil { task = nil }
            return ([], nil)
        }
        task = nil
        return (due, wakeTime.map { replaceTask(wakingAt: $0) })
    }
}

// MARK: - Timers

/// The entries of a ``TimerService``: what happens when a timer fires.
enum EngineTimer: Sendable {
    /// The current attempt of this worker has reached its time limit.
    case attemptLimit(Worker)
    /// The operation has waited for its start for as long as its limit allows. The timer does not retain the operation:
    /// the thread that starts or releases the operation removes the timer first.
    case waitingLimit(Unretained<AnyOperation>)
    /// The pause of the operation is over. The timer owns the reference that the queue holds to the operation, and
    /// passes it on to the thread that removes the timer.
    case pauseEnd(Unretained<AnyOperation>)
    /// A stall watch has to check whether its queue has progressed.
    case stall(StallTimer)
    /// It is the turn of the first operation that waits for a rate.
    case rate(RateTimer)
}

/// Keeps an operation of a queue alive, and keeps the queue from being idle.
final class HeldOperation: Sendable {
    private let reference: Unretained<AnyOperation>
    private let core: QueueCore?

    /// Retains an operation that cannot leave its queue during the call.
    init(_ operation: Unretained<AnyOperation>) {
        reference = Retained(operation.object).handOver()
        core = operation.use { $0.core }
        core?.holds.begin()
    }

    deinit {
        // The order matters: the queue may be idle when the hold has ended.
        Retained(handedOver: reference).release()
        core?.endHold()
    }

    func use(_ body: (AnyOperation) -> Void) {
        withExtendedLifetime(self) { reference.use(body) }
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

    /// True if the timer cancels an operation, which runs the user's cancellation handlers.
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
        case .waitingLimit: held?.use { $0.waitingLimitExpired(at: now) }
        case .pauseEnd(let operation): AnyOperation.pauseEnded(of: Retained(handedOver: operation))
        case .stall(let timer): timer.fire(at: now)
        case .rate(let timer): timer.fire()
        }
    }
}

// MARK: - Firing

/// Fires timers that are due at the same time, in order, on as many tasks as that takes.
///
/// Cancelling an operation runs the user's cancellation handlers, and a handler that blocks its thread must not delay
/// other timers. Therefore, while a timer that cancels is firing, another task is starting or has started to fire the
/// timers after it.
final class FiringTimers: Sendable {
    private struct Pending {
        /// The timers in reverse order, so that the next one is the last element.
        var timers: [DueTimer]
        var isTaskStarting = false
    }

    private let pending: Locked<Pending>
    private let now: Duration
    private let timerService: TimerService

    init(_ due: [DueTimer], at now: Duration, by timerService: TimerService) {
        pending = Locked(Pending(timers: due.reversed()))
        self.now = now
        self.timerService = timerService
    }

    /// Fires the timers on the calling task, which does nothing else, or on another one if the clock has cancelled that
    /// task.
    func begin(on taskFactory: TaskFactory) {
        if Task.isCancelled { fireOnAnotherTask(of: taskFactory) } else { fire(on: taskFactory) }
    }

    private func fire(on taskFactory: TaskFactory) {
        while let (timer, isFollowed) = next() {
            if isFollowed {
                taskFactory.spawn {
                    self.pending.withLock { $0.isTaskStarting = false }
                    self.fire(on: taskFactory)
                }
            }
            timer.fire(at: now, by: timerService)
            // A cancellation handler has cancelled this task. Another task fires the next timers, so that their
            // handlers are not affected.
            if Task.isCancelled { return fireOnAnotherTask(of: taskFactory) }
        }
    }

    private func fireOnAnotherTask(of taskFactory: TaskFactory) {
        taskFactory.spawn { self.fire(on: taskFactory) }
    }

    /// Returns the next timer. If `isFollowed` is true, the caller starts another task before it fires the timer.
    private func next() -> (DueTimer, isFollowed: Bool)? {
        pending.withLock { pending in
            guard let timer = pending.timers.popLast() else { return nil }
            let isFollowed = timer.cancels && !pending.isTaskStarting && !pending.timers.isEmpty
            if isFollowed { pending.isTaskStarting = true }
            return (timer, isFollowed)
        }
    }
}
