/// Who adds an operation, which decides what it passes.
enum Origin {
    case outside
    /// A body, with `context.produce`.
    case produced
    /// A body that awaits it.
    case awaited
    /// A body that awaits it as its child.
    case child
}

/// What stands between an add and the queue.
enum Door: Equatable {
    case open
    /// It starts after this one.
    case behind(AnyOperation)
    /// It does not run.
    case closed

    static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.open, .open), (.closed, .closed): true
        case (.behind(let left), .behind(let right)): left === right
        case (.open, _), (.behind, _), (.closed, _): false
        }
    }
}

/// How far a queue has shut down.
enum Closing {
    case not
    /// What is in it goes on, with all that it runs and produces.
    case toOutside
    case toAll
}

extension QueueCore.State {
    /// What a body awaits goes before a barrier, because the barrier waits for that body.
    func door(for origin: Origin) -> Door {
        switch (origin, closing) {
        case (_, .toAll), (.outside, .toOutside): return .closed
        case (.outside, .not), (.produced, _): return barrier.map { .behind($0) } ?? .open
        case (.awaited, _), (.child, _): return .open
        }
    }
}

extension QueueCore {
    /// Called by the thread that links the operation, before it does so.
    @inline(__always)
    func pass(_ operation: AnyOperation, _ door: Door) {
        switch door {
        case .open: break
        case .behind(let barrier): stand(operation, behind: barrier)
        // The linking finds this end, and settles it.
        case .closed: _ = operation.endBeforeRun(with: .queueShutDown)
        }
    }

    private func stand(_ operation: AnyOperation, behind barrier: AnyOperation) {
        operation.life.withLock { _ in operation.edges.append(barrier) }
        if barrier.hasFinished { forget(barrier) }
    }

    private func forget(_ barrier: AnyOperation) {
        state.withLock { if $0.barrier === barrier { $0.barrier = nil } }
    }
}
