/// The tasks that call handlers.
extension QueueCore {
    /// Has the handlers of the operation called that are due.
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
                // Something of the user's, released since then, has cancelled it.
                if task.isSpent { return retire(operation) }
                emptyTurns = 0
                let isCancelled = await operation._withUnsafeGuaranteedRef { $0 }.callHandlers(as: task)
                // A handler has cancelled it: the others are not to notice.
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

    /// In this order: an idle queue has nothing alive.
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

    /// What is pending has a task that is coming.
    private func retire(_ operation: Unmanaged<AnyOperation>) {
        operation._withUnsafeGuaranteedRef { if $0.hasDueHandlers { deliver($0) } }
        release(operation)
        deliveryEnded()
    }

    /// The dispatcher forgets the operation first: what it names in a stall report is alive.
    private func release(_ operation: Unmanaged<AnyOperation>) {
        state.withLock { $0.handlerDispatcher.returned(from: operation) }
        operation.release()
    }

    /// It may have been the last that the queue was busy with.
    func deliveryEnded() {
        resumeWaiters(
            state.withLock { state in
                state.handlerDispatcher.ended()
                return takeIdleWaiters(&state)
            })
        if stalls.isWatched { stalls.adjust(on: self) }
    }
}
