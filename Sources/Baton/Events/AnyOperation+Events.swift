/// What an operation tells of itself, if somebody observes it. Nothing of this is reached by one that nobody observes:
/// a bit beside its dependency counter says so, and whoever takes a step of its life asks that alone.
extension AnyOperation {
    /// Somebody observes it, or has done so. It only becomes true.
    @inline(__always)
    final var isObserved: Bool { dependencyCounter.isObserved }

    // MARK: Telling

    /// Notes what happens where nothing changes with it, and tells it.
    final func tell(_ kind: OperationEvent.Kind) {
        tellEvents { $0.note(kind) }
    }

    /// Tells what was noted, unless another thread is doing so. Outside every lock.
    ///
    /// - Parameter note: Called in the locked step that begins it.
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

    /// Returns when its end is told to those who observe it or its queue. It has finished.
    ///
    /// The outcome can be seen a moment before: the thread that finishes the operation tells of it next, or leaves that
    /// to a thread that is telling something else.
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

    /// From whoever brings it there, before it is listed: its dependencies have finished.
    @inline(never)
    final func tellReady() {
        tellEvents { $0.noteReady() }
    }

    /// From the worker whose request for exclusions has to wait. It tells nothing if that wait is over.
    ///
    /// - Parameter request: The number of the request, which tells it from a later one.
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

    /// From the worker that is about to put it in the line of this rate, or from the thread that has taken it out.
    @inline(never)
    final func tellOfRate(_ kind: OperationEvent.Kind) {
        tellEvents { life in if life.phase == .added { life.note(kind) } }
    }

    /// From the one that has published the outcome, before anything follows from that.
    ///
    /// - Parameter core: Its queue, which it has not left, and which is idle only when the end is told.
    @inline(never)
    final func tellFinish(in core: QueueCore?) {
        tell(.finished(outcomeKind, error: failure))
        guard let core, withLife({ $0.outbox?.machine.hasToldEnd }) == false else { return }
        // Another thread tells it.
        core.state.withLock { $0.handlerDispatcher.begin() }
        if !withLife({ $0.outbox?.machine.keep(.queue(core)) ?? false }) { core.deliveryEnded() }
    }

    @inline(never)
    final func tellProgress(_ fraction: Double, version: UInt64) {
        tellEvents { $0.outbox?.machine.appendProgress(fraction, version: version) }
    }

    /// Also after its finish, to those who observe its queue.
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

    /// In the step of the claim, locked by the caller: what happens from here on is told after the add.
    @inline(never)
    final func holdEvents(for hub: EventBroadcaster, isQueueObserved: Bool, _ life: inout Lifecycle) {
        if isQueueObserved, life.borrowedOutbox == nil {
            life.madeOptionalState().beginOutbox()
            dependencyCounter.noteObserved()
        }
        life.borrowedOutbox?._withUnsafeGuaranteedRef { $0.machine.hold(for: hub) }
    }

    /// What is told of an add.
    struct Addition {
        fileprivate let edges: [OperationEvent.Edge]
        fileprivate let parent: OperationReference?
    }

    /// From the thread that links it, when its dependencies are frozen and nobody else can begin or settle it. From now
    /// on its end will be told to those who observe the queue. Nil: nobody observed it when it was claimed, so nobody
    /// is told of the add.
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

    /// From the same thread, while nobody else can begin it.
    @inline(never)
    final func tell(_ addition: Addition, isWaiting: Bool = false, isReady: Bool = false) {
        tellEvents { life in
            life.borrowedOutbox?._withUnsafeGuaranteedRef {
                $0.machine.release(edges: addition.edges, isWaiting: isWaiting, parent: addition.parent)
            }
            if isReady { life.noteReady() }
        }
    }

    /// Inputs come first; a dependency that was given several times is there as often.
    private final func toldEdges(_ policies: [EdgePolicy], inputCount: Int) -> [OperationEvent.Edge] {
        // In the order of their edges.
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

    // MARK: Being observed

    /// Somebody begins to observe its queue while it is there.
    final func beObservedLate() { observe(withLife { beginObserving(&$0) }) }

    /// Those who observe it alone, and where to call them if all is over.
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

    /// Locked by the caller. Nil: it is observed already, or has finished.
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
    /// Returns when it has started, if that is among it and its queue has a clock.
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

    /// Without a reference of its own, as ``borrowedOptionalState``: this is asked at every step of an operation's
    /// life.
    @inline(__always)
    var borrowedOutbox: Unmanaged<EventOutbox.Box>? {
        borrowedOptionalState?._withUnsafeGuaranteedRef {
            $0.borrowedRare?._withUnsafeGuaranteedRef { $0.borrowedOutbox }
        }
    }

    /// For those who observe the operation, if anybody does. To be told after unlocking.
    func note(_ kind: @autoclosure () -> OperationEvent.Kind) {
        borrowedOutbox?._withUnsafeGuaranteedRef { _ = $0.machine.append(kind()) }
    }

    /// Unless its end has come, or a delay or its conditions come first.
    func noteReady() {
        guard phase == .added, let optionalState = borrowedOptionalState else { return }
        if optionalState._withUnsafeGuaranteedRef({ $0.preconditions.isReady }) { note(.ready) }
    }

    /// A cancel that comes between the worker and the body is told after the start.
    func noteCancel(_ reason: @autoclosure () -> CancellationReason) {
        if optionalState?.isStartOpen != true { note(.cancelRequested(reason())) }
    }
}
