extension AsyncOperationQueue {
    /// Takes no more operations, for good, and returns when those that are in the queue have finished, with their
    /// handlers.
    ///
    /// What their bodies run or produce is still taken, and what bodies of other queues run, for which a body of this
    /// one may wait: drain those first that run something here. What is added otherwise ends with
    /// ``OperationError/queueShutDown``, and who waits in ``submit(_:file:line:)`` gets that error. A suspended queue
    /// has to be resumed, or this waits, too. An operation that repeats without an end keeps it waiting for ever:
    /// cancel that first, or use ``shutdown(within:clock:)``. May be called several times; all return when the queue is
    /// idle. In a body or a handler of this queue it is ``Misuse``, and changes nothing.
    public func drain() async {
        if refusesToWaitForItself() { return }
        core.close(.toOutside)
        await core.waitUntilIdleReleasingPermit()
    }

    /// Drains the queue, and after `limit` cancels what is left; returns when everything has finished.
    ///
    /// When the limit is over, or the calling task is cancelled, every operation is cancelled, and nothing more is
    /// taken, from bodies neither. A body that ignores its cancel, and a handler that does not return, are waited for
    /// all the same: no work goes on behind the caller. May be called several times, also after ``drain()``; the
    /// shortest limit counts. In a body or a handler of this queue it is ``Misuse``, and changes nothing.
    ///
    /// - Parameters:
    ///   - limit: How long the operations have. Zero or less cancels them at once.
    ///   - clock: What measures it.
    public func shutdown<C: Clock>(within limit: Duration, clock: C = ContinuousClock()) async
    where C.Duration == Duration {
        if refusesToWaitForItself() { return }
        core.close(.toOutside)
        let core = core
        if limit <= .zero { core.cutOff() }
        let time = TimeSource(clock)
        // Not a child task: bodies may block the threads of the caller's executor.
        let timer = core.taskFactory.background.spawn {
            if (try? await time.sleep(until: limit.bounded)) != nil { core.cutOff() }
        }
        await withTaskCancellationHandler {
            await core.waitUntilIdleReleasingPermit()
        } onCancel: {
            core.cutOff()
        }
        timer.cancel()
    }

    /// Whether the queue drains, shuts down, or has done so: it takes nothing more from outside, for good.
    ///
    /// A body that makes more and more work, such as that of a crawler, asks this before it makes any.
    public var isShuttingDown: Bool { core.state.withLock { $0.closing != .not } }

    func refusesToWaitForItself() -> Bool {
        guard let task = WorkerTaskContext.current, task.belongs(to: core) else { return false }
        core.report(Misuse(.waitedForItsOwnQueue, operation: task.running?.reference, queue: name))
        return true
    }
}

/// Whoever adds to a queue for as long as that takes operations.
protocol ClosingListener: AnyObject, Sendable {
    /// Outside every lock.
    func queueCloses(_ closing: ShutdownState)
}

extension QueueCore {
    /// Only ever closes further.
    func close(_ closing: ShutdownState) {
        let (refused, closeWaiters, deliverers) = change { state in
            if state.closing != .toAll { state.closing = closing }
            defer { state.closeWaiters = [] }
            return (state.admission.removeAll(), state.closeWaiters, state.deliverers.values)
        }
        for submission in refused { submission.resume(returning: .refused) }
        resumeWaiters(closeWaiters)
        // In the order in which they came, so that a seeded schedule repeats.
        for deliverer in deliverers.sorted(by: { $0.number < $1.number }) { deliverer.listener.queueCloses(closing) }
    }

    /// From now on it is told when the queue closes; now, if it has.
    func startListening(_ deliverer: any ClosingListener) {
        let closing = state.withLock { state in
            state.lastDeliverer += 1
            state.deliverers[ObjectIdentifier(deliverer)] = (state.lastDeliverer, deliverer)
            return state.closing
        }
        if closing != .not { deliverer.queueCloses(closing) }
    }

    func stopListening(_ deliverer: any ClosingListener) {
        _ = state.withLock { $0.deliverers.removeValue(forKey: ObjectIdentifier(deliverer)) }
    }

    /// Returns when the queue takes nothing more from outside.
    func waitUntilClosed() async {
        await withUnsafeContinuation { continuation in
            let isClosed = state.withLock { state in
                if state.closing == .not { state.closeWaiters.append(continuation) }
                return state.closing != .not
            }
            if isClosed { continuation.resume() }
        }
        TSanAnnotations.didAwait(self)
    }

    /// Closes the queue to everybody, and cancels what is in it.
    func cutOff() {
        close(.toAll)
        // Who waits for the end of the queue finds nothing alive.
        beginHolding()
        defer { hasReleased() }
        // Also what others elsewhere have joined.
        AnyOperation.cancel(state.withLock { $0.members() }, reason: .queue) { _ in true }
    }

    func cancelAll(reason: CancellationReason) {
        AnyOperation.cancel(state.withLock { $0.members() }, reason: reason) { $0.ownerWithdraws(reason) }
    }
}
