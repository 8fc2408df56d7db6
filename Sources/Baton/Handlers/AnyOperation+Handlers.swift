extension AnyOperation {
    /// Calls `handler` when the body starts; at once if it has started already, never if it does not run.
    ///
    /// The `didStart`, `didCancel`, `didProduce` and `didFinish` handlers of an operation run one after another, in the
    /// order in which their events occurred. Handlers of the same event run in the order in which they were added. They
    /// run on a task of their own that is not cancelled with the operation, each in the isolation domain that it
    /// declares (`{ @MainActor in … }`). A slow handler delays neither the body nor the queue nor other operations.
    /// Handlers may be added before or after the operation is added.
    ///
    /// - Parameter handler: Called at most once.
    /// - Returns: This operation.
    @discardableResult
    public final func didStart(_ handler: nonisolated(nonsending) @escaping @Sendable () async -> Void) -> Self {
        addHandler(at: .start) { _ in await handler() }
        return self
    }

    /// Calls `handler` with the reason when the operation is cancelled; at once if it was cancelled already.
    ///
    /// The handler is not called if nobody cancels the operation, or if the cancellation comes after the outcome was
    /// decided. While the body runs, the handler does not wait for the body, nor the body for the handler, even if the
    /// body blocks its thread.
    ///
    /// Runs like a ``didStart(_:)`` handler.
    ///
    /// - Parameter handler: Called at most once, with the reason of the cancellation.
    /// - Returns: This operation.
    @discardableResult
    public final func didCancel(
        _ handler: nonisolated(nonsending) @escaping @Sendable (CancellationReason) async -> Void
    ) -> Self {
        addHandler(at: .cancel) { await handler($0.reasonOfCancel) }
        return self
    }

    /// Calls `handler` with every operation that the body produces from now on.
    ///
    /// A body produces operations with ``OperationContext/produce(_:file:line:)``. Runs like a ``didStart(_:)``
    /// handler.
    ///
    /// - Parameter handler: Called once for each operation that is produced, with that operation.
    /// - Returns: This operation.
    @discardableResult
    public final func didProduce(
        _ handler: nonisolated(nonsending) @escaping @Sendable (AnyOperation) async -> Void
    ) -> Self {
        addHandlerForProducts { await handler($0) }
        return self
    }

    private final var reasonOfCancel: CancellationReason {
        let (reason, hasFinished) = withLifecycle { ($0.optionalState?.cancellationReason, $0.phase == .finished) }
        if let reason { return reason }
        if hasFinished, case .cancelled(let reason) = failure { return reason }
        return .requested
    }
}

extension AsyncOperation {
    /// Calls `handler` with the outcome before it is published, which happens when all such handlers have returned.
    ///
    /// Until then the operation has no ``result``, no dependent starts, and the operation keeps its permit, if its body
    /// ran. The handlers can inspect the outcome and take time, but change nothing: a cancellation comes too late now.
    ///
    /// The handlers run for every outcome, even if the operation is cancelled before it runs, and while the queue is
    /// suspended. They run one after another in the order in which they were added, on a task of their own that is not
    /// cancelled, each in the isolation domain that it declares. A handler that is added after the last one has
    /// returned delays nothing, and is called like a ``didFinish(_:)`` handler.
    ///
    /// A handler that awaits this operation's own ``value``, or any operation that needs this one, gets
    /// ``OperationError/dependencyCycle(_:)``. A handler that iterates this operation's ``AnyOperation/events`` or
    /// ``AnyOperation/progressUpdates`` to the end never returns, because these end with the operation.
    ///
    /// - Parameter handler: Called once, with the outcome.
    /// - Returns: This operation.
    @discardableResult
    public final func willFinish(
        _ handler: nonisolated(nonsending) @escaping @Sendable (Result<Output, OperationError>) async -> Void
    ) -> Self {
        addHandlerBeforeFinish { await handler(AsyncOperation<Output>.outcome(of: $0)) }
        return self
    }

    /// Calls `handler` once, when the outcome is visible; at once if it is visible already.
    ///
    /// Runs like a ``AnyOperation/didStart(_:)`` handler: in the order in which handlers were added, on a task of its
    /// own, in the isolation domain that it declares (`{ @MainActor result in … }`), without delaying the queue or
    /// other operations.
    ///
    /// - Parameter handler: Called once, with the outcome.
    /// - Returns: This operation.
    @discardableResult
    @inlinable
    public final func didFinish(
        _ handler: nonisolated(nonsending) @escaping @Sendable (Result<Output, OperationError>) async -> Void
    ) -> Self {
        // `Self.outcome` would capture the type, which allocates an object for each handler, even for one that captures
        // nothing.
        addHandlerAtFinish { await handler(AsyncOperation<Output>.outcome(of: $0)) }
        return self
    }

    @inlinable
    static func outcome(of operation: AnyOperation) -> Result<Output, OperationError> {
        // The handler list of an operation calls its handlers with that operation alone, so the type is right.
        operation.withOutput(Output.self).finishedResult
    }
}

// MARK: - Calls

/// The calls of handlers. Handlers that are due are called one after another, in order, on a task of their own, so a
/// slow one delays neither the queue nor other operations, and a cancellation of the operation does not reach them.
extension AnyOperation {
    /// Adds a handler for a phase. If the phase has passed, the handler is due at once.
    final func addHandler(at phase: HandlerPhase, _ handler: @escaping HandlerList.Call) {
        register { handlers, _ in handlers.add(at: phase, handler) }
    }

    /// The entry point for closures that another module makes and specializes.
    @usableFromInline
    final func addHandlerAtFinish(_ handler: nonisolated(nonsending) @escaping @Sendable (AnyOperation) async -> Void) {
        addHandler(at: .finish, handler)
    }

    final func addHandlerBeforeFinish(_ handler: @escaping HandlerList.Call) {
        register { handlers, isFinished in
            if isFinished { handlers.add(at: .finish, handler) } else { handlers.addBeforeFinish(handler) }
        }
    }

    final func addHandlerForProducts(_ handler: @escaping HandlerList.Call) {
        withLifecycle { life in
            if life.phase != .finished { life.ensureOptionalState().handlers.add(at: .product, handler) }
        }
    }

    private final func register(_ add: (inout HandlerList, _ isFinished: Bool) -> Void) {
        let due = withLifecycle { life -> (HandlerList.Actions, QueueCore?)? in
            let isFinished = life.phase == .finished
            life.withEnsuredOptionalState { add(&$0.handlers, isFinished) }
            // No phase has passed before the operation is added or cancelled.
            if life.phase == .created { return nil }
            return (makePassedPhasesDue(life), life.isUnderWay ? self.core : nil)
        }
        if let (actions, core) = due, actions.isDue { callDueHandlers(from: core ?? QueueDirectory.find(queueNumber)) }
    }

    /// Makes the handlers due whose phases have passed, in the order of the phases, whichever thread calls this first.
    /// The caller holds the operation's lock, and performs the actions after unlocking.
    final func makePassedPhasesDue(_ life: Lifecycle) -> HandlerList.Actions {
        guard let optionalState = life.optionalState else { return HandlerList().actions }
        return makePassedPhasesDue(life, optionalState)
    }

    /// Makes the handlers due whose phases have passed, for a caller that has the optional state.
    final func makePassedPhasesDue(_ life: borrowing Lifecycle, _ optionalState: OptionalState) -> HandlerList.Actions {
        if !optionalState.handlers.hasHadAny { return optionalState.handlers.actions }
        // A cancellation between the worker's begin and the start of the body is handled after the start.
        if !optionalState.isStartPending {
            if life.hasBegun, life.phase != .executing || inputsHaveOutputs(life) {
                optionalState.handlers.makeDue(.start)
            }
            if life.isCancelled { optionalState.handlers.makeDue(.cancel) }
        }
        if life.phase != .finished { return optionalState.handlers.actions }
        optionalState.handlers.makeDue(.finish)
        return optionalState.handlers.takeUncalled()
    }

    /// Makes a task call the handlers that are due. Only one task at a time calls handlers of the operation.
    final func callDueHandlers(from core: QueueCore?) {
        guard let core else { return callDueHandlersWithoutQueue() }
        core.callDueHandlers(of: self)
    }

    private final func callDueHandlersWithoutQueue() {
        TaskFactory.outsideQueues.spawn {
            _ = await self.callHandlers(as: nil)
            if self.hasDueHandlers { self.callDueHandlersWithoutQueue() }
        }
    }

    final func noteProduct(_ product: AnyOperation, from core: QueueCore) {
        // The reference is made before this operation is locked, because making it takes the lock of `product`.
        let productReference = isObserved ? product.reference : nil
        let handlersAreDue = withLifecycle { life in
            life.optionalState?.handlers.makeDue(forProduct: product)
            if let productReference { life.note(.produced(productReference)) }
            return life.optionalState?.handlers.actions.isDue ?? false
        }
        if productReference != nil { publishEvents() }
        if handlersAreDue { callDueHandlers(from: core) }
    }

    /// Calls the handlers that are due, unless another task does. Returns true if a handler has cancelled the task,
    /// which leaves the remaining handlers to another task.
    @inline(__always)
    nonisolated(nonsending) final func callHandlers(as task: WorkerTaskContext?) async -> Bool {
        var isCancelled = false
        var (next, values) = withLifecycle { life in
            life.withEnsuredOptionalState { ($0.handlers.startCall(), $0.taskLocals) }
        }
        while let handler = next.take() {
            if let values { await values.bind { await handler.call(self) } } else { await handler.call(self) }
            isCancelled = task?.isTainted ?? Task.isCancelled
            next = withLifecycle { life in
                life.withEnsuredOptionalState { $0.handlers.nextDue(isCancelled: isCancelled) }
            }
        }
        if values.take() != nil { dropTaskLocalsIfOver() }
        return isCancelled
    }

    /// Releases the task-local values after the last handler has returned, because they contain the user's objects, and
    /// the operation may live for a long time. Between the finish and the call that makes the handlers of the finish
    /// due, these handlers still wait.
    private final func dropTaskLocalsIfOver() {
        let values = withLifecycle { life -> TaskLocalValues? in
            guard life.phase == .finished, let optionalState = life.optionalState, optionalState.handlers.hasEnded
            else {
                return nil
            }
            return optionalState.takeTaskLocals()
        }
        withExtendedLifetime(values) {}
    }

    /// True if a handler is due and no task calls handlers.
    final var hasDueHandlers: Bool { withLifecycle { $0.optionalState?.handlers.isDue ?? false } }
}
