/// The origin of an add. It decides whether barriers and a shutdown apply to the operation.
enum SubmissionSource {
    case outside
    /// A body adds the operation with `context.produce`.
    case produced
    /// A body awaits the operation.
    case awaited
    /// A body awaits the operation as its child. `inside` is the nearest ancestor that holds exclusions.
    case child(of: AnyOperation, inside: AnyOperation?)

    var isChild: Bool {
        switch self {
        case .child: true
        case .outside, .produced, .awaited: false
        }
    }

    var exclusionHolder: AnyOperation? {
        switch self {
        case .child(_, let holder): holder
        case .outside, .produced, .awaited: nil
        }
    }

    var parent: AnyOperation? {
        switch self {
        case .child(let parent, _): parent
        case .outside, .produced, .awaited: nil
        }
    }
}

/// What a queue does with an operation that is added.
enum AdmissionDecision {
    case open
    /// The operation starts after this fence has opened.
    case behind(Fence)
    /// The operation does not run, and ends with this error.
    case closed(OperationError)

    var isOpen: Bool {
        switch self {
        case .open: true
        case .behind, .closed: false
        }
    }

    var isClosed: Bool {
        switch self {
        case .closed: true
        case .open, .behind: false
        }
    }
}

/// How far a queue has shut down.
enum ShutdownState {
    case running
    /// The queue refuses operations from outside. Those in the queue go on, with everything that they run and produce.
    case draining
    /// The queue refuses all operations.
    case closed
}

extension QueueCore.State {
    /// Decides how an operation is added. An operation that a body awaits passes the barriers, because a barrier may
    /// wait for that body: it is a body of this queue, or of another queue for which a body of this queue waits.
    func admissionDecision(for origin: SubmissionSource) -> AdmissionDecision {
        switch (origin, shutdownState) {
        case (_, .closed), (.outside, .draining): return .closed(.queueShutDown)
        // Nobody can resume a released queue.
        case (.produced, _) where isReleased && scheduler.isSuspended: return .closed(.queueReleased)
        case (.outside, .running), (.produced, _): return barriers.newest.map { .behind($0.behind) } ?? .open
        case (.awaited, _), (.child, _): return .open
        }
    }
}

extension QueueCore {
    /// Applies the decision to an operation. Called by the thread that links the operation, before it does so.
    @inline(__always)
    func apply(_ decision: AdmissionDecision, to operation: AnyOperation) {
        switch decision {
        case .open: break
        case .behind(let fence): addDependency(on: fence, to: operation)
        // The thread that links the operation finds this end and completes it.
        case .closed(let error): _ = operation.endBeforeRun(with: error)
        }
    }

    private func addDependency(on fence: Fence, to operation: AnyOperation) {
        let hasJoined = operation.withLife { life in
            let hasJoined = life.optionalState?.uniqueness?.joined != nil
            if !hasJoined { operation.edges.append(fence) }
            return hasJoined
        }
        // An operation that has joined another one never starts.
        if hasJoined { fence.removeUser(operation) }
    }
}
