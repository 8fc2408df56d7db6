/// These methods await an outcome. A body that waits releases its permit when its first wait begins, and takes one
/// again before its last wait ends, so that a queue of width 1 can run a graph nested to any depth.
extension AnyOperation {
    /// Returns when this operation has finished and its `finished` event has been published. The waiting body is taken
    /// from the current task's ``WorkerTaskContext``.
    nonisolated(nonsending) final func awaitOutcome() async throws(OperationError) {
        let task = WorkerTaskContext.current
        try await awaitOutcome(for: task?.running, upstreamOf: task?.iteration)
    }

    /// Returns when this operation has finished and its `finished` event has been published.
    ///
    /// - Parameters:
    ///   - body: The operation whose body waits; nil if another task waits.
    ///   - iteration: The `deliver` loop of that body, if the task reads the loop's source sequence; nil for all
    ///     other tasks.
    ///   - asChild: True if the body has started this operation, so that a cancellation of the body reaches it.
    ///   - begun: Called when the wait is registered, and before the permit is released, so that the operations
    ///     that `begun` puts on the ready list come before others that wait for a permit.
    /// - Throws: ``OperationError/dependencyCycle(_:)`` when the wait would never end.
    nonisolated(nonsending) final func awaitOutcome(
        for body: AnyOperation?, upstreamOf iteration: (any UpstreamIteration)? = nil, asChild: Bool = false,
        begun: () -> Void = {}
    ) async throws(OperationError) {
        if withLifecycle({ $0.phase == .finished }) {
            if isObserved { await waitUntilFinishedIsPublished() }
            return
        }
        if let body, let iteration {
            if let error = await UpstreamWait.wait(for: self, as: body, in: iteration, begun: begun) { throw error }
            if isObserved { await waitUntilFinishedIsPublished() }
            return
        }
        let openWait = body?.beginWait(for: self, asChild: asChild)
        if let body, body.currentPriority > currentPriority { Self.raise([self], to: body.currentPriority) }
        let error = await withUnsafeContinuation { continuation in
            let waiter = Waiter(
                receiver: .task(continuation), body: openWait?.body, run: openWait?.run ?? 0,
                place: openWait?.place ?? .none)
            let phase = addWaiter(waiter)
            begun()
            openWait?.core?.change { $0.scheduler.releasePermit() }
            if phase == .created { scheduleNotAddedCheck() }
            if phase == .finished {
                _ = waiter.outcomeCame(of: self)
            } else if let openWait {
                refuseWaitOnCycle(of: openWait.body)
            }
        }
        TSanAnnotations.didAwait(openWait?.body ?? self)
        if let error { throw error }
        if isObserved { await waitUntilFinishedIsPublished() }
    }

    /// Refuses this wait if it has closed a cycle of bodies that wait for one another. An add can close a cycle in the
    /// same way. If there are operations on the cycle that have not begun, these fail instead.
    final func refuseWaitOnCycle(of body: AnyOperation) {
        guard let path = body.cycle(closedByWaitFor: self) else { return }
        _ = removeWaiter(of: body)?.outcomeCame(of: self, error: .dependencyCycle(path))
    }

    /// Removes and returns the newest waiter registered for `body`; nil if the outcome has already resumed it.
    final func removeWaiter(of body: AnyOperation) -> Waiter? {
        withLifecycle { life -> Waiter? in
            guard let optionalState = life.optionalState,
                let index = optionalState.waiters.lastIndex(where: { $0.body === body })
            else { return nil }
            return optionalState.waiters.remove(at: index)
        }
    }

    /// Adds the waiter, unless the operation has finished. Returns the phase.
    final func addWaiter(_ waiter: Waiter) -> Lifecycle.Phase {
        let phase = withLifecycle { life in
            if life.phase != .finished { life.ensureOptionalState().waiters.append(waiter) }
            return life.phase
        }
        // While the operation is being linked, its links are incomplete, so a search by this thread may miss a cycle.
        // The linking thread searches when it finds this note.
        if phase == .added { dependencyCounter.noteAwaited() }
        return phase
    }
}

extension Waiter {
    /// The operation whose body waits now; nil if there is none. A body that has left the loop over a delivered
    /// sequence no longer waits for the operations that the loop had started.
    var waitingBody: AnyOperation? {
        switch receiver {
        case .listener(let listener, _): listener.body
        case .task, .group: body
        }
    }

    /// Wakes the waiter, which may first have to wait for a permit. Called outside every lock. Returns a group that has
    /// ended because of the outcome, for the caller to finish.
    func outcomeCame(of operation: AnyOperation, error: OperationError? = nil) -> Unretained<AnyOperation>? {
        switch receiver {
        case .group(let group, let place): return group.childEnded(place, operation, error ?? operation.failure)
        case .listener(let listener, let place): listener.ended(place, operation, error)
        case .task(let continuation):
            if let body {
                body.waitEnded(at: place, in: run, continuation, error)
            } else {
                TSanAnnotations.willResume(operation)
                continuation.resume(returning: error)
            }
        }
        return nil
    }
}

// MARK: - The permit of a body that waits

extension AnyOperation {
    /// An open wait of a body. The first one releases the permit; others share that release.
    struct OpenWait {
        let body: AnyOperation
        /// The run of the body. Waits that a run leaves behind do not count in the next run.
        let run: Int32
        /// The place among the waits of the run; none if the body does not wait for an operation.
        let place: Awaited.ID
        /// The queue to which the permit is released; nil if the body has no permit, or has released it in an earlier
        /// wait that is still open.
        let core: QueueCore?
    }

    /// Notes that a wait begins. Returns nil if the body and its `willFinish` handlers have ended.
    fileprivate final func beginWait(for operation: AnyOperation? = nil, asChild: Bool = false) -> OpenWait? {
        withLifecycle { life -> OpenWait? in
            guard life.canWait else { return nil }
            let optionalState = life.ensureOptionalState()
            optionalState.openWaits += 1
            let awaited = operation.map { Awaited(operation: $0, isChild: asChild) }
            let openWait = OpenWait(
                body: self, run: optionalState.run, place: awaited.map { optionalState.waits.insert($0) } ?? .none,
                core: optionalState.openWaits == 1 && life.worker != nil ? core : nil)
            if optionalState.preconditions.noteWait() { ExclusionManager.noteHolderWait() }
            return openWait
        }
    }

    /// Ends a wait whose outcome has come. The last open wait of a body needs a permit before it ends; the others do
    /// not.
    fileprivate final func waitEnded(
        at place: Awaited.ID, in run: Int32, _ continuation: UnsafeContinuation<OperationError?, Never>,
        _ error: OperationError?
    ) {
        let resumption = Scheduler.Resumption(body: self, run: run, continuation: continuation, error: error)
        let core = withLifecycle { life -> QueueCore? in
            guard life.canWait, let optionalState = life.optionalState, optionalState.run == run else { return nil }
            if !place.isNone {
                // The thread that ends the wait retains the operation, so it is not deallocated under the lock.
                optionalState.waits[place] = nil
                optionalState.waits.remove(place)
            }
            if optionalState.openWaits == 1, life.worker != nil {
                optionalState.resumption = resumption
                return self.core
            }
            optionalState.endOpenWait()
            return nil
        }
        guard let core else {
            TSanAnnotations.willResume(self)
            continuation.resume(returning: error)
            return
        }
        core.change { $0.scheduler.append(resumption, at: currentPriority) }
    }

    /// Ends a wait for which a permit has been taken. Returns false if the run of the body has ended, or if the body
    /// has begun another wait, so that it does not use the permit.
    final func endWait(in run: Int32) -> Bool {
        withLifecycle { life in
            life.optionalState?.resumption = nil
            guard life.canWait, let optionalState = life.optionalState, optionalState.run == run else { return false }
            optionalState.endOpenWait()
            return optionalState.openWaits == 0
        }
    }
}

// MARK: - Waits for things other than operations

/// A task that waits until another task resumes it. If the task runs a body, it releases the body's permit meanwhile.
struct SuspendedTask: Sendable {
    private let continuation: UnsafeContinuation<OperationError?, Never>
    private let body: AnyOperation?
    private let run: Int32
    private let subject: any AnyObject & Sendable

    /// Suspends the calling task, and returns when it has been resumed.
    ///
    /// - Parameters:
    ///   - subject: The object that the task shares with the one that resumes it, for ThreadSanitizer.
    ///   - begun: Stores the task for the code that will resume it exactly once. Returns false if there is nothing to
    ///     wait for.
    nonisolated(nonsending) static func suspend(
        on subject: any AnyObject & Sendable, begun: (SuspendedTask) -> Bool
    ) async {
        let openWait = WorkerTaskContext.current?.holderOfPermit?.beginWait()
        _ = await withUnsafeContinuation { continuation in
            let task = SuspendedTask(
                continuation: continuation, body: openWait?.body, run: openWait?.run ?? 0, subject: subject)
            let isKept = begun(task)
            openWait?.core?.change { $0.scheduler.releasePermit() }
            if !isKept { task.resume() }
        }
        if let openWait { TSanAnnotations.didAwait(openWait.body) } else { TSanAnnotations.didAwait(subject) }
    }

    /// Resumes the task. Called once, outside every lock.
    func resume() {
        if let body { return body.waitEnded(at: .none, in: run, continuation, nil) }
        TSanAnnotations.willResume(subject)
        continuation.resume(returning: nil)
    }
}

extension AnyOperation {
    /// Registers an iteration or another wait of this operation's body, which waits for all operations that the
    /// listener awaits, until ``stopListening(_:at:)``.
    ///
    /// - Returns: The place of the listener; none if the body and its `willFinish` handlers have ended.
    final func startListening(_ listener: any OutcomeListener) -> ListenerPlace {
        withLifecycle { life in
            guard life.canWait else { return .none }
            let optionalState = life.ensureOptionalState()
            if optionalState.preconditions.noteWait() { ExclusionManager.noteHolderWait() }
            return optionalState.listeners.insert(listener)
        }
    }

    /// Removes a listener. Has no effect if the run in which it was registered has ended.
    final func stopListening(_ listener: any OutcomeListener, at place: ListenerPlace) {
        withLifecycle { life in
            guard life.phase != .finished, let optionalState = life.optionalState,
                optionalState.listeners.hasPlace(place), optionalState.listeners[place] === listener
            else { return }
            optionalState.listeners[place] = nil
            optionalState.listeners.remove(place)
        }
    }
}

// MARK: - Waiters

/// A task, group or iteration that awaits an operation's outcome.
struct Waiter {
    enum Receiver {
        /// The task is resumed, with an error if the wait itself would have closed a cycle.
        case task(UnsafeContinuation<OperationError?, Never>)
        /// The group is notified that its child at this place has ended.
        case group(ChildGroup, ChildGroup.ChildIndex)
        /// The listener is notified that the operation at this place has ended.
        case listener(any OutcomeListener, Int)
    }

    let receiver: Receiver
    /// The operation whose body waits; nil if another task waits.
    let body: AnyOperation?
    /// The run of that body.
    var run: Int32 = 0
    /// The place of the wait in ``OptionalState/waits`` of that body.
    var place = Awaited.ID.none
}

/// A wait for many operations, such as an iteration, that receives their outcomes, each with the place that was given
/// at its registration. No lock is held during a call.
protocol OutcomeListener: AnyObject, Sendable {
    /// The kind of wait that explanations show.
    var kindOfWait: OperationWait.Kind { get }
    /// The operations that have not ended, in the order in which they were registered.
    var waitsFor: [AnyOperation] { get }
    /// Returns at most `limit` of these operations, not necessarily the first ones, in order of registration.
    func waitsFor(first limit: Int) -> [AnyOperation]
    /// The operation whose body waits for them; nil once it does not wait for them any more.
    var body: AnyOperation? { get }
    /// True if somebody waits for the next element, and there is none yet.
    var awaitsMore: Bool { get }

    /// Called when the body has ended. The listener must release ``body``.
    func bodyEnded()

    /// Called when the wait for an operation is over.
    ///
    /// - Parameter error: Set if the wait was refused because of a cycle. The operation has then not ended.
    func ended(_ place: Int, _ operation: AnyOperation, _ error: OperationError?)
}

/// The place of a listener among those of a body.
typealias ListenerPlace = Slab<(any OutcomeListener)?>.ID

/// An operation that a body waits for.
struct Awaited {
    typealias ID = Slab<Awaited?>.ID

    let operation: AnyOperation
    /// True if `context.run` has started the operation: a cancellation of the waiting operation then reaches it.
    let isChild: Bool
}
