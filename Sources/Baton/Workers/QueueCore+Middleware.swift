import Synchronization

/// What is around the body of few operations: preconditions and handlers of the operation, hooks of the queue.
extension QueueCore {
    enum SurroundedRun {
        /// Its outcome is stored.
        case decided
        /// It runs again later, and the worker goes on with this.
        case away(Scheduler.WorkerAction)
        /// Its children are all that runs, and need no task that waits for them.
        case group(ChildGroup)
    }

    /// Everything between taking an operation up and its outcome. On the task of its worker.
    nonisolated(nonsending) func runSurrounded(_ operation: AnyOperation, on worker: Worker) async -> SurroundedRun {
        if let unmet = operation.unmetPolicy {
            operation.bodyWasSkipped(.skipped(unmet))
            return .decided
        }
        guard operation.inputsHaveOutputs else {
            // It will say itself which input has no output.
            await operation.body.take()!.run(Execution(of: .passUnretained(operation)))
            return .decided
        }
        let (timing, executor, group) = tellStart(of: operation)
        if let group, timing == nil, executor == nil, startsPlainly { return .group(group) }
        let body = operation.body.take()!
        guard let timing else {
            await run(body, of: operation, on: executor)
            return .decided
        }
        let unretained = Unmanaged.passUnretained(operation)
        let isWatched = startAttempt(of: unretained, timing, on: worker)
        await run(body, of: operation, on: executor)
        let mayRunAgain = endAttempt(of: unretained, timing, on: worker, isWatched: isWatched)
        guard mayRunAgain, let action = await runAgain(operation, body) else { return .decided }
        return .away(action)
    }

    /// With its hooks, on its executor if it has one.
    private nonisolated(nonsending) func run(
        _ body: Body, of operation: AnyOperation, on executor: (any TaskExecutor)?
    ) async {
        if startsPlainly, executor == nil { return await body.run(Execution(of: .passUnretained(operation))) }
        if let executor {
            await withTaskExecutorPreference(executor) { await runInTaskLocals(body, of: operation) }
        } else {
            await runInTaskLocals(body, of: operation)
        }
    }

    private nonisolated(nonsending) func runInTaskLocals(_ body: Body, of operation: AnyOperation) async {
        let hooks = middleware.withLock { $0 }[...]
        if let values = operation.withLife({ $0.optionalState?.taskLocals }) {
            await values.bind { await run(body, of: operation, inside: hooks) }
        } else {
            await run(body, of: operation, inside: hooks)
        }
    }

    /// The queue itself asks or tells nothing around the body.
    @inline(__always)
    var startsPlainly: Bool { !hasMiddleware.load(ordering: .relaxed) }

    /// Those that come meanwhile included. The worker holds the operation; its own task may be cancelled.
    nonisolated(nonsending) func callHandlersBeforeFinish(of operation: Unmanaged<AnyOperation>) async {
        await services.spawn { await operation.takeUnretainedValue().callHandlersBeforeFinish(self) }.value
    }

    /// Returns what the body runs with. All are there until it has finished.
    private func tellStart(
        of operation: AnyOperation
    ) -> (timing: Timing?, executor: (any TaskExecutor)?, group: ChildGroup?) {
        let (delivers, chainStarts, timing, executor, group) = operation.withLife { life in
            life.bodyStarts()
            return (
                operation.reachPast(life).isDue, life.optionalState?.takeChainStarts() ?? [],
                life.timing, life.optionalState?.executor, life.optionalState?.childGroups.first
            )
        }
        for chain in chainStarts { chain.note(time) }
        if operation.isObserved { operation.tellEvents() }
        if delivers { operation.deliver(from: self) }
        return (timing, executor, group)
    }

    private nonisolated(nonsending) func run(
        _ body: Body, of operation: AnyOperation, inside hooks: ArraySlice<Middleware>
    ) async {
        guard let outermost = hooks.first else { return await body.run(Execution(of: .passUnretained(operation))) }
        let isCalled = Atomic<Bool>(false)
        do {
            try await outermost(OperationContext(operation)) {
                if isCalled.exchange(true, ordering: .relaxed) {
                    throw OperationError.misuse(Misuse(.calledBodyTwice, operation: operation.reference))
                }
                await run(body, of: operation, inside: hooks.dropFirst())
                if let failure = operation.failure { throw failure.underlyingError ?? failure }
            }
            if !isCalled.load(ordering: .relaxed) {
                operation.bodyFailed(.misuse(Misuse(.leftBodyOut, operation: operation.reference)))
            }
        } catch {
            if !operation.hasFailed { operation.bodyThrew(error) }
        }
    }
}

/// A hook around every body of a queue.
typealias Middleware =
    @Sendable (OperationContext, @Sendable () async throws -> Void) async throws -> Void

extension AsyncOperationQueue {
    /// Calls `hook` around every body that starts from now on, on the body's own task: for tracing and logging.
    ///
    /// ```swift
    /// queue.around { context, body in
    ///     try await Request.$id.withValue(nextID()) { try await body() }
    /// }
    /// ```
    ///
    /// Task-locals whose values come from whoever adds an operation are carried by the queue; see its initializer.
    ///
    /// The hook calls `body` once and passes its error on; `body` returns when the operation's body has, and throws
    /// what that threw. What the hook throws when the body has succeeded becomes the operation's error. A hook that
    /// does not call `body` and does not throw fails the operation with ``OperationError/misuse(_:)``. Of several hooks
    /// the first is outermost. Operations without a hook around them pay nothing.
    public func around(
        _ hook:
            @escaping @Sendable (
                _ context: OperationContext, _ body: @Sendable () async throws -> Void
            ) async throws -> Void
    ) {
        core.middleware.withLock { $0.append(hook) }
        core.hasMiddleware.store(true, ordering: .relaxed)
    }
}

extension AnyOperation {
    /// Of a ready operation: the first dependency whose policy is not met.
    final var unmetPolicy: SkipReason? {
        for edge in withLife({ $0.optionalState?.policies ?? [] }) {
            if let reason = edge.skipReason { return reason }
        }
        return nil
    }
}
