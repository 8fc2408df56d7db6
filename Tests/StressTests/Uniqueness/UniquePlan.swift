import Baton

/// A round of operations that share a few identities, over several queues: what they are, and who adds and cancels
/// what. A plain value; a seed decides it.
struct UniquePlan: Sendable {
    var queues: [QueueNote] = []
    var nodes: [UniqueNode] = []
    /// One list for each of several tasks.
    var drivers: [[UniqueAction]]
    let keyCount: Int
    let gateCount = 2
    /// Operations are added one at a time, so that under a seed it is known what each one finds.
    let addsOneByOne: Bool
}

struct UniqueNode: Sendable {
    let id: Int
    /// Nil: it is like no other.
    let key: Int?
    let policy: UniquenessPolicy
    let queue: Int
    /// Only ever run by bodies.
    let isNested: Bool
    /// An operation of its own, which nobody else needs or adds, comes first.
    let hasPrivateSource: Bool
    var input: Int?
    var order: [Int] = []
    var steps: [UniqueStep] = []
    /// So many attempts fail before one does not.
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
    /// In the node's context.
    case run(Int)
    case cancel(Int)
}

enum UniqueAction: Sendable {
    case add(Int)
    case addTogether([Int], queue: Int)
    /// With all that it needs.
    case addWithSources(Int)
    /// By a task of its own, which is cancelled after so many yields.
    case run(Int, cancelledAfter: Int?)
    case cancel(Int)
    /// All of them.
    case cancelKey(Int)
    case openGate(Int)
    case resume(Int)
    case pause(Int)
    case passTime(Duration)
}
