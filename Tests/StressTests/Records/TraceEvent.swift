import Baton

/// What happened under a seed, in order.
enum TraceEvent: Equatable, Sendable, CustomStringConvertible {
    /// `isAwaited`: by a body, as its child or otherwise.
    case added(Int, queue: Int, isChild: Bool, isAwaited: Bool)
    /// `priorities`: of all operations at that time. Nil: it has gone.
    case started(Int, queue: Int, priorities: [OperationPriority?])
    case finished(OperationOutcome, Int, queue: Int)
    /// A synchronous add: what it adds becomes ready in one step.
    case addBegan
    case addEnded
    /// Its conditions' turn has come.
    case asked(Int)
    case suspended(Int)
    case resumed(Int)
    case width(Int, Int)
    /// It was set.
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
