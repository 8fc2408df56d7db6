import Baton

/// What a round runs: operations, and what each waits for and does. A plain value; a seed decides it.
///
/// Whatever a node waits for has a lower number, so nothing waits for itself.
struct Graph: Sendable {
    /// Nobody cancels anything, so that there is one right outcome for each node.
    let isExact: Bool
    /// Operations are added one after another, in the order of their numbers, so that barriers close no cycle.
    let hasBarriers: Bool
    /// A hook is around every body.
    let hasHooks: Bool
    /// Nobody changes a queue's width, so that G23 can be checked.
    var keepsWidths: Bool
    var queues: [QueueNote] = []
    var nodes: [Node] = []
    var gateCount: Int
    /// For exclusions to name.
    var names: [NameNote] = []
    /// For operations to start within.
    var rates: [RateNote] = []
    /// Who holds names may wait for others, so that deadlocks arise.
    var holdersWait = false
    var conditionCount = 0
    var leafCount = 0

    var hasGroups: Bool { nodes.contains { $0.group != nil } }
}

struct QueueNote: Sendable {
    enum Release {
        case never
        case running
        /// What has not begun gets `.queueReleased`.
        case suspended
    }

    var width: Int
    /// When the handle is let go, while operations are unfinished.
    var release: Release
    var isSuspendedAtFirst: Bool
}

struct Node: Sendable {
    let id: Int
    /// Where it is added, unless another one's `run` or `add(to:)` takes it along first.
    var queue = 0
    /// Only ever added by the bodies that run it.
    var isNested = false
    /// Only ever produced, by one body.
    var isProduct = false
    /// Only ever a child of one group.
    var isMember = false
    /// The group that has it.
    var owner: Int?
    /// In an ordered group.
    var after: OrderEdge?
    /// Nil: it has a body.
    var group: GroupNote?
    var conditions: [ConditionNote] = []
    /// Besides those of its conditions.
    var exclusions: [ExclusionNote] = []
    /// Their places in the graph's list.
    var rates: [Int] = []
    /// Added as a barrier.
    var isBarrier = false
    /// Its body runs elsewhere than its queue says.
    var hasExecutor = false
    var priority = OperationPriority.normal
    var inputs: [Int] = []
    var reading = Reading.values
    /// Order edges; one may be there twice, or be an input as well.
    var order: [OrderEdge] = []
    var steps: [Step] = []
    /// Nil: its body runs once.
    var attempts: AttemptNote?
    var limits = LimitNote()
    /// Of one that passes its input on later.
    var delay: Duration?
    var throwsAtTheEnd = false
    var handlers = 0
    /// Of each kind: `didStart` and `didCancel`.
    var tellers = 0
    /// `willFinish` handlers.
    var lastSteps: [LastStep] = []
    /// Its last handler cancels this one.
    var cancelsWhenFinished: Int?

    var name: String { "n\(id)" }
    var sources: [Int] { inputs + allOrder.map(\.source) }
    var allOrder: [OrderEdge] { after.map { order + [$0] } ?? order }
    /// It has no body that a test could look into.
    var isBodyless: Bool { reading.isBodyless || group != nil }
    /// Anybody may have it as a dependency or a child.
    var isFree: Bool { !isProduct && !isMember }
}

/// What a body does.
enum Step: Sendable {
    enum Errors {
        /// Noted and survived.
        case caught
        /// Thrown on.
        case passedOn
    }

    enum Way {
        case oneByOne
        case taskGroup
        case asyncLet
        /// The first error ends the group, which cancels the others.
        case failingGroup
        /// By `queue.run`, on the node's own queue, one by one.
        case queueRun
        /// The same, in child tasks.
        case queueRunAsyncLet
        case queueRunTaskGroup

        /// The next child is not run when one has failed and the error is passed on.
        var stopsAtAnError: Bool { self == .oneByOne || self == .queueRun }

        var isByTheQueue: Bool { self == .queueRun || self == .queueRunAsyncLet || self == .queueRunTaskGroup }
    }

    case yield(Int)
    case work(Int)
    /// Keeps its thread for a while, if that belongs to an executor of its own.
    case block
    /// Cancels the task that it runs on, and nothing else. The last step of a body.
    case cancelOwnTask
    case gate(Int, heedsCancel: Bool)
    case checkCancellation
    case value(Int, Errors)
    case run([Int], Way, Errors)
    /// Starts a child in a task of its own, and does not await it.
    case abandon(Int)
    case cancel(Int)
    case produce(Int)
    /// It may come too late.
    case addToGroup(Int, group: Int)
    /// Waits for a gate; when it is cancelled meanwhile, it cancels this one from `onCancel`.
    case cancelWhenCancelled(Int, gate: Int)
}

extension Step {
    /// The nodes that it runs, and adds if nobody has.
    var children: [Int] {
        switch self {
        case .run(let children, _, _): children
        case .abandon(let child): [child]
        case .yield, .work, .block, .cancelOwnTask, .gate, .checkCancellation, .value, .cancel, .produce, .addToGroup,
            .cancelWhenCancelled:
            []
        }
    }

    /// The nodes that the body must have in its hands.
    var targets: [Int] {
        switch self {
        case .value(let target, _), .cancel(let target), .produce(let target), .cancelWhenCancelled(let target, _),
            .addToGroup(let target, _):
            [target]
        case .run, .abandon, .yield, .work, .block, .cancelOwnTask, .gate, .checkCancellation: children
        }
    }
}
