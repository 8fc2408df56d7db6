/// The events of an operation. Only an observed operation reaches this code: a bit beside the dependency counter says
/// whether somebody observes the operation, and each step of its life checks that bit alone.
extension AnyOperation {
    /// True if somebody observes the operation or has done so. Never becomes false again.
    @inline(__always)
    final var isObserved: Bool { dependencyCounter.isObserved }

    // MARK: Publishing

    /// Appends an event that accompanies no change of state, and publishes it.
    final func tell(_ kind: OperationEvent.Kind) {
        tellEvents { $0.note(kind) }
    }

    /// Publishes the pending events, unless another thread is publishing events of this operation. The caller holds no
    /// lock.
    ///
    /// - Parameter note: Appends events. Called under the operation's lock, in the step in which publishing begins.
    @inline(never)
    final func tellEvents(after note: (inout Lifecycle) -> Void = { _ in }) {
        var next = withLife { life -> EventOutbox.Batch? in
            note(&life)
            guard let outbox = life.borrowedOutbox else { return nil }
            return outbox._withUnsafeGuaranteedRef { $0.machine.startTelling { namedSoFar(&life) } }
        }
        while let batch = next.take() {
            let start = batch.tell()
            let waiters: [EventOutbox.Waiter]
            (next, waiters) = withLife { life in
                guard let outbox = life.borrowedOutbox else { return (nil, []) }
                return outbox._withUnsafeGuaranteedRef {
                    let next = $0.machine.continueTelling(start: start) { namedSoFar(&life) }
                    return (next, $0.machine.takeWaiters())
                }
            }
            for waiter in waiters { waiter.endIsTold() }
        }
    }

    /// Returns when the `finished` event of the operation, which has its outcome, has been published.
    ///
    /// The outcome is visible slightly earlier: the thread that finishes the operation publishes the event next, or
    /// leaves it to a thread that is publishing other events of the operation.
    @inline(never)
    nonisolated(nonsending) final func waitUntilEndIsTold() async {
        await withUnsafeContinuation { continuation in
            let mustWait = withLife { life in
                life.borrowedOutbox?._withUnsafeGuaranteedRef { $0.machine.keep(.task(continuation)) } ?? false
            }
            if !mustWait { continuation.resume() }
        }
    }

    private final func namedSoFar(_ life: inout Lifecycle) -> (OperationReference, isFinal: Bool) {
        (reference(&life), life.phase != .created)
    }

    /// Publishes `ready`. Called by the thread that makes the operation ready, before it puts the operation on the
    /// ready list.
    @inline(never)
    final func tellReady() {
        tellEvents { $0.noteReady() }
    }

    /// Publishes `excluded`. Called by the worker whose request for exclusions has to wait. Publishes nothing if that
    /// wait is over.
    ///
    /// - Parameter request: The number of the request, which distinguishes it from later requests of the same
    ///   operation.
    @inline(never)
    final func tellExcluded(by holder: OperationReference, from name: ExclusionName, in request: UInt32) {
        tellEvents { life in
            guard life.phase == .added, let preconditions = life.optionalState?.preconditions,
                preconditions.standing == .requested,
                preconditions.requests == request
            else { return }
            life.note(.excluded(by: holder, exclusion: "\(name)"))
        }
    }

    /// Publishes `waitingForRate` or `granted`. Called by the worker that is about to queue the operation for the rate,
    /// and by the thread that has removed the operation from that queue.
    @inline(never)
    final func tellOfRate(_ kind: OperationEvent.Kind) {
        tellEvents { life in if life.phase == .added { life.note(kind) } }
    }

    /// Publishes `finished`. Called by the thread that has published the outcome, before anything else follows from the
    /// outcome.
    ///
    /// - Parameter core: The queue of the operation, which has not left it. The queue is not idle before the event is
    ///   published.
    @inline(never)
    final func tellFinish(in core: QueueCore?) {
        tell(.finished(outcomeKind, error: failure))
        guard let core, withLife({ $0.outbox?.machine.hasToldEnd }) == false else { return }
        // Another thread is going to publish the event. Until then it counts as an open delivery, so the queue is not
        // idle.
        core.state.withLock { $0.handlerDispatcher.begin() }
        if !withLife({ $0.outbox?.machine.keep(.queue(core)) ?? false }) { core.deliveryEnded() }
    }

    @inline(never)
    final func tellProgress(_ fraction: Double, version: UInt64) {
        tellEvents { $0.outbox?.machine.appendProgress(fraction, version: version) }
    }

    /// Publishes `misuse`. Once `finished` has been published, only the observers of the queue receive it.
    final func tellMisuse(_ misuse: Misuse) {
        let (isNoted, number) = withLife { life in
            (life.outbox?.machine.append(.misuse(misuse)) ?? false, queueNumber)
        }
        if isNoted { return tellEvents() }
        if let hub = QueueDirectory.find(number)?.hub, hub.isObserved {
            let subject = EventSubject(reference, in: hub.queue)
            hub.publish(.one(.misuse(misuse)), of: .passUnretained(subject), also: nil)
            withExtendedLifetime(subject) {}
        }
    }

    // MARK: Being added

    /// Holds back all events until `added` has been published. The caller claims the operation, and holds its lock.
    @inline(never)
    final func holdEvents(for hub: EventBroadcaster, isQueueObserved: Bool, _ life: inout Lifecycle) {
        if isQueueObserved, life.borrowedOutbox == nil {
            life.madeOptionalState().beginOutbox()
            dependencyCounter.noteObserved()
        }
        life.borrowedOutbox?._withUnsafeGuaranteedRef { $0.machine.hold(for: hub) }
    }

    /// The content of an `added` event.
    struct Addition {
        fileprivate let edges: [OperationEvent.Edge]
        fileprivate let parent: OperationReference?
    }

    /// Returns the content of the `added` event, or `nil` if nobody observed the operation when it was claimed. The
    /// broadcaster of the queue expects the `finished` event of the operation from then on.
    ///
    /// Called by the thread that links the operation, when the dependencies are frozen and no other thread can start or
    /// finish it.
    @inline(never)
    final func additionToTell(from origin: SubmissionSource) -> Addition? {
        let (hub, progress, policies, inputCount) = withLife { life in
            (
                life.outbox?.machine.heldFor, life.optionalState?.progress, life.optionalState?.policies ?? [],
                life.inputCount
            )
        }
        guard let hub else { return nil }
        observe(Beginning(hub: hub, progress: progress))
        return Addition(
            edges: edges.isEmpty ? [] : toldEdges(policies, inputCount: inputCount), parent: origin.parent?.reference)
    }

    /// Publishes `added`, what follows from it, and the events that were held back. Called by the thread that links the
    /// operation, while no other thread can start it.
    @inline(never)
    final func tell(_ addition: Addition, isWaiting: Bool = false, isReady: Bool = false) {
        tellEvents { life in
            life.borrowedOutbox?._withUnsafeGuaranteedRef {
                $0.machine.release(edges: addition.edges, isWaiting: isWaiting, parent: addition.parent)
            }
            if isReady { life.noteReady() }
        }
    }

    /// Returns inputs first. A dependency that was added several times appears as often.
    private final func toldEdges(_ policies: [EdgePolicy], inputCount: Int) -> [OperationEvent.Edge] {
        // The remaining policies, in the order of the edges that they belong to.
        var rest = policies.filter { $0.policy != .always }[...]
        return edges.all.withoutFences.enumerated().map { place, source in
            if place < inputCount { return OperationEvent.Edge(source: source.reference, kind: .input) }
            guard let next = rest.first, next.source.toOpaque() == Unmanaged.passUnretained(source).toOpaque() else {
                return OperationEvent.Edge(source: source.reference, kind: .order(.always))
            }
            rest.removeFirst()
            return OperationEvent.Edge(source: source.reference, kind: .order(next.policy))
        }
    }

    // MARK: Observers

    /// Begins to publish the events of an operation that was in the queue before somebody observed the queue.
    final func beObservedLate() { observe(withLife { beginObserving(&$0) }) }

    /// Returns the broadcaster for the observers of this operation alone, and the factory of the tasks that call them.
    /// A broadcaster that is made after the end passes on the `finished` event alone.
    final func audience() -> (hub: EventBroadcaster, taskFactory: TaskFactory) {
        let new = EventBroadcaster()
        let (own, beginning, number) = withLife { life -> (EventBroadcaster?, Beginning?, UInt32) in
            let beginning = beginObserving(&life)
            return (life.outbox?.machine.audience(or: new), beginning, queueNumber)
        }
        observe(beginning)
        let queue = QueueDirectory.find(number)?.hub
        let taskFactory = queue?.taskFactory ?? .services
        if let own { return (own, taskFactory) }
        let kind = OperationEvent.Kind.finished(outcomeKind, error: failure)
        new.pass([(queue ?? new).number(kind, of: reference)], on: taskFactory)
        return (new, taskFactory)
    }

    private struct Beginning {
        let hub: EventBroadcaster?
        let progress: ProgressState?
    }

    /// Returns `nil` if the operation is observed already, or has finished. The caller holds the operation's lock.
    private final func beginObserving(_ life: inout Lifecycle) -> Beginning? {
        if life.phase == .finished || life.outbox != nil { return nil }
        let hub = life.isUnderWay ? core?.hub : nil
        let hasStarted =
            life.phase.rawValue > Lifecycle.Phase.evaluating.rawValue && life.optionalState?.isStartOpen != true
        life.madeOptionalState().beginOutbox(hub: hub, ignoresStart: hasStarted)
        dependencyCounter.noteObserved()
        return Beginning(hub: hub, progress: life.optionalState?.progress)
    }

    private final func observe(_ beginning: Beginning?) {
        beginning?.hub?.operationCame()
        beginning?.progress?.watch(for: self)
    }
}

extension EventOutbox.Batch {
    /// Publishes the batch. Returns the time of the `started` event, if the batch contains one and the queue has a
    /// clock.
    fileprivate func tell() -> Duration? {
        guard let hub else {
            own?._withUnsafeGuaranteedRef { _ = $0.publish(kinds, of: subject, also: nil) }
            return nil
        }
        return hub._withUnsafeGuaranteedRef { $0.publish(kinds, of: subject, also: own) }
    }
}

extension Lifecycle {
    var outbox: EventOutbox.Box? { optionalState?.rare?.outbox }

    /// The outbox without a reference count, like ``borrowedOptionalState``, because every step of an operation's life
    /// asks for it.
    @inline(__always)
    var borrowedOutbox: Unmanaged<EventOutbox.Box>? {
        borrowedOptionalState?._withUnsafeGuaranteedRef {
            $0.borrowedRare?._withUnsafeGuaranteedRef { $0.borrowedOutbox }
        }
    }

    /// Appends an event if somebody observes the operation. The caller publishes it after unlocking.
    func note(_ kind: @autoclosure () -> OperationEvent.Kind) {
        borrowedOutbox?._withUnsafeGuaranteedRef { _ = $0.machine.append(kind()) }
    }

    /// Appends `ready`, unless the operation has ended, or a delay or conditions come before it is ready.
    func noteReady() {
        guard phase == .added, let optionalState = borrowedOptionalState else { return }
        if optionalState._withUnsafeGuaranteedRef({ $0.preconditions.isReady }) { note(.ready) }
    }

    /// Appends `cancelRequested`. If a worker has taken the operation and the body has not started, the event follows
    /// `started`.
    func noteCancel(_ reason: @autoclosure () -> CancellationReason) {
        if optionalState?.isStartOpen != true { note(.cancelRequested(reason())) }
    }
}
