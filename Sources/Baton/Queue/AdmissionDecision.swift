/// Who adds an operation, which decides what it passes.
enum SubmissionSource {
    case outside
    /// A body, with `context.produce`.
    case produced
    /// A body that awaits it.
    case awaited
    /// A body that awaits it as its child, inside the nearest operation that holds names.
    case child(of: AnyOperation, inside: AnyOperation?)

    var isChild: Bool {
        switch self {
        case .child: true
        case .outside, .produced, .awaited: false
        }
    }

    var nameHolder: AnyOperation? {
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

/// What stands between an add and the queue.
enum AdmissionDecision {
    case open
    /// It starts after the barriers behind which this stands.
    case behind(Fence)
    /// It does not run, and ends with this error.
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
    case not
    /// What is in it goes on, with all that it runs and produces.
    case toOutside
    case toAll
}

extension QueueCore.State {
    /// What a body awaits goes before a barrier, because the barrier may wait for that body: it is one of this queue,
    /// or one of another queue for which a body of this queue waits.
    func door(for origin: SubmissionSource) -> AdmissionDecision {
        switch (origin, closing) {
        case (_, .toAll), (.outside, .toOutside): return .closed(.queueShutDown)
        // Nobody could resume it.
        case (.produced, _) where isReleased && scheduler.isSuspended: return .closed(.queueReleased)
        case (.outside, .not), (.produced, _): return barriers.newest.map { .behind($0.behind) } ?? .open
        case (.awaited, _), (.child, _): return .open
        }
    }
}

extension QueueCore {
    /// Called by the thread that links the operation, before it does so.
    @inline(__always)
    func pass(_ operation: AnyOperation, _ door: AdmissionDecision) {
        switch door {
        case .open: break
        case .behind(let fence): stand(operation, behind: fence)
        // The linking finds this end, and settles it.
        case .closed(let error): _ = operation.endBeforeRun(with: error)
        }
    }

    private func stand(_ operation: AnyOperation, behind fence: Fence) {
        let hasJoined = operation.withLife { life in
            let hasJoined = life.optionalState?.uniqueness?.joined != nil
            if !hasJoined { operation.edges.append(fence) }
            return hasJoined
        }
        // It does not start.
        if hasJoined { fence.isLeft(by: operation) }
    }
}
