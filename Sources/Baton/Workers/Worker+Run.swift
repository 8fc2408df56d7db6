extension QueueCore {
    /// Runs operations on the worker's task until there is nothing left to run.
    ///
    /// Each round of the loop is the run of one operation:
    ///
    /// 1. ``Lifecycle/begin(on:)`` starts the operation, unless preconditions come first. It returns what is to be done
    ///    for the optional state of the operation. A plain operation has none, and its body runs at once.
    /// 2. ``checkAndRun(_:_:on:as:)`` checks the preconditions of other operations, and runs the body with time limits,
    ///    middleware, groups and whatever else is around it.
    /// 3. ``complete(_:_:_:)`` publishes the outcome and counts the dependents down.
    /// 4. ``handOnAndRemove(_:_:_:)`` removes the operation from the queue, and returns the next one: a dependent that
    ///    has become ready, or else the operation that the queue chooses.
    ///
    /// This code refers to operations through ``Unretained`` alone. The worker releases the queue's reference to an
    /// operation before it reports that the operation has left, so that no operation is alive when the queue is idle
    /// (G31). For the same reason the worker is one of the queue's `holds` until it has released everything that it
    /// ran.
    ///
    /// - Parameter first: An operation that another worker has taken and could not run, together with that worker's
    ///   permit. Nil if the worker asks the queue.
    nonisolated(nonsending) func work(
        on worker: Worker, as task: WorkerTaskContext, beginningWith first: Unretained<AnyOperation>?
    ) async {
        var slice = TimeSlice(byCount: slicesByCount)
        var inline = InlineStarts()
        var next =
            first
            ?? take(
                change { state in
                    holds.begin()
                    let action = state.scheduler.workerStarted()
                    inline = InlineStarts(budget: state.scheduler.inlineBudget)
                    return action
                })
        defer { endHold() }
        while let operation = next {
            if slicesByCount, yieldsBeforeBody() { await Task.yield() }
            if task.isTainted {
                // User code has cancelled the task or raised its priority, so the next operation must not run on it.
                return continueOnAnotherWorker(with: operation, inline)
            }
            var run = CompletedRun(hasRun: false)
            let result: RunResult
            switch operation.use({ $0.withLifecycle { $0.begin(on: worker) } }) {
            case .plain where startsPlainly:
                // The plain case is inlined because most operations are plain, and an asynchronous call takes a tenth
                // of the time of an operation.
                operation.use { task.running = $0 }
                await operation.use { $0.body.take()! }.run(for: operation)
                result = .decided
            case let action: result = await checkAndRun(operation, action, on: worker, as: task)
            }
            switch result {
            case .endedBefore: break
            case .decided: if !complete(operation, task, &run) { await completeAfterHandlers(operation, &run) }
            case .away(let action):
                task.running = nil
                next = take(action)
                // A worker that finds only operations that wait also yields its thread.
                if next != nil, slice.isOver() {
                    await Task.yield()
                    slice.restart()
                }
                continue
            }

            // A worker whose task is cancelled ends, even if the body has cancelled it. The queue chooses the next
            // operation when another worker starts.
            if run.mustRetire || task.isCancelled {
                retire(operation, &run, inline)
                return
            } else if slice.isOver() {
                if endSlice(operation, &run, inline) { return }
                // The worker holds no operation while it yields, so the queue may become idle without it.
                endHold()
                await Task.yield()
                slice.restart()
                next = take(
                    change { state in
                        holds.begin()
                        return nextAction(&state, &inline)
                    })
            } else {
                next = handOnAndRemove(operation, &run, &inline)
            }
        }
    }

    // MARK: Check preconditions and run

    /// The result of checking the preconditions of an operation and running its body.
    private enum RunResult {
        /// The outcome is stored and has to be published.
        case decided
        /// The operation was cancelled while it was ready, and has finished.
        case endedBefore
        /// The operation has not ended, but does not belong to this worker any more. The worker continues with this
        /// action.
        case away(Scheduler.WorkerAction)

        init(_ action: Scheduler.WorkerAction?) { self = if let action { .away(action) } else { .decided } }
    }

    /// Checks the preconditions of an operation that is not plain, and runs its body with everything that is around it.
    private nonisolated(nonsending) func checkAndRun(
        _ operation: Unretained<AnyOperation>, _ action: Lifecycle.BeginAction, on worker: Worker,
        as task: WorkerTaskContext
    ) async -> RunResult {
        switch action {
        case .endedBefore: return .endedBefore
        case .timed(let timing) where startsPlainly:
            operation.use { task.running = $0 }
            return await runTimed(operation, timing, on: worker)
        // A plain operation comes here if the queue has hooks or task-locals.
        case .plain, .timed, .withOptionalState:
            operation.use { task.running = $0 }
            return await runWithOptionalState(operation, on: worker)
        case .withPreconditions:
            switch await checkPreconditions(of: operation, on: worker, as: task) {
            case .endedBefore: return .endedBefore
            case .toBody(isPlain: true):
                await operation.use { $0.body.take()! }.run(for: operation)
                return .decided
            case .toBody(isPlain: false): return await runWithOptionalState(operation, on: worker)
            case .toEnd: return .decided
            case .away(let action): return .away(action)
            }
        }
    }

    @inline(__always)
    private nonisolated(nonsending) func runWithOptionalState(
        _ operation: Unretained<AnyOperation>, on worker: Worker
    ) async -> RunResult {
        switch await runSurrounded(operation.object, on: worker) {
        case .decided: .decided
        case .away(let action): .away(action)
        case .group(let group): RunResult(startGroup(operation, group, on: worker))
        }
    }

    @inline(__always)
    private nonisolated(nonsending) func runTimed(
        _ operation: Unretained<AnyOperation>, _ timing: Timing, on worker: Worker
    ) async -> RunResult {
        let body = operation.use { $0.body.take()! }
        let hasTimeout = startAttempt(of: operation, timing, on: worker)
        await body.run(for: operation)
        guard endAttempt(of: operation, timing, on: worker, hasTimeout: hasTimeout) else { return .decided }
        return RunResult(await runAgain(operation.object, body))
    }

    // MARK: Complete

    private struct CompletedRun {
        /// False if the operation was cancelled while it was ready, and left the queue then.
        var hasRun = true
        /// The first operation that has become ready by this one. The same worker may continue with it.
        var firstReady: Unretained<AnyOperation>?
        /// The other operations that have become ready by this one, linked.
        var othersReady: Unretained<AnyOperation>?
        /// True if the worker must not run another body, because its task was cancelled, or because the body has left
        /// waits open that have released its permit.
        var mustRetire = false
        var holdsPermit = true
        var handlersAreDue = false
        var startsHandlerTask = false
        /// The groups that have ended with the operation, linked.
        var groups: Unretained<AnyOperation>?
    }

    /// Publishes the outcome, and counts the dependents down. Returns false if `willFinish` handlers have to return
    /// first.
    @inline(__always)
    private func complete(_ current: Unretained<AnyOperation>, _ task: WorkerTaskContext?, _ run: inout CompletedRun)
        -> Bool
    {
        task?.running = nil
        return current.use { operation in
            guard let action = operation.withLifecycle({ $0.finishRun() }) else { return false }
            let completion = complete(operation, action, continuing: true)
            run = CompletedRun(
                firstReady: completion.firstReady,
                othersReady: completion.othersReady,
                mustRetire: action.isCancelled || action.hasOpenWaits,
                holdsPermit: !action.hasOpenWaits,
                handlersAreDue: completion.handlersAreDue,
                groups: completion.groups
            )
            return true
        }
    }

    @inline(never)
    private nonisolated(nonsending) func completeAfterHandlers(
        _ current: Unretained<AnyOperation>, _ run: inout CompletedRun
    ) async {
        await callHandlersBeforeFinish(of: current)
        // The handlers have returned. Handlers that are added from now on do not delay the finish.
        _ = complete(current, nil, &run)
    }

    // MARK: Hand on

    /// The number of operations with which the worker has continued inline since it last asked the queue, and the
    /// limit.
    private struct InlineStarts {
        var count = 0
        var budget = ReadyQueues.budget
    }

    /// Removes the operation from the queue, and returns the operation that the worker runs next. If one dependent has
    /// become ready, the worker hands on to it without putting it in a list; otherwise the queue chooses.
    @inline(never)
    private func handOnAndRemove(
        _ operation: Unretained<AnyOperation>, _ run: inout CompletedRun, _ inline: inout InlineStarts
    ) -> Unretained<AnyOperation>? {
        if let next = run.firstReady, run.othersReady == nil, run.groups == nil, mayHandOn(to: next, inline) {
            inline.count += 1
            let removal = state.withLock { state in remove(operation, &run, &state) }
            releaseAndReport(operation, run, removal)
            return next
        }
        if run.groups == nil {
            return take(removeAndList(operation, &run, inline) { state in nextAction(&state, &inline) })
        }
        // The groups finish first, because operations that become ready by their end may come first.
        removeAndList(operation, &run, inline) { _ in }
        return take(change { state in nextAction(&state, &inline) })
    }

    /// Decides whether the worker continues inline with `next`. It does not if a higher priority waits, if the
    /// queue is suspended, or if the budget is used up while other operations wait.
    @inline(__always)
    private func mayHandOn(to next: Unretained<AnyOperation>, _ inline: InlineStarts) -> Bool {
        let hint = hint.value
        if hint == 0 { return true }
        let level = next.use { $0.currentPriority.rawValue }
        return hint <= level + 1 && inline.count < inline.budget
    }

    // MARK: Remove

    /// Removes the operation from the registry. The caller holds the queue's lock, and calls
    /// ``releaseAndReport(_:_:_:)`` after unlocking.
    @inline(__always)
    private func remove(_ operation: Unretained<AnyOperation>, _ run: inout CompletedRun, _ state: inout State)
        -> RemovalResult
    {
        if !run.hasRun { return .othersRemain }
        // The operation is appended before it leaves, because a queue with pending handlers is not idle.
        if run.handlersAreDue {
            run.startsHandlerTask = state.handlerDispatcher.append(Retained(handedOver: operation))
        }
        return operation.use { remove($0, &state) }
    }

    /// Removes the operation, lists those that have become ready by it, in the order in which they became dependents,
    /// and makes one more decision, all in one step under the queue's lock.
    @inline(__always)
    private func removeAndList<Decision>(
        _ operation: Unretained<AnyOperation>, _ run: inout CompletedRun, _ inline: InlineStarts,
        then decide: (inout State) -> Decision
    ) -> Decision {
        let (removal, decision) = change { state in
            let removal = remove(operation, &run, &state)
            if inline.count > 0 { state.scheduler.noteInlineStarts(inline.count, upTo: operation) }
            if let firstReady = run.firstReady {
                firstReady.use { $0.next = run.othersReady.map { DependentList.Place($0) } }
                state.scheduler.append(released: firstReady)
            }
            return (removal, decide(&state))
        }
        releaseAndReport(operation, run, removal)
        return decision
    }

    /// Releases the queue's reference to the operation, unless the handler dispatcher has taken it over, and reports
    /// the removal.
    @inline(__always)
    private func releaseAndReport(_ operation: Unretained<AnyOperation>, _ run: CompletedRun, _ removal: RemovalResult)
    {
        if !run.handlersAreDue { Retained(handedOver: operation).release() }
        if run.startsHandlerTask { startHandlerTask() }
        didRemove(removal)
        // Groups finish after the operation has left, so that its handlers are called before those of the groups.
        if let groups = run.groups { AnyOperation.finish(groups: groups) }
    }

    // MARK: Next

    /// Asks the scheduler what the worker does next, and sets the limit for the operations that follow inline.
    @inline(__always)
    private func nextAction(_ state: inout State, _ inline: inout InlineStarts) -> Scheduler.WorkerAction {
        let action = state.scheduler.nextAction()
        inline = InlineStarts(budget: state.scheduler.inlineBudget)
        return action
    }

    /// Returns the operation that the queue has chosen. Returns nil if the worker ends.
    @inline(__always)
    private func take(_ action: Scheduler.WorkerAction) -> Unretained<AnyOperation>? {
        switch action {
        case .run(let operation): return operation
        case .handOver(let resumption):
            resume(resumption)
            return nil
        case .end: return nil
        }
    }

    // MARK: End of a worker or a time slice

    /// Lets the operation leave at the end of a time slice. Returns true if the worker ends, because another worker
    /// waits for its thread.
    private func endSlice(
        _ operation: Unretained<AnyOperation>, _ run: inout CompletedRun, _ inline: InlineStarts
    ) -> Bool {
        removeAndList(operation, &run, inline) { $0.scheduler.endSlice() }
    }

    /// Ends a worker that must not run another body. The scheduler starts a new one.
    @inline(never)
    private func retire(
        _ operation: Unretained<AnyOperation>, _ run: inout CompletedRun, _ inline: InlineStarts
    ) {
        let holdsPermit = run.holdsPermit
        removeAndList(operation, &run, inline) { state in
            if holdsPermit { state.scheduler.returnPermit() } else { state.scheduler.endedWithoutPermit() }
        }
    }

    /// Starts another worker that runs the operation which this worker has taken, with its permit.
    @inline(never)
    private func continueOnAnotherWorker(with operation: Unretained<AnyOperation>, _ inline: InlineStarts) {
        change { if inline.count > 0 { $0.scheduler.noteInlineStarts(inline.count, upTo: operation) } }
        holds.begin()
        Worker.start(on: self, beginningWith: operation)
    }
}
