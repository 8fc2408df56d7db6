/// The events of an operation. Only an observed operation reaches this code: a bit beside the dependency counter says
/// whether somebody observes the operation, and each step of its life checks that bit alone.
extension AnyOperation {
    /// True if somebody observes the operation or has done so. Never becomes false again.
    @inline(__always)
    final var isObserved: Bool { dependencyCounter.isObserved }

    // MARK: Publishing

    /// Appends an event that accompanies no change of state, and publishes it.
    final func publish(_ kind: OperationEvent.Kind) {
        publishEvents { $0.note(kind) }
    }

    /// Publishes the pending events, unless another thread is publishing events of this operation. The caller holds no
    /// lock.
    ///
    /// - Parameter note: Appends events. Called under the operation's lock, in the step in which publishing begins.
    @inline(never)
    final func publishEvents(after note: (inout Lifecycle) -> Void = { _ in }) {
        var next = withLifecycle { life -> EventOutbox.Batch? in
            note(&life)
            guard let outbox = life.borrowedOutbox else { return nil }
            return outbox.use { $0.machine.startPublishing { currentReference(&life) } }
        }
        while let batch = next.take() {
            let start = batch.publish()
            let waiters: [EventOutbox.Waiter]
            (next, waiters) = withLifecycle { life in
                guard let outbox = life.borrowedOutbox else { return (nil, []) }
                return outbox.use {
                    let next = $0.machine.nextBatch(start: start) { currentReference(&life) }
                    return (next, $0.machine.takeWaiters())
                }
            }
            for waiter in waiters { waiter.finishedWasPublished() }
        }
    }

    /// Returns when the `finished` event of the operation, which has its outcome, has been published.
    ///
    /// The outcome is visible slightly earlier: the thread that finishes the operation publishes the event next, or
    /// leaves it to a thread that is publishing other events of the operation.
    @inline(never)
    nonisolated(nonsending) final func waitUntilFinishedIsPublished() async {
        await withUnsafeContinuation { continuation in
            let mustWait = withLifecycle { life in
                assert(life.phase == .finished, "without an outcome, nobody may ever publish `finished`")
                return life.borrowedOutbox?.use { $0.machine.keep(.task(continuation)) } ?? false
            }
            if !mustWait { continuation.resume() }
        }
    }

    private final func currentReference(_ life: inout Lifecycle) -> (OperationReference, isFinal: Bool) {
        (reference(&life), life.phase != .created)
    }

    /// Publishes `ready`. Called by the thread that makes the operation ready, before it puts the operation on the
    /// ready list.
    @inline(never)
    final func publishReady() {
        publishEvents { $0.noteReady() }
    }

    /// Publishes `excluded`. Called by the worker whose request for exclusions has to wait. Publishes nothing if that
    /// wait is over.
    ///
    /// - Parameter request: The number of the request, which distinguishes it from later requests of the same
    ///   operation.
    @inline(never)
    final func publishExcluded(by holder: OperationReference, from name: ExclusionName, in request: UInt32) {
        publishEvents { life in
            guard life.phase == .added, let preconditions = life.optionalState?.preconditions,
                preconditions.claimState == .requested,
                preconditions.requests == request
            else { return }
            life.note(.excluded(by: holder, exclusion: "\(name)"))
        }
    }

    /// Publishes `waitingForRate` or `granted`. Called by the worker that is about to queue the operation for the rate,
    /// and by the thread that has removed the operation from that queue.
    @inline(never)
    final func publishRateEvent(_ kind: OperationEvent.Kind) {
        publishEvents { life in if life.phase == .added { life.note(kind) } }
    }

    /// Publishes `finished`. Called by the thread that has published the outcome, before anything else follows from the
    /// outcome.
    ///
    /// - Parameter core: The queue of the operation, which has not left it. The queue is not idle before the event is
    ///   published.
    @inline(never)
    final func publishFinished(in core: QueueCore?) {
        publish(.finished(outcomeKind, error: failure))
        guard let core, withLifecycle({ $0.outbox?.machine.hasPublishedFinished }) == false else { return }
        // Another thread is going to publish the event. Until then the calls of its handlers count as open, so the
        // queue is not idle.
        core.state.withLock { $0.handlerDispatcher.callsBegan() }
        if !withLifecycle({ $0.outbox?.machine.keep(.queue(core)) ?? false }) { core.callsEnded() }
    }

    @inline(never)
    final func publishProgress(_ fraction: Double, version: UInt64) {
        publishEvents { $0.outbox?.machine.appendProgress(fraction, version: version) }
    }

    /// Publishes `misuse`. Once `finished` has been published, only the observers of the queue receive it.
    final func publishMisuse(_ misuse: Misuse) {
        let (isNoted, number) = withLifecycle { life in
            (life.outbox?.machine.append(.misuse(misuse)) ?? false, queueNumber)
        }
        if isNoted { return publishEvents() }
        if let broadcaster = QueueDirectory.find(number)?.broadcaster, broadcaster.isObserved {
            let subject = EventSubject(reference, in: broadcaster.queue)
            broadcaster.publish(.one(.misuse(misuse)), of: Unretained(subject), also: nil)
            withExtendedLifetime(subject) {}
        }
    }

    // MARK: Being added

    /// Holds back all events until `added` has been published. The caller adopts the operation, and holds its lock.
    @inline(never)
    final func holdEvents(for broadcaster: EventBroadcaster, isQueueObserved: Bool, _ life: inout Lifecycle) {
        if isQueueObserved, life.borrowedOutbox == nil {
            life.ensureOptionalState().beginOutbox()
            dependencyCounter.noteObserved()
        }
        life.borrowedOutbox?.use { $0.machine.hold(for: broadcaster) }
    }

    /// The content of an `added` event.
    struct AddedEvent {
        fileprivate let edges: [OperationEvent.Edge]
        fileprivate let parent: OperationReference?
    }

    /// Returns the content of the `added` event, or `nil` if nobody observed the operation when it was adopted. The
    /// broadcaster of the queue expects the `finished` event of the operation from then on.
    ///
    /// Called by the thread that links the operation, when the dependencies are frozen and no other thread can start or
    /// finish it.
    @inline(never)
    final func makeAddedEvent(from origin: SubmissionSource) -> AddedEvent? {
        let (broadcaster, progress, policies, inputCount) = withLifecycle { life in
            (
                life.outbox?.machine.heldFor, life.optionalState?.progress, life.optionalState?.policies ?? [],
                life.inputCount
            )
        }
        guard let broadcaster else { return nil }
        perform(ObservationStart(broadcaster: broadcaster, progress: progress))
        return AddedEvent(
            edges: edges.isEmpty ? [] : eventEdges(policies, inputCount: inputCount), parent: origin.parent?.reference)
    }

    /// Publishes `added`, what follows from it, and the events that were held back. Called by the thread that links the
    /// operation, while no other thread can start it.
    @inline(never)
    final func publish(_ added: AddedEvent, isWaiting: Bool = false, isReady: Bool = false) {
        publishEvents { life in
            life.borrowedOutbox?.use {
                $0.machine.releaseHeldEvents(edges: added.edges, isWaiting: isWaiting, parent: added.parent)
            }
            if isReady { life.noteReady() }
        }
    }

    /// Returns inputs first. A dependency that was added several times appears as often.
    private final func eventEdges(_ policies: [EdgePolicy], inputCount: Int) -> [OperationEvent.Edge] {
        // The remaining policies, in the order of the edges that they belong to.
        var rest = policies.filter { $0.policy != .always }[...]
        return edges.all.withoutFences.enumerated().map { place, source in
            if place < inputCount { return OperationEvent.Edge(source: source.reference, kind: .input) }
            guard let next = rest.first, next.source.refers(to: source) else {
                return OperationEvent.Edge(source: source.reference, kind: .order(.always))
            }
            rest.removeFirst()
            return OperationEvent.Edge(source: source.reference, kind: .order(next.policy))
        }
    }

    // MARK: Observers

    /// Begins to publish the events of an operation that was in the queue before somebody observed the queue.
    final func startObserving() { perform(withLifecycle { beginObserving(&$0) }) }

    /// Returns the broadcaster for the observers of this operation alone, and the factory of the tasks that call them.
    /// A broadcaster that is made after the end passes on the `finished` event alone.
    final func ownBroadcaster() -> (broadcaster: EventBroadcaster, taskFactory: TaskFactory) {
        let new = EventBroadcaster()
        let (own, start, number) = withLifecycle { life -> (EventBroadcaster?, ObservationStart?, UInt32) in
            let start = beginObserving(&life)
            return (life.outbox?.machine.ownBroadcaster(or: new), start, queueNumber)
        }
        perform(start)
        let queue = QueueDirectory.find(number)?.broadcaster
        let taskFactory = queue?.taskFactory ?? .outsideQueues
        if let own { return (own, taskFactory) }
        let kind = OperationEvent.Kind.finished(outcomeKind, error: failure)
        new.forward([(queue ?? new).number(kind, of: reference)], on: taskFactory)
        return (new, taskFactory)
    }

    private struct ObservationStart {
        let broadcaster: EventBroadcaster?
        let progress: ProgressState?
    }

    /// Returns `nil` if the operation is observed already, or has finished. The caller holds the operation's lock.
    private final func beginObserving(_ life: inout Lifecycle) -> ObservationStart? {
        if life.phase == .finished || life.outbox != nil { return nil }
        let broadcaster = life.isUnderWay ? core?.broadcaster : nil
        let hasStarted =
            life.phase.rawValue > Lifecycle.Phase.evaluating.rawValue && life.optionalState?.isStartPending != true
        life.ensureOptionalState().beginOutbox(broadcaster: broadcaster, ignoresStart: hasStarted)
        dependencyCounter.noteObserved()
        return ObservationStart(broadcaster: broadcaster, progress: life.optionalState?.progress)
    }

    private final func perform(_ start: ObservationStart?) {
        start?.broadcaster?.expectFinished()
        start?.progress?.watch()
    }
}

extension EventOutbox.Batch {
    /// Publishes the batch. Returns the time of the `started` event, if the batch contains one and the queue has a
    /// clock.
    fileprivate func publish() -> Duration? {
        guard let broadcaster else {
            ownBroadcaster?.use { _ = $0.publish(kinds, of: subject, also: nil) }
            return nil
        }
        return broadcaster.use { $0.publish(kinds, of: subject, also: ownBroadcaster) }
    }
}

extension Lifecycle {
    var outbox: EventOutbox.Box? { optionalState?.rare?.outbox }

    /// The outbox without a reference count, like ``borrowedOptionalState``, because every step of an operation's life
    /// asks for it.
    @inline(__always)
    var borrowedOutbox: Unretained<EventOutbox.Box>? {
        borrowedOptionalState?.use {
            $0.borrowedRare?.use { $0.borrowedOutbox }
        }
    }

    /// Appends an event if somebody observes the operation. The caller publishes it after unlocking.
    func note(_ kind: @autoclosure () -> OperationEvent.Kind) {
        borrowedOutbox?.use { _ = $0.machine.append(kind()) }
    }

    /// Appends `ready`, unless the operation has ended, or a delay or conditions come before it is ready.
    func noteReady() {
        guard phase == .added, let optionalState = borrowedOptionalState else { return }
        if optionalState.use({ $0.preconditions.isReady }) { note(.ready) }
    }

    /// Appends `cancelRequested`. If a worker has taken the operation and the body has not started, the event follows
    /// `started`.
    func noteCancel(_ reason: @autoclosure () -> CancellationReason) {
        if optionalState?.isStartPending != true { note(.cancelRequested(reason())) }
    }
}
