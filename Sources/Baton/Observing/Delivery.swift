/// Handlers that are due are called one after another, in order, on a task of their own: a slow one delays neither the queue
/// nor other operations, and a cancel does not reach them.
extension AnyOperation {
    /// Adds a handler, early or late. One whose moment has passed is called all the same.
    final func addHandler(at moment: HandlerList.Moment, _ handler: @escaping HandlerList.Call) {
        register { handlers, _ in handlers.add(at: moment, handler) }
    }

    final func addHandlerBeforeFinish(_ handler: @escaping HandlerList.Call) {
        register { handlers, isFinished in
            if isFinished { handlers.add(at: .finish, handler) } else { handlers.addBeforeFinish(handler) }
        }
    }

    final func addHandlerForProducts(_ handler: @escaping HandlerList.ProductCall) {
        life.withLock { life in
            if life.phase != .finished { life.madeDetails().handlers.addForProducts(handler) }
        }
    }

    private final func register(_ add: (inout HandlerList, _ isFinished: Bool) -> Void) {
        let (effects, core) = life.withLock { life in
            add(&life.madeDetails().handlers, life.phase == .finished)
            return (reachPast(life), life.isUnderWay ? self.core : nil)
        }
        if effects.isDue { deliver(from: core ?? QueueDirectory.find(queueNumber)) }
    }

    /// The handlers of what has come to pass are due, in the order in which it came, whoever notices first. Locked by the
    /// caller, who acts on the effects after unlocking.
    final func reachPast(_ life: Lifecycle) -> HandlerList.Effects {
        guard let details = life.details else { return HandlerList().effects }
        // A cancel that comes between the lane and the body is told after the start.
        if !details.isStartOpen {
            if life.hasBegun, life.phase != .executing || inputsHaveOutputs(life) { details.handlers.reach(.start) }
            if life.isCancelled { details.handlers.reach(.cancel) }
        }
        if life.phase != .finished { return details.handlers.effects }
        details.handlers.reach(.finish)
        return details.handlers.takeUncalled()
    }

    /// Calls what is due, unless somebody else does.
    final func deliver(from core: QueueCore?) {
        // Counted first: an operation whose delivery has begun may leave the queue, which then must not be idle.
        core?.deliveryBegan()
        if !life.withLock({ $0.madeDetails().handlers.startDelivery() }) {
            core?.deliveryEnded()
            return
        }
        let operation = Unmanaged.passRetained(self)
        guard let core else {
            Spawner.anywhere.spawn {
                await operation.takeUnretainedValue().callHandlers()
                operation.release()
            }
            return
        }
        core.spawner.spawn {
            await OwnTask.run(of: core) { _ in await operation.takeUnretainedValue().callHandlers() }
            // In this order: an idle queue has nothing alive.
            operation.release()
            core.deliveryEnded()
        }
    }

    final func tellOfProduct(_ product: AnyOperation, from core: QueueCore) {
        let delivers = life.withLock { life in
            life.details?.handlers.reachProduct(product)
            return life.details?.handlers.effects.isDue ?? false
        }
        if delivers { deliver(from: core) }
    }

    private final func callHandlers() async {
        while let handler = life.withLock({ $0.madeDetails().handlers.nextDue() }) { await handler(self) }
    }
}
