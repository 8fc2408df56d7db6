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
        var emptyTurns = 0
        var action = state.withLock { state in
            state.handlerDispatcher.taskCame()
            return state.handlerDispatcher.nextAction(isSliceOver: false, emptyTurns: 0)
        }
        while true {
            switch action {
            case .call(let operation, let isFollowed):
                if isFollowed { startDelivering() }
                // User code has cancelled this task, when something of the user's was released.
                if task.isSpent { return retire(operation) }
                emptyTurns = 0
                let isCancelled = await operation._withUnsafeGuaranteedRef { $0 }.callHandlers(as: task)
                // A handler has cancelled this task. Another task calls the remaining handlers, so that they do not
                // find theirs cancelled.
                if isCancelled { return retire(operation) }
                action = ended(operation, slice.isOver())
            case .yield:
                await Task.yield()
                slice.restart()
                emptyTurns += 1
                action = state.withLock { state in
                    state.handlerDispatcher.taskCame()
                    return state.handlerDispatcher.nextAction(isSliceOver: false, emptyTurns: emptyTurns)
                }
            case .end: return
            }
        }
    }

    /// Releases the operation before it counts as delivered, because an idle queue keeps nothing alive.
    private func ended(_ operation: Unmanaged<AnyOperation>, _ isSliceOver: Bool) -> HandlerDispatcher.Action {
        release(operation)
        let (action, idleWaiters) = state.withLock { state in
            state.handlerDispatcher.ended()
            let action = state.handlerDispatcher.nextAction(isSliceOver: isSliceOver, emptyTurns: 0)
            return (action, takeIdleWaiters(&state))
        }
        resumeWaiters(idleWaiters)
        if stalls.isWatched { stalls.adjust(on: self) }
        return action
    }

    /// Ends the delivery of a cancelled task. Pending operations need no new task: while there are any, one is coming.
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
                state.handlerDispatcher.ended()
                return takeIdleWaiters(&state)
            })
        if stalls.isWatched { stalls.adjust(on: self) }
    }
}
