/// Fires timers that are due at the same time, in order, on as many tasks as that takes.
///
/// To cancel an operation runs handlers of the user's, and a handler that blocks its thread must not delay other
/// timers. Therefore, while a timer that cancels is firing, another task is starting or has started to fire the timers
/// after it.
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
