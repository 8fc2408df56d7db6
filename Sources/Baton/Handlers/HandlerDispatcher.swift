/// The operations of a queue whose handlers are due, and the tasks that call the handlers, each for one operation after
/// another. A pure value: the queue locks it, asks it, unlocks it, and performs the action.
///
/// A handler may suspend or block its thread for any time. So while an operation is pending, one task is *starting*: it
/// was spawned or has yielded, and takes the next operation no matter what the other tasks do.
struct HandlerDispatcher {
    /// The next step of a task.
    enum Action: ~Copyable {
        /// Call the handlers of this operation, after starting another task if `isFollowed` is true.
        case call(Retained<AnyOperation>, isFollowed: Bool)
        /// Yield the thread, and then ask for the next action.
        case yield
        case end
    }

    /// The number of times that a task which finds nothing yields before it ends. A queue that runs short operations
    /// then keeps the tasks that it has, instead of starting one for every few operations.
    static let maxIdleYields = 2
    private static let maxStarting = 2

    private var pending = FIFOQueue<Unretained<AnyOperation>>()
    /// The number of operations that are pending or whose handlers a task calls, and of those whose `finished` event
    /// another thread is going to publish. An operation that is due twice counts twice.
    private var openCount = 0
    /// The number of tasks that were spawned or have yielded, and have not called ``taskStarted()`` since.
    private var startingCount = 0
    /// The operations whose handlers are being called, for stall reports. An operation that was due twice may be taken
    /// by two tasks, one of which calls all of its handlers.
    private var called: [Unretained<AnyOperation>: (firstCall: Int, tasks: Int)] = [:]
    /// The number of calls that have begun.
    private var callCount = 0
    /// The number of times that all due handlers of an operation have been called.
    private(set) var completedCount = 0

    /// True if all handlers that were due have returned, their operations are released, and all `finished` events are
    /// published.
    var isIdle: Bool { openCount == 0 }

    /// Takes over the reference to the operation. Returns true if the caller has to start a task.
    mutating func append(_ operation: consuming Retained<AnyOperation>) -> Bool {
        openCount += 1
        pending.append(operation.handOver())
        return startTaskIfNeeded()
    }

    /// Counts an operation whose `finished` event another thread is going to publish. That thread calls
    /// ``callsEnded()``.
    mutating func callsBegan() { openCount += 1 }

    /// Notes that a task runs, after it was started or has yielded.
    mutating func taskStarted() {
        assert(startingCount > 0, "a task was started that nobody has counted")
        startingCount -= 1
    }

    /// Returns the next step of a task that calls no handler and has yielded `idleYields` times without finding an
    /// operation.
    mutating func nextAction(isSliceOver: Bool, idleYields: Int) -> Action {
        defer { assert(pending.isEmpty || startingCount > 0, "no task is going to take the pending operations") }
        if !isSliceOver, let operation = pending.popFirst() {
            callCount += 1
            called[operation, default: (callCount, 0)].tasks += 1
            return .call(Retained(handedOver: operation), isFollowed: startTaskIfNeeded())
        }
        if startingCount >= Self.maxStarting || idleYields > Self.maxIdleYields { return .end }
        startingCount += 1
        return .yield
    }

    /// Notes that a task has called the handlers of the operation, which it is about to release.
    mutating func returned(from operation: Unretained<AnyOperation>) {
        guard let tasks = called[operation]?.tasks else {
            preconditionFailure("a task has returned from the handlers of an operation that it has not taken")
        }
        called[operation]?.tasks = tasks - 1
        if tasks == 1 { called[operation] = nil }
    }

    /// Notes that an operation was released after its handlers, or that its `finished` event was published.
    mutating func callsEnded() {
        assert(openCount > 0, "More calls have ended than have begun.")
        openCount -= 1
        completedCount += 1
    }

    /// The operations whose handlers are being called, retained, in the order in which the calls began.
    func operationsInHandlers() -> [AnyOperation] {
        called.sorted { $0.value.firstCall < $1.value.firstCall }.map(\.key.object)
    }

    private mutating func startTaskIfNeeded() -> Bool {
        if pending.isEmpty || startingCount > 0 { return false }
        startingCount += 1
        return true
    }
}

// MARK: - Tasks that call handlers

/// The tasks that call handlers.
extension QueueCore {
    /// Makes a task call the handlers of the operation that are due.
    func callDueHandlers(of operation: AnyOperation) {
        if state.withLock({ $0.handlerDispatcher.append(Retained(operation)) }) { startHandlerTask() }
    }

    func startHandlerTask() {
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
            switch consume action {
            case .call(let operation, let isFollowed):
                if isFollowed { startHandlerTask() }
                // User code has cancelled this task, when one of the user's objects was released.
                if task.isTainted { return retire(operation) }
                idleYields = 0
                let isCancelled = await operation.unretained.object.callHandlers(as: task)
                // A handler has cancelled this task. Another task calls the remaining handlers, so that they do not
                // find theirs cancelled.
                if isCancelled { return retire(operation) }
                action = finishCalls(of: operation, isSliceOver: slice.isOver())
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

    /// Releases the operation before its calls count as ended, because an idle queue keeps nothing alive.
    private func finishCalls(
        of operation: consuming Retained<AnyOperation>, isSliceOver: Bool
    ) -> HandlerDispatcher.Action {
        release(operation)
        var idleWaiters: [UnsafeContinuation<Void, Never>] = []
        let action = state.withLock { state in
            state.handlerDispatcher.callsEnded()
            let action = state.handlerDispatcher.nextAction(isSliceOver: isSliceOver, idleYields: 0)
            idleWaiters = takeIdleWaiters(&state)
            return action
        }
        resumeWaiters(idleWaiters)
        if stalls.isWatched { stalls.adjust(on: self) }
        return action
    }

    /// Ends the calls of a cancelled task. Pending operations need no new task: while there are any, one is
    /// starting.
    private func retire(_ operation: consuming Retained<AnyOperation>) {
        operation.use { if $0.hasDueHandlers { callDueHandlers(of: $0) } }
        release(operation)
        callsEnded()
    }

    /// Removes the operation from the dispatcher before the release, so that a stall report never names an operation
    /// that is gone.
    private func release(_ operation: consuming Retained<AnyOperation>) {
        let returned = operation.unretained
        state.withLock { $0.handlerDispatcher.returned(from: returned) }
        operation.release()
    }

    /// Notes that the calls for one operation have ended. Resumes the tasks that wait until the queue is idle if these
    /// were the last calls.
    func callsEnded() {
        resumeWaiters(
            state.withLock { state in
                state.handlerDispatcher.callsEnded()
                return takeIdleWaiters(&state)
            })
        if stalls.isWatched { stalls.adjust(on: self) }
    }
}
