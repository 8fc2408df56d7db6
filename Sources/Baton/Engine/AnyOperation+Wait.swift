/// Awaiting an outcome. A body that waits releases its permit: it is given back when its first wait begins, and taken
/// again before its last one ends, so that a queue of width 1 can run a graph nested to any depth.
extension AnyOperation {
    /// Returns when this has finished, and those who observe it have been told.
    ///
    /// - Parameters:
    ///   - body: The operation whose body waits, nil for anybody else.
    ///   - asChild: The body has started this one, and its cancel reaches it.
    ///   - begun: Called when the wait is known, and before the permit is given back: whatever it lists comes first.
    /// - Throws: ``OperationError/dependencyCycle(_:)`` when the wait would never end.
    nonisolated(nonsending) final func awaitOutcome(
        for body: AnyOperation?, asChild: Bool = false, begun: () -> Void = {}
    ) async throws(OperationError) {
        if withLife({ $0.phase == .finished }) {
            if isObserved { await waitUntilEndIsTold() }
            return
        }
        let loan = body?.beginWait(for: self, asChild: asChild)
        if let body, body.level > level { Self.raise([self], to: body.level) }
        let error = await withUnsafeContinuation { continuation in
            let waiter = Waiter(
                waking: .resume(continuation), body: loan?.body, run: loan?.run ?? 0, place: loan?.place ?? .none)
            let phase = addWaiter(waiter)
            begun()
            loan?.core?.change { $0.scheduler.releasePermit() }
            if phase == .created { noteAwaitedBeforeAdding() }
            if phase == .finished {
                _ = waiter.outcomeCame(of: self)
            } else if let loan {
                refuseEndlessWait(of: loan.body)
            }
        }
        TSanAnnotations.didAwait(loan?.body ?? self)
        if let error { throw error }
        if isObserved { await waitUntilEndIsTold() }
    }

    /// A wait can close a cycle, as an add can. Operations of it that have not begun fail; if there is none, all are
    /// bodies that wait for one another, and this wait is refused.
    private final func refuseEndlessWait(of body: AnyOperation) {
        guard let path = body.cycle(closedByWaitFor: self) else { return }
        _ = removeWaiter(of: body)?.outcomeCame(of: self, error: .dependencyCycle(path))
    }

    /// The last one. Nil: the outcome has come.
    final func removeWaiter(of body: AnyOperation) -> Waiter? {
        withLife { life -> Waiter? in
            guard let optionalState = life.optionalState,
                let index = optionalState.waiters.lastIndex(where: { $0.body === body })
            else { return nil }
            return optionalState.waiters.remove(at: index)
        }
    }

    /// Returns the phase: one that has finished does not take it.
    final func addWaiter(_ waiter: Waiter) -> Lifecycle.Phase {
        let phase = withLife { life in
            if life.phase != .finished { life.madeOptionalState().waiters.append(waiter) }
            return life.phase
        }
        // While it is being linked a search from here cannot see it from both sides: the one that links it searches
        // then.
        if phase == .added { dependencyCounter.noteAwaited() }
        return phase
    }
}

extension Waiter {
    /// The operation whose body waits now. A body that has left its loop waits no longer for what that had started.
    var waitingBody: AnyOperation? {
        switch waking {
        case .inform(let listener, _): listener.body
        case .resume, .tell: body
        }
    }

    /// Wakes it, if need be when there is a permit for it. Outside every lock. Returns a group that has ended by this,
    /// for the caller to finish.
    func outcomeCame(of operation: AnyOperation, error: OperationError? = nil) -> Unmanaged<AnyOperation>? {
        switch waking {
        case .tell(let group, let place): return group.childEnded(place, operation, error ?? operation.failure)
        case .inform(let listener, let place): listener.ended(place, operation, error)
        case .resume(let continuation):
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
    /// A wait of a body.
    struct PermitRelease {
        let body: AnyOperation
        /// Of the body: waits that one leaves behind are none of the next.
        let run: Int32
        /// None: it is for no operation.
        let place: Awaited.Place
        /// The permit goes back: this is the first open wait, and the body has a permit.
        let core: QueueCore?
    }

    /// Nil: the body and its last handlers have ended.
    fileprivate final func beginWait(for operation: AnyOperation? = nil, asChild: Bool = false) -> PermitRelease? {
        withLife { life -> PermitRelease? in
            guard life.canWait else { return nil }
            let optionalState = life.madeOptionalState()
            optionalState.openWaits += 1
            let awaited = operation.map { Awaited(operation: $0, isChild: asChild) }
            let loan = PermitRelease(
                body: self, run: optionalState.run, place: awaited.map { optionalState.waits.insert($0) } ?? .none,
                core: optionalState.openWaits == 1 && life.worker != nil ? core : nil)
            if optionalState.preconditions.noteWait() { ExclusionManager.holderWaits() }
            return loan
        }
    }

    /// The outcome has come. The last wait needs a permit before it ends; the others do not.
    fileprivate final func waitEnded(
        at place: Awaited.Place, in run: Int32, _ continuation: UnsafeContinuation<OperationError?, Never>,
        _ error: OperationError?
    ) {
        let resumption = Scheduler.Resumption(body: self, run: run, continuation: continuation, error: error)
        let core = withLife { life -> QueueCore? in
            guard life.canWait, let optionalState = life.optionalState, optionalState.run == run else { return nil }
            if !place.isNone {
                // Whoever ends the wait holds the operation.
                optionalState.waits[place] = nil
                optionalState.waits.remove(place)
            }
            if optionalState.openWaits == 1, life.worker != nil {
                optionalState.resumption = resumption
                return self.core
            }
            optionalState.openWaits -= 1
            return nil
        }
        guard let core else {
            TSanAnnotations.willResume(self)
            continuation.resume(returning: error)
            return
        }
        core.change { $0.scheduler.append(resumption, at: level) }
    }

    /// A permit is booked for this run of the body. False: it has ended, or has begun another wait, and does not take
    /// it.
    final func endWait(in run: Int32) -> Bool {
        withLife { life in
            life.optionalState?.resumption = nil
            guard life.canWait, let optionalState = life.optionalState, optionalState.run == run else { return false }
            optionalState.openWaits -= 1
            return optionalState.openWaits == 0
        }
    }
}

// MARK: - Waits for what is no operation

/// A task that waits for somebody to end its wait. The body that it runs, if it does, releases its permit meanwhile.
struct Pause: Sendable {
    private let continuation: UnsafeContinuation<OperationError?, Never>
    private let body: AnyOperation?
    private let run: Int32
    private let subject: any AnyObject & Sendable

    /// Returns when the pause has been ended.
    ///
    /// - Parameter begun: Keeps the pause for whoever will end it, once. False: there is nothing to wait for.
    nonisolated(nonsending) static func wait(on subject: any AnyObject & Sendable, begun: (Pause) -> Bool) async {
        let loan = WorkerTaskContext.current?.running?.beginWait()
        _ = await withUnsafeContinuation { continuation in
            let pause = Pause(
                continuation: continuation, body: loan?.body, run: loan?.run ?? 0, subject: subject)
            let isKept = begun(pause)
            loan?.core?.change { $0.scheduler.releasePermit() }
            if !isKept { pause.end() }
        }
        if let loan { TSanAnnotations.didAwait(loan.body) } else { TSanAnnotations.didAwait(subject) }
    }

    /// The one end of it. Outside every lock.
    func end() {
        if let body { return body.waitEnded(at: .none, in: run, continuation, nil) }
        TSanAnnotations.willResume(subject)
        continuation.resume(returning: nil)
    }
}

extension AnyOperation {
    /// The body of this iterates: it waits for all that the listener awaits, until it stops.
    final func startListening(_ listener: any OutcomeListener) {
        withLife { life in
            guard life.canWait else { return }
            let optionalState = life.madeOptionalState()
            optionalState.listeners.append(listener)
            if optionalState.preconditions.noteWait() { ExclusionManager.holderWaits() }
        }
    }

    final func stopListening(_ listener: any OutcomeListener) {
        withLife { life in
            if life.phase != .finished { life.optionalState?.listeners.removeAll { $0 === listener } }
        }
    }
}
