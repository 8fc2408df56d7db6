/// Runs bodies that need more than a plain call: dependency policies, handlers, time limits, or hooks of the queue.
extension QueueCore {
    enum BodyRunResult {
        /// The outcome is stored.
        case decided
        /// The operation runs again later. The worker continues with this action.
        case away(Scheduler.WorkerAction)
        /// The operation is a group without a body of its own. The worker does not wait for the children.
        case group(ChildGroup)
    }

    /// Starts an operation that is not plain, and runs its body with everything around it, on the worker's task. Stores
    /// the outcome, unless the operation runs again or is a group.
    nonisolated(nonsending) func runSurrounded(_ operation: AnyOperation, on worker: Worker) async -> BodyRunResult {
        if let unmet = operation.unmetPolicy {
            operation.failWithoutRunning(with: .skipped(unmet))
            return .decided
        }
        guard operation.inputsHaveOutputs else {
            // The body itself reports which input has no output.
            await operation.body.take()!.run(for: Unretained(operation))
            return .decided
        }
        let (timing, executor, group) = publishStart(of: operation)
        if let group, timing == nil, executor == nil, startsPlainly { return .group(group) }
        let body = operation.body.take()!
        guard let timing else {
            await run(body, of: operation, on: executor)
            return .decided
        }
        let unretained = Unretained(operation)
        let hasTimeout = startAttempt(of: unretained, timing, on: worker)
        await run(body, of: operation, on: executor)
        let mayRunAgain = endAttempt(of: unretained, timing, on: worker, hasTimeout: hasTimeout)
        guard mayRunAgain, let action = await runAgain(operation, body) else { return .decided }
        return .away(action)
    }

    /// Runs the body with the hooks of the queue, on the operation's executor if it has one.
    private nonisolated(nonsending) func run(
        _ body: Body, of operation: AnyOperation, on executor: (any TaskExecutor)?
    ) async {
        if startsPlainly, executor == nil { return await body.run(for: Unretained(operation)) }
        if let executor {
            await withTaskExecutorPreference(executor) { await runInTaskLocals(body, of: operation) }
        } else {
            await runInTaskLocals(body, of: operation)
        }
    }

    private nonisolated(nonsending) func runInTaskLocals(_ body: Body, of operation: AnyOperation) async {
        let hooks = middleware.withLock { $0 }[...]
        if let values = operation.withLifecycle({ $0.optionalState?.taskLocals }) {
            await values.bind { await run(body, of: operation, inside: hooks) }
        } else {
            await run(body, of: operation, inside: hooks)
        }
    }

    /// True if the queue has no hooks and no task-locals to bind around the body.
    @inline(__always)
    var startsPlainly: Bool { !hasMiddleware.isSet }

    /// Calls the `willFinish` handlers, including those that are added in the meantime. They run on a task of their
    /// own, because the worker's task may be cancelled. The worker retains the operation.
    nonisolated(nonsending) func callHandlersBeforeFinish(of operation: Unretained<AnyOperation>) async {
        await services.spawn { await operation.object.callHandlersBeforeFinish(self) }.value
    }

    /// Marks the body as started, and publishes the start. Returns the parts of the optional state that the run needs.
    private func publishStart(
        of operation: AnyOperation
    ) -> (timing: Timing?, executor: (any TaskExecutor)?, group: ChildGroup?) {
        let (handlersAreDue, chainStarts, timing, executor, group) = operation.withLifecycle { life in
            life.startBody()
            return (
                operation.makePassedPhasesDue(life).isDue, life.optionalState?.takeChainStarts() ?? [],
                life.timing, life.optionalState?.executor, life.optionalState?.childGroups.first
            )
        }
        for chain in chainStarts { chain.note(time) }
        if operation.isObserved { operation.publishEvents() }
        if handlersAreDue { operation.callDueHandlers(from: self) }
        return (timing, executor, group)
    }

    private nonisolated(nonsending) func run(
        _ body: Body, of operation: AnyOperation, inside hooks: ArraySlice<Middleware>
    ) async {
        guard let outermost = hooks.first else { return await body.run(for: Unretained(operation)) }
        let isCalled = AtomicFlag()
        do {
            try await outermost.hook(OperationContext(operation)) {
                if !isCalled.setIfUnset() {
                    throw OperationError.misuse(outermost.misuse(.calledBodyTwice, of: operation))
                }
                await run(body, of: operation, inside: hooks.dropFirst())
                if let failure = operation.failure { throw failure.underlyingError ?? failure }
            }
            if !isCalled.isSet {
                operation.bodyFailed(.misuse(outermost.misuse(.leftBodyOut, of: operation)))
            }
        } catch {
            if !operation.hasFailed { operation.bodyThrew(error) }
        }
    }
}

/// A hook that a queue calls around every body, with the place of the call that has added it.
struct Middleware: Sendable {
    let hook: @Sendable (OperationContext, @Sendable () async throws -> Void) async throws -> Void
    let callSite: CallSite

    fileprivate func misuse(_ kind: Misuse.Kind, of operation: AnyOperation) -> Misuse {
        Misuse(kind, operation: operation.reference, callSite: callSite)
    }
}

extension AnyOperation {
    /// The reason to skip a ready operation: its first dependency whose policy is not met.
    final var unmetPolicy: SkipReason? {
        for edge in withLifecycle({ $0.optionalState?.policies ?? [] }) {
            if let reason = edge.skipReason { return reason }
        }
        return nil
    }
}

// MARK: - Task-local values

/// A type-erased task-local that a queue carries.
package struct CarriedTaskLocal: Sendable {
    /// Reads the value on the calling task, and returns it with the task-local that it belongs to.
    let capture: @Sendable () -> any TaskLocalBinding

    package init<Value: Sendable>(_ local: TaskLocal<Value>) {
        capture = { CapturedTaskLocal(local: local, value: local.get()) }
    }
}

/// A value of a task-local, to be bound on another task.
protocol TaskLocalBinding: Sendable {
    nonisolated(nonsending) func bind(_ body: nonisolated(nonsending) () async -> Void) async
    func bind(_ body: () -> Void)
}

private struct CapturedTaskLocal<Value: Sendable>: TaskLocalBinding {
    let local: TaskLocal<Value>
    let value: Value

    nonisolated(nonsending) func bind(_ body: nonisolated(nonsending) () async -> Void) async {
        await local.withValue(value) { await body() }
    }

    func bind(_ body: () -> Void) { local.withValue(value) { body() } }
}

extension QueueCore {
    /// Captures the values that the queue's task-locals have on the calling task. Nil if the queue carries none,
    /// which is asked before the object is made: a failing initializer would allocate one for each add.
    @inline(__always)
    var taskLocalValues: TaskLocalValues? { taskLocals.isEmpty ? nil : TaskLocalValues(of: taskLocals) }
}

/// The values that the task-locals of a queue had on the task that added an operation. All operations of one add share
/// one object.
final class TaskLocalValues: Sendable {
    private let bindings: [any TaskLocalBinding]

    /// Captures the values on the calling task.
    fileprivate init(of locals: [CarriedTaskLocal]) { bindings = locals.map { $0.capture() } }

    nonisolated(nonsending) func bind(_ body: nonisolated(nonsending) () async -> Void) async {
        await bind(bindings[...], body)
    }

    private nonisolated(nonsending) func bind(
        _ bindings: ArraySlice<any TaskLocalBinding>, _ body: nonisolated(nonsending) () async -> Void
    ) async {
        guard let first = bindings.first else { return await body() }
        await first.bind { await self.bind(bindings.dropFirst(), body) }
    }

    func bind(_ body: () -> Void) { bind(bindings[...], body) }

    private func bind(_ bindings: ArraySlice<any TaskLocalBinding>, _ body: () -> Void) {
        guard let first = bindings.first else { return body() }
        first.bind { bind(bindings.dropFirst(), body) }
    }
}
