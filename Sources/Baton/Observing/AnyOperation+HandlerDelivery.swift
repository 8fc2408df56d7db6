/// The delivery of handlers. Handlers that are due are called one after another, in order, on a task of their own, so a
/// slow one delays neither the queue nor other operations, and a cancel of the operation does not reach them.
extension AnyOperation {
    /// Adds a handler, early or late. If its phase has passed, the handler is due at once.
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
        withLife { life in
            if life.phase != .finished { life.ensureOptionalState().handlers.add(at: .product, handler) }
        }
    }

    private final func register(_ add: (inout HandlerList, _ isFinished: Bool) -> Void) {
        let news = withLife { life -> (HandlerList.Actions, QueueCore?)? in
            let isFinished = life.phase == .finished
            life.withEnsuredOptionalState { add(&$0.handlers, isFinished) }
            // No phase has passed before the operation is added or cancelled.
            if life.phase == .created { return nil }
            return (makePassedPhasesDue(life), life.isUnderWay ? self.core : nil)
        }
        if let (actions, core) = news, actions.isDue { deliver(from: core ?? QueueDirectory.find(queueNumber)) }
    }

    /// Makes the handlers due whose phases have passed, in the order in which the phases came, no matter which thread
    /// notices. The caller holds the operation's lock, and performs the actions after unlocking.
    final func makePassedPhasesDue(_ life: Lifecycle) -> HandlerList.Actions {
        guard let optionalState = life.optionalState else { return HandlerList().actions }
        return makePassedPhasesDue(life, optionalState)
    }

    /// Makes the handlers due whose phases have passed, for a caller that has the optional state.
    final func makePassedPhasesDue(_ life: borrowing Lifecycle, _ optionalState: OptionalState) -> HandlerList.Actions {
        if !optionalState.handlers.hasHadAny { return optionalState.handlers.actions }
        // A cancel between the worker's begin and the start of the body is delivered after the start.
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
    final func deliver(from core: QueueCore?) {
        guard let core else { return deliverAlone() }
        core.deliver(self)
    }

    private final func deliverAlone() {
        let operation = Unmanaged.passRetained(self)
        TaskFactory.services.spawn {
            _ = await operation.takeUnretainedValue().callHandlers(as: nil)
            operation._withUnsafeGuaranteedRef { if $0.hasDueHandlers { $0.deliverAlone() } }
            operation.release()
        }
    }

    final func noteProduct(_ product: AnyOperation, from core: QueueCore) {
        // Makes the reference before this operation is locked, because it takes the lock of `product`.
        let told = isObserved ? product.reference : nil
        let delivers = withLife { life in
            life.optionalState?.handlers.makeDue(forProduct: product)
            if let told { life.note(.produced(told)) }
            return life.optionalState?.handlers.actions.isDue ?? false
        }
        if told != nil { publishEvents() }
        if delivers { deliver(from: core) }
    }

    /// Calls the handlers that are due, unless another task does. Returns true if a handler has cancelled the task,
    /// which leaves the remaining handlers to another task.
    @inline(__always)
    nonisolated(nonsending) final func callHandlers(as task: WorkerTaskContext?) async -> Bool {
        var isCancelled = false
        var (next, values) = withLife { life in
            life.withEnsuredOptionalState { ($0.handlers.startDelivery(), $0.taskLocals) }
        }
        while let handler = next.take() {
            if let values { await values.bind { await handler.call(self) } } else { await handler.call(self) }
            isCancelled = task?.isTainted ?? Task.isCancelled
            next = withLife { life in life.withEnsuredOptionalState { $0.handlers.nextDue(isCancelled: isCancelled) } }
        }
        if values.take() != nil { dropTaskLocalsIfOver() }
        return isCancelled
    }

    /// Drops the task-local values after the last handler has returned: they are the user's, and an operation may be
    /// kept for long.
    private final func dropTaskLocalsIfOver() {
        let values = withLife { life -> TaskLocalValues? in
            guard life.phase == .finished, let optionalState = life.optionalState, !optionalState.handlers.isDue else {
                return nil
            }
            return optionalState.takeTaskLocals()
        }
        withExtendedLifetime(values) {}
    }

    /// True if a handler is due and no task calls handlers.
    final var hasDueHandlers: Bool { withLife { $0.optionalState?.handlers.isDue ?? false } }
}
