/// `didFinish` handlers run one after another, in the order in which they were added, on a task of their own: a slow one
/// delays neither the queue nor other operations, and a cancel does not reach them.
extension AnyOperation {
    /// Early or late: a handler that comes after the finish gets the outcome all the same.
    final func addHandler(_ handler: @escaping FinishHandler) {
        let startsNow = life.withLock { life in
            let details = life.madeDetails()
            details.handlers.append(handler)
            if life.phase != .finished || details.isDelivering { return false }
            details.isDelivering = true
            return true
        }
        if startsNow { deliver(from: QueueDirectory.find(queueNumber)) }
    }

    /// `isDelivering` is set: nobody else delivers.
    final func deliver(from core: QueueCore?) {
        core?.deliveryBegan()
        let operation = Unmanaged.passRetained(self)
        guard let core else {
            Spawner(executor: nil).spawn {
                await operation.takeUnretainedValue().runHandlers()
                operation.release()
            }
            return
        }
        core.spawner.spawn {
            await OwnTask.run(of: core) { _ in await operation.takeUnretainedValue().runHandlers() }
            // In this order: an idle queue has nothing alive.
            operation.release()
            core.deliveryEnded()
        }
    }

    private final func runHandlers() async {
        while let handler = nextHandler() { await handler(self) }
    }

    private final func nextHandler() -> FinishHandler? {
        life.withLock { life in
            let details = life.madeDetails()
            if details.handlers.isEmpty {
                details.isDelivering = false
                return nil
            }
            return details.handlers.removeFirst()
        }
    }
}
