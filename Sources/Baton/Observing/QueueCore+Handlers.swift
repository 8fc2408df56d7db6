/// The tasks that call handlers.
extension QueueCore {
    /// Makes a task call the handlers of the operation that are due.
    func deliver(_ operation: AnyOperation) {
        let retained = Unmanaged.passRetained(operation)
        if state.withLock({ $0.handlerDispatcher.append(retained) }) { startDelivering() }
    }

    func startDelivering() {
        services.spawn {
            await WorkerTaskContext.run(of: self) { await self.callHandlers(as: $0) }
        }
    }

    private func callHandlers(as task: WorkerTaskContext) async {
        var slice = TimeSlice(byCount: slicesByCount)
        var idleYields = 0
        var action = state.withLock { state in
            state.handlerDispatcher.taskStarted()
            return state.handlerDispatcher.nextAction(isSliceOver: false, idleYields: 0)
        }
        while true {
            switch action {
            case .call(let operation, let isFollowed):
                if isFollowed { startDelivering() }
                // User code has cancelled this task, when something of the user's was released.
                if task.isTainted { return retire(operation) }
                idleYields = 0
                let isCancelled = await operation._withUnsafeGuaranteedRef { $0 }.callHandlers(as: task)
                // A handler has cancelled this task. Another task calls the remaining handlers, so that they do not
                // find theirs cancelled.
                if isCancelled { return retire(operation) }
                action = finishDelivery(of: operation, isSliceOver: slice.isOver())
            case .yield:
                await Task.yield()
                slice.restart()
                idleYields += 1
                action = state.withLock { state in
                    state.handlerDispatcher.taskStarted()
                    return state.handlerDispatcher.nextAction(isSliceOver: false, idleYields: idleYields)
                }
            case .end: return
            }
        }
    }

    /// Releases the operation before it counts as delivered, because an idle queue keeps nothing alive.
    private func finishDelivery(of operation: Unmanaged<AnyOperation>, isSliceOver: Bool) -> HandlerDispatcher.Action {
        release(operation)
        let (action, idleWaiters) = state.withLock { state in
            state.handlerDispatcher.deliveryEnded()
            let action = state.handlerDispatcher.nextAction(isSliceOver: isSliceOver, idleYields: 0)
            return (action, takeIdleWaiters(&state))
        }
        resumeWaiters(idleWaiters)
        if stalls.isWatched { stalls.adjust(on: self) }
        return action
    }

    /// Ends the delivery of a cancelled task. Pending operations need no new task: while there are any, one is
    /// starting.
    private func retire(_ operation: Unmanaged<AnyOperation>) {
        operation._withUnsafeGuaranteedRef { if $0.hasDueHandlers { deliver($0) } }
        release(operation)
        deliveryEnded()
    }

    /// Removes the operation from the dispatcher before the release, so that a stall report never names an operation
    /// that is gone.
    private func release(_ operation: Unmanaged<AnyOperation>) {
        state.withLock { $0.handlerDispatcher.returned(from: operation) }
        operation.release()
    }

    /// Counts a delivery as ended, and resumes the tasks that wait until the queue is idle if it was the last one.
    func deliveryEnded() {
        resumeWaiters(
            state.withLock { state in
                state.handlerDispatcher.deliveryEnded()
                return takeIdleWaiters(&state)
            })
        if stalls.isWatched { stalls.adjust(on: self) }
    }
}
