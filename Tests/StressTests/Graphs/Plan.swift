import Baton

/// How a graph is run: who adds what and in which order, and what is done to it meanwhile.
struct Plan: Sendable {
    /// One list for each of several tasks.
    var drivers: [[Action]]
    /// Otherwise every handle is let go as soon as it is added.
    var keepsOperations: Bool
    /// Whether the queues report their events.
    var hasProbe: Bool
    /// How many operations a worker takes at once when it begins: small graphs would not teach it to take more.
    var initialBatchLimit: Int
    var ending: Ending
    var observers: [ObserverNote] = []
}

enum Action: Sendable {
    /// One, several or an array, all to one queue.
    case add([Int], queue: Int)
    case addTo(Int, queue: Int)
    case addBarrier(Int, queue: Int)
    /// By a task of its own, which is cancelled after so many yields.
    case submit(Int, queue: Int, cancelledAfter: Int?)
    case limitWaiting(Int, to: Int)
    /// By a task of its own, which is cancelled after so many yields.
    case run(Int, queue: Int, cancelledAfter: Int?)
    /// Awaits its value, in a task of its own.
    case observe(Int)
    /// Of each kind.
    case addHandlers(Int)
    case explain(Int)
    case setPriority(Int, OperationPriority)
    /// Those who come late.
    case beginObserving
    case pause(Int)
    case openGate(Int)
    case suspend(Int)
    case resume(Int)
    case changeWidth(Int, to: Int)
    case cancel(Int, because: String?)
    /// One of those whose bodies run at that moment.
    case cancelRunning(Int)
    /// One of those that have run, and will run again.
    case cancelPaused(Int)
    case cancelAll(Int)
    /// Under a seed time passes, although somebody can do something.
    case passTime(Duration)
}
