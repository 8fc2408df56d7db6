import Synchronization

/// Fires timers when their time has come. One task sleeps until the earliest deadline, however many timers there are.
///
/// All queues with the continuous clock share one service; a queue with another clock has its own. When a timer is
/// removed, the task sleeps on, because most timers are removed before they fire, and the next one is usually later.
final class TimerService: Sendable {
    typealias Ticket = TimerHeap<Duration, EngineTimer>.Ticket

    fileprivate struct State {
        var timers = TimerHeap<Duration, EngineTimer>()
        /// The time at which the task wakes, or `nil` if there is no task.
        var wakeTime: Duration?
        /// The number of the task that sleeps. A task with an older number has been replaced.
        var number: UInt64 = 0
        var task: Task<Void, Never>?
    }

    static let shared = TimerService(TimeSource(ContinuousClock()), .background)

    private let time: TimeSource
    private let taskFactory: TaskFactory
    private let state = Locked(State())

    init(_ time: TimeSource, _ taskFactory: TaskFactory) {
        self.time = time
        self.taskFactory = taskFactory
    }

    /// The time on the clock of the deadlines. The caller holds no lock.
    var now: Duration { time.now }

    func add(_ timer: EngineTimer, at deadline: Duration) -> Ticket {
        let (ticket, replacement) = state.withLock { state -> (Ticket, Replacement?) in
            let ticket = state.timers.add(timer, at: deadline)
            if let wakeTime = state.wakeTime, wakeTime <= deadline { return (ticket, nil) }
            return (ticket, state.replaceTask(wakingAt: deadline))
        }
        if let replacement { start(replacement) }
        return ticket
    }

    /// Removes a timer. Returns `nil` if its time has come, or if it was removed before. The caller releases what the
    /// timer owned.
    @discardableResult
    func remove(_ ticket: Ticket) -> EngineTimer? { state.withLock { $0.timers.remove(ticket) } }

    /// Ends the task. The queue was released, and with it every operation that could have a timer.
    func stop() {
        let task = state.withLock { state in
            state.number += 1
            return state.task.take()
        }
        task?.cancel()
    }

    /// The number of timers, for tests.
    var count: Int { state.withLock { $0.timers.count } }

    // MARK: The task

    fileprivate struct Replacement {
        let number: UInt64
        let oldTask: Task<Void, Never>?
    }

    private func start(_ replacement: Replacement) {
        replacement.oldTask?.cancel()
        let task = taskFactory.spawn { await self.sleep(as: replacement.number) }
        let isCurrent = state.withLock { state in
            if state.number == replacement.number, state.wakeTime != nil { state.task = task }
            return state.number == replacement.number
        }
        if !isCurrent { task.cancel() }
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
            self.taskFactory.spawn { await self.sleep(as: number) }
        }
    }
}

extension TimerService.State {
    fileprivate mutating func replaceTask(wakingAt time: Duration) -> TimerService.Replacement {
        wakeTime = time
        number += 1
        return TimerService.Replacement(number: number, oldTask: task.take())
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
