import Synchronization

/// Wakes operations when their time has come: one task that sleeps until the earliest deadline, however many there are.
///
/// All queues with the continuous clock share one; a queue with another clock has its own. When a deadline is
/// taken out the task sleeps on: deadlines are mostly taken out in time, and the next one mostly comes later.
final class TimerService: Sendable {
    typealias Ticket = TimerHeap<Duration, EngineTimer>.Ticket

    fileprivate struct State {
        var deadlines = TimerHeap<Duration, EngineTimer>()
        /// When the task wakes. Nil: there is none.
        var wakeTime: Duration?
        /// Of the task that sleeps. One with an older number has been replaced.
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

    /// On the clock of its deadlines. To be asked outside every lock.
    var now: Duration { time.now }

    func add(_ timer: EngineTimer, at deadline: Duration) -> Ticket {
        let (ticket, replacement) = state.withLock { state -> (Ticket, Replacement?) in
            let ticket = state.deadlines.add(timer, at: deadline)
            if let wakeTime = state.wakeTime, wakeTime <= deadline { return (ticket, nil) }
            return (ticket, state.replaceTask(wakingAt: deadline))
        }
        if let replacement { start(replacement) }
        return ticket
    }

    /// Nil: its time has come, or it was taken out before. The caller has to see to what it kept alive.
    @discardableResult
    func remove(_ ticket: Ticket) -> EngineTimer? { state.withLock { $0.deadlines.remove(ticket) } }

    /// Its queue has gone, and with it every operation that could have a deadline.
    func stop() {
        let task = state.withLock { state in
            state.number += 1
            return state.task.take()
        }
        task?.cancel()
    }

    /// For tests.
    var count: Int { state.withLock { $0.deadlines.count } }

    // MARK: The task

    fileprivate struct Replacement {
        let number: UInt64
        let former: Task<Void, Never>?
    }

    private func start(_ replacement: Replacement) {
        replacement.former?.cancel()
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
                if Task.isCancelled { return sleepElsewhere(as: number) }
                continue
            }
            // First: a timer may run handlers of a cancel, which take their time.
            if let successor { start(successor) }
            return FiringTimers(due, at: now, by: self).begin(on: taskFactory)
        }
    }
}

extension TimerService {
    /// The task is cancelled: it has been replaced, or the clock's own `sleep` has done it. That may happen each time,
    /// so another one goes on in a moment.
    private func sleepElsewhere(as number: UInt64) {
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
        return TimerService.Replacement(number: number, former: task.take())
    }

    /// What is due fires, and if there is more another task sleeps until then. Nothing is due: the same task goes on,
    /// until what is now the earliest.
    fileprivate mutating func wake(at now: Duration, as number: UInt64) -> ([DueTimer], TimerService.Replacement?) {
        if self.number != number { return ([], nil) }
        let due = deadlines.takeDue(at: now).map { DueTimer($0) }
        wakeTime = deadlines.next
        if due.isEmpty {
            if wakeTime == nil { task = nil }
            return ([], nil)
        }
        task = nil
        return (due, wakeTime.map { replaceTask(wakingAt: $0) })
    }
}
