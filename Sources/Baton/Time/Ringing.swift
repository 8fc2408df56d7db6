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
