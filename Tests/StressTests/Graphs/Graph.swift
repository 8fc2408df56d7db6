import Baton

/// The operations of a round, and what each of them waits for and does. The graph is a plain value that a seed
/// determines.
///
/// A node waits only for nodes with lower numbers, so no node waits for itself.
struct Graph: Sendable {
    /// True if no operation is cancelled, so there is one right outcome for each node.
    let isExact: Bool
    /// True if some nodes are barriers. The operations are then added one after another in the order of their numbers,
    /// so that barriers close no cycle.
    let hasBarriers: Bool
    /// True if a hook runs around every body.
    let hasHooks: Bool
    /// True if no action changes the width of a queue, so G23 can be checked.
    var keepsWidths: Bool
    var queues: [QueueNote] = []
    var nodes: [Node] = []
    var gateCount: Int
    /// The names that the exclusions of the nodes use.
    var names: [NameNote] = []
    /// The rates that limit when the nodes start.
    var rates: [RateNote] = []
    /// True if operations that hold names may wait for others, so that deadlocks arise.
    var holdersWait = false
    var conditionCount = 0
    var leafCount = 0

    var hasGroups: Bool { nodes.contains { $0.group != nil } }
    /// True if a body may call `run` of another queue than its own. A nested node runs in the queue of the body that
    /// runs it first.
    var runsInOtherQueues: Bool {
        queues.count > 1 && nodes.contains { $0.isNested && $0.steps.contains(where: \.runsByTheQueue) }
    }
}

struct QueueNote: Sendable {
    enum Release {
        case never
        case running
        /// The queue is suspended, and its operations that have not started end with `.queueReleased`.
        case suspended
    }

    var width: Int
    /// When the test releases its handle of the queue, while operations are unfinished.
    var release: Release
    var isSuspendedAtFirst: Bool
    var order = SchedulingOrder.depthFirst
    /// True if the queue carries the task-local of the round to bodies and handlers.
    var carriesMark = false
}

struct Node: Sendable {
    let id: Int
    /// The queue to which a driver adds the node, unless `run` or `add(to:)` of another node adds it first.
    var queue = 0
    /// True if only the bodies that run the node add it.
    var isNested = false
    /// True if only one body adds the node, by producing it.
    var isProduct = false
    /// True if the node is only ever a child of one group.
    var isMember = false
    /// The group whose child the node is.
    var owner: Int?
    /// The edge to the previous child, if the node is in an ordered group.
    var after: OrderEdge?
    /// The group that the node is, or nil if the node has a body.
    var group: GroupNote?
    var conditions: [ConditionNote] = []
    /// The exclusions of the node itself. Its conditions may have others.
    var exclusions: [ExclusionNote] = []
    /// The indices of the node's rates in the graph's list.
    var rates: [Int] = []
    /// True if the node is added as a barrier.
    var isBarrier = false
    /// True if the node has an executor of its own, other than the one of its queue.
    var hasExecutor = false
    var priority = OperationPriority.normal
    var inputs: [Int] = []
    var inputUse = InputUse.values
    /// The dependencies without a value. A source may occur twice, or be an input as well.
    var order: [OrderEdge] = []
    var steps: [Step] = []
    /// The attempts and repetitions of the body, or nil if it runs once.
    var attempts: AttemptNote?
    var limits = LimitNote()
    /// The delay of a node that passes its input on later.
    var delay: Duration?
    var throwsAtTheEnd = false
    var handlers = 0
    /// The number of `didStart` handlers, and of `didCancel` handlers.
    var tellers = 0
    /// The `willFinish` handlers.
    var lastSteps: [LastStep] = []
    /// The node that the last handler of this node cancels.
    var cancelsWhenFinished: Int?

    var name: String { "n\(id)" }
    var sources: [Int] { inputs + allOrder.map(\.source) }
    var allOrder: [OrderEdge] { after.map { order + [$0] } ?? order }
    /// True if the node has no body that a test can observe.
    var isBodyless: Bool { inputUse.isBodyless || group != nil }
    /// True if any node may use this one as a dependency or run it as a child.
    var isFree: Bool { !isProduct && !isMember }
}

/// A step of a body.
enum Step: Sendable {
    enum Errors {
        /// The body records the error and continues.
        case caught
        /// The body throws the error.
        case passedOn
    }

    enum Way {
        case oneByOne
        case taskGroup
        case asyncLet
        /// The first error ends the task group, which cancels the other children.
        case failingGroup
        /// The body calls `queue.run` on the node's own queue for one child after another.
        case queueRun
        /// The body calls `queue.run` in child tasks.
        case queueRunAsyncLet
        case queueRunTaskGroup

        /// True if the body runs no further child after one has failed and the error is passed on.
        var stopsAtAnError: Bool { self == .oneByOne || self == .queueRun }

        var isByTheQueue: Bool { self == .queueRun || self == .queueRunAsyncLet || self == .queueRunTaskGroup }
    }

    case yield(Int)
    case work(Int)
    /// Blocks its thread for some time if the node has an executor of its own.
    case block
    /// Cancels the task that the body runs on, and nothing else. This is the last step of a body.
    case cancelOwnTask
    case gate(Int, heedsCancel: Bool)
    case checkCancellation
    case value(Int, Errors)
    case run([Int], Way, Errors)
    /// Starts a child in a separate task and does not await it.
    case abandon(Int)
    case cancel(Int)
    case produce(Int)
    /// Adds a child to a group. The group may already have finished.
    case addToGroup(Int, group: Int)
    /// Waits for a gate. If the body is cancelled meanwhile, its `onCancel` handler cancels the given node.
    case cancelWhenCancelled(Int, gate: Int)
}

extension Step {
    /// The nodes that the step runs, and adds unless they have been added.
    var children: [Int] {
        switch self {
        case .run(let children, _, _): children
        case .abandon(let child): [child]
        case .yield, .work, .block, .cancelOwnTask, .gate, .checkCancellation, .value, .cancel, .produce, .addToGroup,
            .cancelWhenCancelled:
            []
        }
    }

    /// True if the step calls `run` of the node's own queue.
    var runsByTheQueue: Bool {
        if case .run(_, let way, _) = self { way.isByTheQueue } else { false }
    }

    /// The nodes whose operations the body needs a reference to.
    var targets: [Int] {
        switch self {
        case .value(let target, _), .cancel(let target), .produce(let target), .cancelWhenCancelled(let target, _),
            .addToGroup(let target, _):
            [target]
        case .run, .abandon, .yield, .work, .block, .cancelOwnTask, .gate, .checkCancellation: children
        }
    }
}
