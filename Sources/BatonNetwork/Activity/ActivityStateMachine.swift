/// What is shown of the operations that run: on as soon as one does, off when none has for a while. Pure.
///
/// One task at a time does what it says; ``NetworkActivity`` locks, asks, unlocks, and starts it.
struct ActivityStateMachine {
    enum Step: Equatable {
        case show(Bool)
        /// Nothing is to be done before then.
        case sleep(until: Duration)
        /// The task is over; the next change starts another.
        case end
    }

    /// How long nothing has to run before that is shown.
    let delay: Duration

    /// By the numbers of the operations.
    private var running: Set<UInt64> = []
    private var isShown = false
    /// One has begun that nobody was told of: it is shown even if it has ended since.
    private var isNews = false
    private var idleSince = Duration.zero
    private var hasTask = false

    init(delay: Duration) { self.delay = min(delay, .longest) }

    var count: Int { running.count }

    /// True: the caller starts a task.
    mutating func started(_ id: UInt64) -> Bool {
        running.insert(id)
        if isShown || isNews { return false }
        isNews = true
        return claimTask()
    }

    /// One that does not run is ignored. True: the caller starts a task.
    mutating func ended(_ id: UInt64, at now: Duration) -> Bool {
        guard running.remove(id) != nil, running.isEmpty else { return false }
        idleSince = now
        return claimTask()
    }

    private mutating func claimTask() -> Bool {
        defer { hasTask = true }
        return !hasTask
    }

    /// For the task, again and again until its end.
    mutating func next(at now: Duration) -> Step {
        if isNews {
            (isNews, isShown) = (false, true)
            return .show(true)
        }
        if isShown, running.isEmpty {
            if now < idleSince + delay { return .sleep(until: idleSince + delay) }
            isShown = false
            return .show(false)
        }
        hasTask = false
        return .end
    }
}
