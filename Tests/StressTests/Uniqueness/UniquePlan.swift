import Baton

/// A round of operations on several queues that share a few unique keys, and the actions of the drivers that add and
/// cancel them. The plan is a plain value that a seed determines.
struct UniquePlan: Sendable {
    var queues: [QueueNote] = []
    var nodes: [UniqueNode] = []
    /// The actions of each driver. A driver is a task.
    var drivers: [[UniqueAction]]
    let keyCount: Int
    let gateCount = 2
    /// True if operations are added one at a time, so that under a seed the effect of each add is known.
    let addsOneByOne: Bool
}

struct UniqueNode: Sendable {
    let id: Int
    /// The unique key, or nil if the operation has none.
    let key: Int?
    let policy: UniquenessPolicy
    let queue: Int
    /// True if only bodies run the operation.
    let isNested: Bool
    /// True if the operation waits for a separate operation that nothing else needs or adds.
    let hasPrivateSource: Bool
    var input: Int?
    var order: [Int] = []
    var steps: [UniqueStep] = []
    /// The number of attempts that fail before one succeeds.
    var failures = 0
    var delay = Duration.zero
    var throwsAtTheEnd = false
    var waitingLimit: Duration?

    var sources: [Int] { (input.map { [$0] } ?? []) + order }
    var name: String { "n\(id)" }
}

enum UniqueStep: Sendable {
    case yield(Int)
    case gate(Int, heedsCancel: Bool)
    /// Runs a child in the node's context.
    case run(Int)
    case cancel(Int)
}

enum UniqueAction: Sendable {
    case add(Int)
    case addTogether([Int], queue: Int)
    /// Adds the operation with everything that it needs.
    case addWithSources(Int)
    /// Runs the operation in a separate task, which is cancelled after the given number of yields.
    case run(Int, cancelledAfter: Int?)
    case cancel(Int)
    /// Cancels all operations with the key.
    case cancelKey(Int)
    case openGate(Int)
    case resume(Int)
    case pause(Int)
    case passTime(Duration)
}
