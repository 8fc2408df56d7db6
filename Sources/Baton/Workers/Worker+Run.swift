extension QueueCore {
    /// Runs operations on the worker's task until there is nothing left to run.
    ///
    /// Each round of the loop is the run of one operation:
    ///
    /// 1. ``begin(_:on:as:)`` starts the operation, and asks its optional state what else there is to do. A plain
    ///    operation has none, and its body runs at once.
    /// 2. ``checkAndRun(_:_:on:as:)`` checks the preconditions of other operations, and runs the body with time limits,
    ///    middleware, groups and whatever else is around it.
    /// 3. ``complete(_:_:_:)`` publishes the outcome and counts the dependents down.
    /// 4. ``handOnAndRemove(_:_:_:)`` removes the operation from the queue, and returns the next one: a dependent that
    ///    has become ready, or else the operation that the queue chooses.
    ///
    /// This code refers to operations through ``Unretained`` alone. The worker releases the queue's reference to an
    /// operation before it reports that the operation has left, so that no operation is alive when the queue is idle
    /// (G31). For the same reason the worker is one of the queue's `holders` until it has released everything that it
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
                    addHolder()
                    let action = state.scheduler.workerStarted()
                    inline = InlineStarts(budget: state.scheduler.inlineBudget)
                    return action
                })
        defer { removeHolder() }
        while let operation = next {
            if slicesByCount, yieldsBeforeBody() { await Task.yield() }
            if task.isTainted {
                // User code has cancelled the task or raised its priority, so the next operation must not run on it.
                return continueOnAnotherWorker(with: operation, inline)
            }
            var run = CompletedRun(hasRun: false)
            let result: RunResult
            switch begin(operation, on: worker, as: task) {
            case .plain:
                // The plain case is inlined because most operations are plain, and an asynchronous call takes a tenth
                // of the time of an operation.
                await takeBody(operation).run(Execution(of: operation))
                result = .decided
            case let beginning: result = await checkAndRun(operation, beginning, on: worker, as: task)
            }
            switch result {
            case .endedBefore: break
            case .decided: if !complete(operation, task, &run) { await completeAfterHandlers(operation, &run) }
            case .away(let action):
                task.running = nil
                next = take(action)
                // A worker that finds only operations that wait gives its thread up, too.
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
                removeHolder()
                await Task.yield()
                slice.restart()
                next = take(
                    change { state in
                        addHolder()
                        let action = state.scheduler.nextAction()
                        inline = InlineStarts(budget: state.scheduler.inlineBudget)
                        return action
                    })
            } else {
                next = handOnAndRemove(operation, &run, &inline)
            }
        }
    }

    // MARK: Check preconditions and run

    /// Starts the operation unless preconditions come first. The answer is what the worker has to do for the optional
    /// state of the operation, and for the hooks of the queue.
    @inline(__always)
    private func begin(_ current: Unretained<AnyOperation>, on worker: Worker, as task: WorkerTaskContext)
        -> Lifecycle.Beginning
    {
        current.use { operation in
            let beginning = operation.withLife { $0.begin(on: worker) }
            switch beginning {
            case .endedBefore, .withPreconditions: return beginning
            case .plain, .timed:
                task.running = operation
                return startsPlainly ? beginning : .withOptionalState
            case .withOptionalState:
                task.running = operation
                return beginning
            }
        }
    }

    @inline(__always)
    private func takeBody(_ operation: Unretained<AnyOperation>) -> Body {
        operation.use { $0.body.take()! }
    }

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
        _ operation: Unretained<AnyOperation>, _ beginning: Lifecycle.Beginning, on worker: Worker,
        as task: WorkerTaskContext
    ) async -> RunResult {
        switch beginning {
        case .endedBefore: return .endedBefore
        case .plain: break
        case .timed(let timing): return await runTimed(operation, timing, on: worker)
        case .withOptionalState: return await runWithOptionalState(operation, on: worker)
        case .withPreconditions:
            switch await checkPreconditions(of: operation, on: worker, as: task) {
            case .endedBefore: return .endedBefore
            case .toBody(isPlain: true): break
            case .toBody(isPlain: false): return await runWithOptionalState(operation, on: worker)
            case .toEnd: return .decided
            case .away(let action): return .away(action)
            }
        }
        await takeBody(operation).run(Execution(of: operation))
        return .decided
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
        let body = takeBody(operation)
        let hasTimeout = startAttempt(of: operation, timing, on: worker)
        await body.run(Execution(of: operation))
        guard endAttempt(of: operation, timing, on: worker, hasTimeout: hasTimeout) else { return .decided }
        return RunResult(await runAgain(operation.object, body))
    }

    // MARK: Complete

    private struct CompletedRun {
        /// False if the operation was cancelled while it was ready, and left the queue then.
        var hasRun = true
        /// The first operation that has become ready by this one. The same worker may continue with it.
        var follower: Unretained<AnyOperation>?
        /// The other operations that have become ready by this one, linked.
        var others: Unretained<AnyOperation>?
        /// True if the worker must not run another body, because its task was cancelled, or because the body has left
        /// waits open that have released its permit.
        var mustRetire = false
        var holdsPermit = true
        var handlersAreDue = false
        var startsDelivery = false
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
            guard let ending = operation.withLife({ $0.finishRun() }) else { return false }
            let completion = complete(operation, ending, continuing: true)
            run = CompletedRun(
                follower: completion.follower,
                others: completion.others,
                mustRetire: ending.isCancelled || ending.hasOpenWaits,
                holdsPermit: !ending.hasOpenWaits,
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
        if let follower = run.follower, run.others == nil, run.groups == nil, mayHandOn(to: follower, inline) {
            inline.count += 1
            let removal = state.withLock { state in remove(operation, &run, &state) }
            releaseAndReport(operation, run, removal)
            return follower
        }
        return run.groups == nil
            ? takeNext(after: operation, &run, &inline)
            : takeNext(afterGroupsOf: operation, &run, &inline)
    }

    /// Decides whether the worker continues inline with `follower`. It does not if a higher priority waits, if the
    /// queue is suspended, or if the budget is used up while other operations wait.
    @inline(__always)
    private func mayHandOn(to follower: Unretained<AnyOperation>, _ inline: InlineStarts) -> Bool {
        let hint = hint.value
        if hint == 0 { return true }
        let level = follower.use { $0.currentPriority.rawValue }
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
        if run.handlersAreDue { run.startsDelivery = state.handlerDispatcher.append(Retained(handedOver: operation)) }
        return operation.use { remove($0, &state) }
    }

    /// Lists the operations that have become ready by this one, in the order in which they became its dependents.
    @inline(__always)
    private func list(
        from run: CompletedRun, after operation: Unretained<AnyOperation>, _ inline: InlineStarts, _ state: inout State
    ) {
        state.scheduler.noteInlineStarts(inline.count, upTo: operation)
        guard let follower = run.follower else { return }
        follower.use { $0.link = run.others.map { DependentList.Place($0) } }
        state.scheduler.append(released: follower)
    }

    /// Releases the queue's reference to the operation, unless the handler dispatcher has taken it over, and reports
    /// the removal.
    @inline(__always)
    private func releaseAndReport(_ operation: Unretained<AnyOperation>, _ run: CompletedRun, _ removal: RemovalResult)
    {
        if !run.handlersAreDue { Retained(handedOver: operation).release() }
        if run.startsDelivery { startDelivering() }
        didRemove(removal)
        // Groups finish after the operation has left, so that its handlers are called before those of the groups.
        if let groups = run.groups { AnyOperation.finish(groups: groups) }
    }

    // MARK: Next

    /// Removes the operation, and asks the queue for the next one in the same step.
    @inline(__always)
    private func takeNext(
        after operation: Unretained<AnyOperation>, _ run: inout CompletedRun, _ inline: inout InlineStarts
    ) -> Unretained<AnyOperation>? {
        var removal = RemovalResult.othersRemain
        let action = change { state in
            removal = remove(operation, &run, &state)
            list(from: run, after: operation, inline, &state)
            let action = state.scheduler.nextAction()
            inline = InlineStarts(budget: state.scheduler.inlineBudget)
            return action
        }
        releaseAndReport(operation, run, removal)
        return take(action)
    }

    /// Finds the next operation after finishing the groups that end with this one, because operations that become ready
    /// by their end may come first.
    @inline(__always)
    private func takeNext(
        afterGroupsOf operation: Unretained<AnyOperation>, _ run: inout CompletedRun, _ inline: inout InlineStarts
    ) -> Unretained<AnyOperation>? {
        let removal = change { state in
            let removal = remove(operation, &run, &state)
            list(from: run, after: operation, inline, &state)
            return removal
        }
        releaseAndReport(operation, run, removal)
        return take(
            change { state in
                let action = state.scheduler.nextAction()
                inline = InlineStarts(budget: state.scheduler.inlineBudget)
                return action
            })
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
        let (ends, removal) = change { state in
            let removal = remove(operation, &run, &state)
            list(from: run, after: operation, inline, &state)
            return (state.scheduler.endSlice(), removal)
        }
        releaseAndReport(operation, run, removal)
        return ends
    }

    /// Ends a worker that must not run another body. The scheduler starts a new one.
    @inline(never)
    private func retire(
        _ operation: Unretained<AnyOperation>, _ run: inout CompletedRun, _ inline: InlineStarts
    ) {
        let removal = change { state in
            let removal = remove(operation, &run, &state)
            list(from: run, after: operation, inline, &state)
            if run.holdsPermit { state.scheduler.returnPermit() } else { state.scheduler.endedWithoutPermit() }
            return removal
        }
        releaseAndReport(operation, run, removal)
    }

    /// Starts another worker that runs the operation which this worker has taken, with its permit.
    @inline(never)
    private func continueOnAnotherWorker(with operation: Unretained<AnyOperation>, _ inline: InlineStarts) {
        change { $0.scheduler.noteInlineStarts(inline.count, upTo: operation) }
        addHolder()
        Worker.start(on: self, beginningWith: operation)
    }
}
