import Baton

/// The way in which a graph is run: which driver adds which operations in which order, and what else the drivers do
/// meanwhile.
struct Plan: Sendable {
    /// The actions of each driver. A driver is a task.
    var drivers: [[Action]]
    /// False if the test releases each operation as soon as it has been added.
    var keepsOperations: Bool
    /// True if the queues report their events.
    var hasProbe: Bool
    var end: PlanEnd
    var observers: [ObserverNote] = []
}

/// The way in which a plan ends.
enum PlanEnd: Sendable {
    case idle
    /// Two tasks drain each queue at once, while a third task still adds operations.
    case drain
    /// Like `drain`, but with a time limit that is never reached.
    case shutdown
    /// The queues are shut down without a grace period, which cancels the remaining operations.
    case cutOff
}

enum Action: Sendable {
    /// Adds one operation, several operations or an array, all to one queue.
    case add([Int], queue: Int)
    case addTo(Int, queue: Int)
    case addBarrier(Int, queue: Int)
    /// Submits the operation in a separate task, which is cancelled after the given number of yields.
    case submit(Int, queue: Int, cancelledAfter: Int?)
    case limitWaiting(Int, to: Int)
    /// Runs the operation in a separate task, which is cancelled after the given number of yields.
    case run(Int, queue: Int, cancelledAfter: Int?)
    /// Awaits the outcome of the operation in a separate task.
    case observe(Int)
    /// Adds one handler of each kind.
    case addHandlers(Int)
    case explain(Int)
    case setPriority(Int, OperationPriority)
    /// Adds the observers that come late.
    case beginObserving
    case pause(Int)
    case openGate(Int)
    case suspend(Int)
    case resume(Int)
    case changeWidth(Int, to: Int)
    case cancel(Int, because: String?)
    /// Cancels one of the operations whose bodies are running.
    case cancelRunning(Int)
    /// Cancels one of the operations that are between two runs of their bodies.
    case cancelPaused(Int)
    case cancelAll(Int)
    /// Advances the clock of the scheduler although jobs can run.
    case passTime(Duration)
}
