/// Handlers that are due are called one after another, in order, on a task of their own: a slow one delays neither the queue
/// nor other operations, and a cancel does not reach them.
extension AnyOperation {
    /// Adds a handler, early or late. One whose moment has passed is called all the same.
    final func addHandler(at moment: HandlerList.Moment, _ handler: @escaping HandlerList.Call) {
        register { life in life.madeDetails().handlers.add(at: moment, isPast: isPast(moment, life), handler) }
    }

    final func addHandlerBeforeFinish(_ handler: @escaping HandlerList.Call) {
        register { life in
            life.madeDetails().handlers.addBeforeFinish(isFinished: life.phase == .finished, handler)
        }
    }

    final func addHandlerForProducts(_ handler: @escaping HandlerList.ProductCall) {
        life.withLock { life in
            if life.phase != .finished { life.madeDetails().handlers.addForProducts(handler) }
        }
    }

    private final func register(_ handler: (inout Lifecycle) -> Bool) {
        let (delivers, core) = life.withLock { life in
            (handler(&life), life.isUnderWay ? self.core : nil)
        }
        if delivers { deliver(from: core ?? QueueDirectory.find(queueNumber)) }
    }

    /// Locked by the caller.
    private final func isPast(_ moment: HandlerList.Moment, _ life: Lifecycle) -> Bool {
        switch moment {
        case .start: life.hasBegun && (life.phase != .executing || inputsHaveOutputs(life))
        case .cancel: life.isCancelled
        case .finish: life.phase == .finished
        }
    }

    /// The list says that nobody else delivers.
    final func deliver(from core: QueueCore?) {
        core?.deliveryBegan()
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

    private final func callHandlers() async {
        while let handler = life.withLock({ $0.madeDetails().handlers.nextDue() }) { await handler(self) }
    }
}
