import Baton

/// An event of a seeded run, in the order in which events occurred.
enum TraceEvent: Equatable, Sendable, CustomStringConvertible {
    /// `isAwaited` is true if a body awaits the operation, as its child or otherwise.
    case added(Int, queue: Int, isChild: Bool, isAwaited: Bool)
    /// `priorities` contains the priorities of all operations at that time, and nil for released operations.
    case started(Int, queue: Int, priorities: [OperationPriority?])
    case finished(OperationOutcome, Int, queue: Int)
    /// A synchronous add begins. All operations that it adds become ready in one step.
    case addBegan
    case addEnded
    /// The operation evaluates its conditions next.
    case asked(Int)
    case suspended(Int)
    case resumed(Int)
    case width(Int, Int)
    /// A driver sets the priority.
    case priority(Int)

    var description: String {
        switch self {
        case .added(let id, let queue, let isChild, _): "q\(queue) n\(id) added\(isChild ? " as a child" : "")"
        case .started(let id, let queue, _): "q\(queue) n\(id) started"
        case .finished(let outcome, let id, let queue): "q\(queue) n\(id) finished (\(outcome))"
        case .addBegan: "add {"
        case .addEnded: "}"
        case .asked(let id): "n\(id) is asked"
        case .suspended(let queue): "q\(queue) suspended"
        case .resumed(let queue): "q\(queue) resumed"
        case .priority(let id): "n\(id) has another priority"
        case .width(let queue, let width): "q\(queue) has width \(width)"
        }
    }
}
