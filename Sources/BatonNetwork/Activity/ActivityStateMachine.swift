/// Decides when network activity is shown: at once when an operation runs, until none has run for `delay`. It is pure.
///
/// ``NetworkActivity`` locks the machine, asks it, and unlocks it. At most one task at a time performs its steps.
struct ActivityStateMachine {
    enum Step: Equatable {
        case show(Bool)
        /// The task sleeps until this time, and then asks for the next step.
        case sleep(until: Duration)
        /// The task ends. The next change starts another one.
        case end
    }

    /// The time for which no operation must have run before the activity is shown as ended.
    let delay: Duration

    /// The identifiers of the operations that are running.
    private var running: Set<UInt64> = []
    private var isShown = false
    /// A Boolean value that indicates whether an operation has begun that has not been shown yet. It is shown even if
    /// it has ended since.
    private var hasUnshownStart = false
    private var idleSince = Duration.zero
    private var hasTask = false

    init(delay: Duration) { self.delay = min(delay, .longest) }

    var count: Int { running.count }

    /// Returns true if the caller has to start a task.
    mutating func started(_ id: UInt64) -> Bool {
        running.insert(id)
        if isShown || hasUnshownStart { return false }
        hasUnshownStart = true
        return claimTask()
    }

    /// Ignores an operation that does not run. Returns true if the caller has to start a task.
    mutating func ended(_ id: UInt64, at now: Duration) -> Bool {
        guard running.remove(id) != nil, running.isEmpty else { return false }
        idleSince = now
        return claimTask()
    }

    private mutating func claimTask() -> Bool {
        defer { hasTask = true }
        return !hasTask
    }

    /// Returns the next step of the task, which calls this repeatedly until it receives `end`.
    mutating func next(at now: Duration) -> Step {
        if hasUnshownStart {
            (hasUnshownStart, isShown) = (false, true)
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
