import Synchronization

extension QueueCore {
    /// What a worker does: run, finish, go on with what that made ready, else ask for the next.
    ///
    /// An operation is only ever named through its `Unmanaged` here: the queue's reference is let go before the queue
    /// is told, so that an idle queue has nothing alive.
    ///
    /// So is the worker itself: it is one of the queue's holders until it has released all that it ran.
    ///
    /// - Parameter first: What another worker has taken and could not run, with that worker's permit. Nil: the worker
    ///   asks.
    nonisolated(nonsending) func work(
        on worker: Worker, as task: WorkerTaskContext, beginningWith first: Unmanaged<AnyOperation>?
    ) async {
        var slice = TimeSlice(byCount: slicesByCount)
        var inline = InlineStarts()
        var next =
            first
            ?? take(
                change { state in
                    beginHolding()
                    return state.nextAction { $0.workerStarted() }
                })
        defer { hasReleased() }
        while let operation = next {
            if task.isSpent {
                // Something of the user's has cancelled it, or raised its priority, and no operation is to notice.
                return handOver(operation, from: worker)
            }
            var run = Run(isRun: false)
            let uptake: Uptake
            switch begin(operation, on: worker, as: task) {
            case .plain:
                // Here, because most operations are plain, and an asynchronous call costs a tenth of one.
                await takeBody(operation).run(Execution(of: operation))
                uptake = .decided
            case let beginning: uptake = await takeUp(operation, beginning, on: worker, as: task)
            }
            switch uptake {
            case .endedBefore: break
            case .decided: if !finish(operation, task, &run) { await finishLater(operation, &run) }
            case .away(let action):
                task.running = nil
                next = take(action)
                // A worker that finds nothing but operations that wait gives its thread up, too.
                if next != nil, slice.isOver() {
                    await Task.yield()
                    slice.restart()
                }
                continue
            }

            // Also if the body has cancelled the task. What comes next is chosen when another worker begins.
            if run.spendsWorker || task.isCancelled {
                retire(operation, &run, inline, on: worker)
                return
            } else if slice.isOver() {
                worker.localQueue.look(areShort: slice.bodiesAreShort)
                if endSlice(operation, &run, &inline, on: worker) { return }
                // It has nothing, and nobody waits for its thread to be free again.
                hasReleased()
                await Task.yield()
                slice.restart()
                next = take(
                    change { state in
                        beginHolding()
                        return state.deal(to: worker.localQueue)
                    })
            } else {
                next = goOn(after: operation, &run, &inline, on: worker, bodiesAreShort: slice.bodiesAreShort)
            }
        }
        if worker.localQueue.isOut { giveBack(on: worker) }
    }

    /// Another worker goes on with what this one has taken, and with its permit.
    @inline(never)
    private func handOver(_ operation: Unmanaged<AnyOperation>, from worker: Worker) {
        if worker.localQueue.isOut { giveBack(on: worker) }
        beginHolding()
        Worker.start(on: self, beginningWith: operation)
    }

    /// What the worker runs next: what the operation made ready, else what it has in its local queue, else what comes
    /// first.
    @inline(never)
    private func goOn(
        after operation: Unmanaged<AnyOperation>, _ run: inout Run, _ inline: inout InlineStarts, on worker: Worker,
        bodiesAreShort: Bool
    ) -> Unmanaged<AnyOperation>? {
        if run.isPlain, let another = worker.localQueue.moveOn(after: operation) {
            operation.release()
            return another
        }
        if let follower = run.follower, run.others == nil, run.groups == nil, mayContinue(with: follower, inline) {
            inline.count += 1
            if !run.handlersAreDue, worker.localQueue.leave(operation) {
                operation.release()
            } else {
                let departure = state.withLock { state in
                    if !run.handlersAreDue { state.goOn(with: follower, worker.localQueue) }
                    return leave(operation, &run, &state)
                }
                letGo(operation, run, departure)
            }
            return follower
        }
        worker.localQueue.look(areShort: bodiesAreShort)
        return run.groups == nil
            ? takeNext(after: operation, &run, &inline, on: worker)
            : takeNext(afterGroupsOf: operation, &run, &inline, on: worker)
    }

    // MARK: The steps

    /// What taking an operation up has come to.
    private enum Uptake {
        /// Its outcome is stored, and to be published.
        case decided
        /// It had been cancelled while it was ready, and has finished.
        case endedBefore
        /// It is not this worker's any more, and has not ended. The worker goes on with this.
        case away(Scheduler.WorkerAction)

        init(_ action: Scheduler.WorkerAction?) { self = if let action { .away(action) } else { .decided } }
    }

    /// Runs its body, with all that comes before.
    private nonisolated(nonsending) func takeUp(
        _ operation: Unmanaged<AnyOperation>, _ beginning: Lifecycle.Beginning, on worker: Worker,
        as task: WorkerTaskContext
    ) async -> Uptake {
        switch beginning {
        case .endedBefore: return .endedBefore
        case .plain: break
        case .timed(let timing): return await runTimed(operation, timing, on: worker)
        case .withOptionalState: return await takeUpSurrounded(operation, on: worker)
        case .withPreconditions:
            switch await checkPreconditions(of: operation, on: worker, as: task) {
            case .endedBefore: return .endedBefore
            case .toBody(isPlain: true): break
            case .toBody(isPlain: false): return await takeUpSurrounded(operation, on: worker)
            case .toEnd: return .decided
            case .away(let action): return .away(action)
            }
        }
        await takeBody(operation).run(Execution(of: operation))
        return .decided
    }

    @inline(__always)
    private nonisolated(nonsending) func takeUpSurrounded(
        _ operation: Unmanaged<AnyOperation>, on worker: Worker
    ) async -> Uptake {
        switch await runSurrounded(operation.takeUnretainedValue(), on: worker) {
        case .decided: .decided
        case .away(let action): .away(action)
        case .group(let group): Uptake(startGroup(operation, group, on: worker))
        }
    }

    @inline(__always)
    private nonisolated(nonsending) func runTimed(
        _ operation: Unmanaged<AnyOperation>, _ timing: Timing, on worker: Worker
    ) async -> Uptake {
        let body = takeBody(operation)
        let isWatched = startAttempt(of: operation, timing, on: worker)
        await body.run(Execution(of: operation))
        guard endAttempt(of: operation, timing, on: worker, isWatched: isWatched) else { return .decided }
        return Uptake(await runAgain(operation.takeUnretainedValue(), body))
    }

    private struct Run {
        /// False: it had been cancelled while it was ready, and left the queue then.
        var isRun = true
        /// The first operation that it made ready, for the same worker to go on with.
        var follower: Unmanaged<AnyOperation>?
        /// Those after it, linked.
        var others: Unmanaged<AnyOperation>?
        /// Its task was cancelled, or the body left waits open that have released its permit: no other body may run on
        /// it.
        var spendsWorker = false
        var holdsPermit = true
        var handlersAreDue = false
        var startsDelivery = false
        /// That have ended with it, linked.
        var groups: Unmanaged<AnyOperation>?

        /// It has left nothing to be done, but for its place.
        var isPlain: Bool { isRun && follower == nil && others == nil && !handlersAreDue && groups == nil }
    }

    /// With how many operations the worker has gone on inline since it asked what comes next, and with how many it may.
    private struct InlineStarts {
        var count = 0
        var budget = ReadyLines.budget
    }

    @inline(__always)
    private func begin(_ current: Unmanaged<AnyOperation>, on worker: Worker, as task: WorkerTaskContext)
        -> Lifecycle.Beginning
    {
        current._withUnsafeGuaranteedRef { operation in
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
    private func takeBody(_ operation: Unmanaged<AnyOperation>) -> Body {
        operation._withUnsafeGuaranteedRef { $0.body.take()! }
    }

    /// False: `willFinish` handlers come first.
    @inline(__always)
    private func finish(_ current: Unmanaged<AnyOperation>, _ task: WorkerTaskContext?, _ run: inout Run) -> Bool {
        task?.running = nil
        return current._withUnsafeGuaranteedRef { operation in
            guard let ending = operation.withLife({ $0.finishRun() }) else { return false }
            let settled = settle(operation, ending, continuing: true)
            run = Run(
                follower: settled.follower,
                others: settled.others,
                spendsWorker: ending.isCancelled || ending.hasOpenWaits,
                holdsPermit: !ending.hasOpenWaits,
                handlersAreDue: settled.handlersAreDue,
                groups: settled.groups
            )
            return true
        }
    }

    @inline(never)
    private nonisolated(nonsending) func finishLater(_ current: Unmanaged<AnyOperation>, _ run: inout Run) async {
        await callHandlersBeforeFinish(of: current)
        // They have returned, and later ones hold nothing back.
        _ = finish(current, nil, &run)
    }

    /// Not if a higher priority waits, or the queue is suspended, or the budget is spent while others wait.
    @inline(__always)
    private func mayContinue(with follower: Unmanaged<AnyOperation>, _ inline: InlineStarts) -> Bool {
        let hint = hint.load(ordering: .relaxed)
        if hint == 0 { return true }
        let level = follower._withUnsafeGuaranteedRef { $0.level.rawValue }
        return hint <= level + 1 && inline.count < inline.budget
    }

    @inline(__always)
    private func leave(_ operation: Unmanaged<AnyOperation>, _ run: inout Run, _ state: inout State) -> Departure {
        if !run.isRun { return departure(&state) }
        // Before it leaves: a queue with handlers to be called is not idle.
        if run.handlersAreDue { run.startsDelivery = state.handlerDispatcher.append(operation) }
        return operation._withUnsafeGuaranteedRef { leave($0, &state) }
    }

    /// What it made ready, in the order in which it came to need it.
    @inline(__always)
    private func list(
        from run: Run, after operation: Unmanaged<AnyOperation>, _ inline: InlineStarts, _ state: inout State
    ) {
        state.scheduler.noteInlineStarts(inline.count, upTo: operation)
        guard let follower = run.follower else { return }
        follower._withUnsafeGuaranteedRef { $0.link = run.others?.toOpaque() }
        state.scheduler.append(released: follower)
    }

    /// The queue's reference goes, or has gone over to the delivery of the handlers.
    @inline(__always)
    private func letGo(_ operation: Unmanaged<AnyOperation>, _ run: Run, _ departure: Departure) {
        if !run.handlersAreDue { operation.release() }
        if run.startsDelivery { startDelivering() }
        left(departure)
        // After it, and so are the calls of its handlers before those of the group's.
        if let groups = run.groups { AnyOperation.finish(groups: groups) }
    }

    @inline(__always)
    private func takeNext(
        after operation: Unmanaged<AnyOperation>, _ run: inout Run, _ inline: inout InlineStarts, on worker: Worker
    ) -> Unmanaged<AnyOperation>? {
        var departure = Departure.ordinary
        let action = change { state in
            state.reclaim(own: worker.localQueue, isPlain: run.isPlain)
            departure = leave(operation, &run, &state)
            list(from: run, after: operation, inline, &state)
            let action = state.deal(to: worker.localQueue)
            inline = InlineStarts(budget: state.scheduler.inlineBudget)
            return action
        }
        letGo(operation, run, departure)
        return take(action)
    }

    /// Decided when the groups have finished that end with this: what they release may come first.
    @inline(__always)
    private func takeNext(
        afterGroupsOf operation: Unmanaged<AnyOperation>, _ run: inout Run, _ inline: inout InlineStarts,
        on worker: Worker
    ) -> Unmanaged<AnyOperation>? {
        let departure = change { state in
            state.reclaim(own: worker.localQueue, isPlain: false)
            let departure = leave(operation, &run, &state)
            list(from: run, after: operation, inline, &state)
            return departure
        }
        letGo(operation, run, departure)
        return take(
            change { state in
                let action = state.deal(to: worker.localQueue)
                inline = InlineStarts(budget: state.scheduler.inlineBudget)
                return action
            })
    }

    /// True: the worker ends, because another one waits for its thread.
    private func endSlice(
        _ operation: Unmanaged<AnyOperation>, _ run: inout Run, _ inline: inout InlineStarts, on worker: Worker
    ) -> Bool {
        let (ends, departure) = change { state in
            state.reclaim(own: worker.localQueue, isPlain: run.isPlain)
            let departure = leave(operation, &run, &state)
            list(from: run, after: operation, inline, &state)
            inline = InlineStarts(budget: state.scheduler.inlineBudget)
            return (state.scheduler.endSlice(), departure)
        }
        letGo(operation, run, departure)
        return ends
    }

    /// The last thing that it took up is not the worker's any more, or has ended elsewhere.
    @inline(never)
    private func giveBack(on worker: Worker) {
        left(
            change { state in
                state.reclaim(own: worker.localQueue, isPlain: false)
                return departure(&state)
            })
    }

    /// A worker that cannot run another body: the spawn rule replaces it.
    @inline(never)
    private func retire(
        _ operation: Unmanaged<AnyOperation>, _ run: inout Run, _ inline: InlineStarts, on worker: Worker
    ) {
        let departure = change { state in
            state.reclaim(own: worker.localQueue, isPlain: false)
            let departure = leave(operation, &run, &state)
            list(from: run, after: operation, inline, &state)
            if run.holdsPermit { state.scheduler.returnPermit() } else { state.scheduler.endedWithoutPermit() }
            return departure
        }
        letGo(operation, run, departure)
    }

    @inline(__always)
    private func take(_ action: Scheduler.WorkerAction) -> Unmanaged<AnyOperation>? {
        switch action {
        case .run(let operation): return operation
        case .handOver(let resumption):
            resume(resumption.takeRetainedValue())
            return nil
        case .end: return nil
        }
    }
}
