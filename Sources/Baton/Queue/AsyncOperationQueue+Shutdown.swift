extension AsyncOperationQueue {
    /// Closes the queue to new operations, and returns when those in the queue have finished and their handlers have
    /// returned.
    ///
    /// ```swift
    /// queue.add(uploads)
    /// await queue.drain()         // refuses what is added from here on, and waits for the uploads
    /// ```
    ///
    /// Use this at the end of a program that has time, because nothing is cancelled. If the queue is to be used again,
    /// call ``waitUntilIdle()``. If the program has to stop after a time, call ``shutdown(within:clock:)``.
    ///
    /// - **Operations that are still taken.** Until this call returns, the queue takes operations that its bodies run
    ///   or produce, and operations that bodies of other queues run, because a body of this queue may wait for them.
    ///   Drain a queue that runs operations here before this one.
    /// - **Operations that are refused.** Any other operation that is added, and every operation after this call has
    ///   returned, ends with ``OperationError/queueShutDown(refused:queue:)``, and calls that wait in
    ///   ``submit(_:file:line:)`` throw it.
    /// - **Queues that do not become idle.** This call also waits while the queue is suspended, and while an operation
    ///   repeats without end. Resume the queue and cancel such operations first, or call ``shutdown(within:clock:)``.
    ///   If the queue is suspended when this is called and has not been resumed a second later, that is reported as
    ///   ``Misuse``, and the wait goes on.
    ///
    /// The method may be called several times; all calls return when the queue is idle. Calling it in a body or a
    /// handler of this queue is ``Misuse`` and changes nothing.
    public func drain() async {
        if refusesToWaitForItself(in: "drain") { return }
        core.shutDown(to: .draining)
        let check = core.checkSuspension(during: "drain")
        await core.waitUntilIdleReleasingPermit(.endOfShutdown)
        check?.cancel()
    }

    /// Drains the queue, cancels what is left after `limit`, and returns when every operation has finished.
    ///
    /// ```swift
    /// await queue.shutdown(within: .seconds(10))
    /// ```
    ///
    /// Use this at the end of a program that has to stop. ``drain()`` does the same without a limit. In a program that
    /// ends on a signal, call ``shutdown(on:_:within:clock:file:line:onSignal:)``.
    ///
    /// When the limit expires or the calling task is cancelled, every operation is cancelled, and the queue takes no
    /// more operations, not even from bodies. The call still waits for bodies that ignore their cancellation and for
    /// handlers that have not returned, so no work continues after it. An operation that is added or run later, also
    /// by a body of another queue, ends with ``OperationError/queueShutDown(refused:queue:)``; the `add` itself returns
    /// as usual.
    ///
    /// The method may be called several times, also after ``drain()``; the shortest limit applies. Calling it in a body
    /// or a handler of this queue is ``Misuse`` and changes nothing.
    ///
    /// - Parameters:
    ///   - limit: The time that the operations have. Zero cancels them immediately. A negative limit is ``Misuse`` and
    ///     counts as zero.
    ///   - clock: The clock that measures `limit`.
    public func shutdown<C: Clock>(within limit: Duration, clock: C = ContinuousClock()) async
    where C.Duration == Duration {
        if refusesToWaitForItself(in: "shutdown") { return }
        if limit < .zero { core.report(Misuse(.negativeDuration("the time to shut down"), queue: name)) }
        core.shutDown(to: .draining)
        let core = core
        if limit <= .zero {
            core.cutOff()
            return await core.waitUntilIdleReleasingPermit(.endOfShutdown)
        }
        let time = TimeSource(clock)
        // The timer is not a child task, because bodies may block the threads of the caller's executor.
        let timer = core.taskFactory.background.spawn {
            if (try? await time.sleep(until: limit.bounded)) != nil { core.cutOff() }
        }
        await withTaskCancellationHandler {
            await core.waitUntilIdleReleasingPermit(.endOfShutdown)
        } onCancel: {
            core.cutOff()
        }
        timer.cancel()
    }

    /// A Boolean value that indicates whether the queue is draining or shutting down, or has done so. It never becomes
    /// false again.
    ///
    /// From then on the queue takes no operations from outside. A body that produces more and more work, such as that
    /// of a crawler, checks this before it produces any.
    ///
    /// ```swift
    /// for link in page.links where !queue.isShuttingDown {
    ///     try context.produce(visit(link))
    /// }
    /// ```
    public var isShuttingDown: Bool { core.state.withLock { $0.shutdownState != .running } }

    /// Returns true, and reports the call, if a body or a handler of this queue makes it.
    func refusesToWaitForItself(in call: String) -> Bool {
        guard let task = WorkerTaskContext.current, task.belongs(to: core) else { return false }
        core.report(Misuse(.waitedForItsOwnQueue(call), operation: task.running?.reference, queue: name))
        return true
    }
}

/// The progress of a queue's shutdown.
enum ShutdownState {
    case running
    /// The queue refuses operations from outside. Those in the queue go on, with everything that they run and produce.
    case draining
    /// The queue refuses all operations: it was cut off, or it became idle while it was draining.
    case closed
}

/// A listener that is notified when a queue is shut down, such as an iteration over a sequence that adds an operation
/// for each element.
protocol ShutdownListener: AnyObject, Sendable {
    /// Called when the queue drains or has closed, with no lock held.
    func shutdownStateChanged(to shutdownState: ShutdownState)
}

/// The listeners of a queue, with the number of each in the order of arrival.
typealias ShutdownListeners = [ObjectIdentifier: (number: UInt64, listener: any ShutdownListener)]

extension QueueCore {
    /// Refuses operations from now on: those from outside, or all of them. A queue that is closed never drains again.
    func shutDown(to shutdownState: ShutdownState) {
        let (refused, closeWaiters, shutdownListeners) = change { state in
            if state.shutdownState != .closed { state.shutdownState = shutdownState }
            defer { state.closeWaiters = [] }
            return (state.admission.removeAll(), state.closeWaiters, state.shutdownListeners.values)
        }
        for submission in refused { submission.resume(returning: .refused) }
        resumeWaiters(closeWaiters)
        notify(shutdownListeners, of: shutdownState)
    }

    /// Ends the shutdown of a queue that drains, if it is idle: from then on it refuses bodies of other queues, too.
    /// Returns false if such a body has added an operation since the queue was idle.
    func closeIfIdle() -> Bool {
        let (isIdle, shutdownListeners) = state.withLock { state in
            let isIdle = self.isIdle(state)
            guard isIdle, state.shutdownState == .draining else { return (isIdle, [ShutdownListeners.Value]()) }
            state.shutdownState = .closed
            return (true, Array(state.shutdownListeners.values))
        }
        notify(shutdownListeners, of: .closed)
        return isIdle
    }

    /// Notifies the listeners in order of arrival, so that a seeded schedule can be repeated.
    private func notify(_ listeners: some Sequence<ShutdownListeners.Value>, of shutdownState: ShutdownState) {
        for entry in listeners.sorted(by: { $0.number < $1.number }) {
            entry.listener.shutdownStateChanged(to: shutdownState)
        }
    }

    /// Registers a listener that is notified when the queue is shut down, or immediately if it was shut down before.
    func startListening(_ listener: any ShutdownListener) {
        let shutdownState = state.withLock { state in
            state.lastShutdownListener += 1
            state.shutdownListeners[ObjectIdentifier(listener)] = (state.lastShutdownListener, listener)
            return state.shutdownState
        }
        if shutdownState != .running { listener.shutdownStateChanged(to: shutdownState) }
    }

    func stopListening(_ listener: any ShutdownListener) {
        _ = state.withLock { $0.shutdownListeners.removeValue(forKey: ObjectIdentifier(listener)) }
    }

    /// Returns when the queue takes no more operations from outside.
    func waitUntilClosed() async {
        await withUnsafeContinuation { continuation in
            let isClosed = state.withLock { state in
                if state.shutdownState == .running { state.closeWaiters.append(continuation) }
                return state.shutdownState != .running
            }
            if isClosed { continuation.resume() }
        }
        TSanAnnotations.didAwait(self)
    }

    /// Closes the queue to everybody, and cancels every operation in it.
    func cutOff() {
        shutDown(to: .closed)
        // The closure returns true to cancel operations that operations elsewhere have joined, too.
        cancelMembers(reason: .queue) { _ in true }
    }

    func cancelAll(reason: CancellationReason) {
        cancelMembers(reason: reason) { $0.ownerWithdraws(reason) }
    }

    private func cancelMembers(reason: CancellationReason, if isWanted: (Lifecycle) -> Bool) {
        holding { AnyOperation.cancel(state.withLock { $0.registry.members() }, reason: reason, if: isWanted) }
    }
}
