import Synchronization

/// Those who observe a queue, or one operation alone, each with a subscription of its own: who is slow, or never comes
/// back, holds up nobody else. A queue's hub also gives its events their numbers.
///
/// Nothing that belongs to the user is called under the lock: neither observers, nor the clock, nor the executor.
final class EventBroadcaster: Sendable {
    typealias Waiter = UnsafeContinuation<Void, Never>

    let state: Locked<Subscriptions>
    /// Written under the lock.
    private let observed: Atomic<Bool>
    /// Nil: of one operation alone.
    let queue: QueueReference?
    /// Where the tasks come from that call observers.
    let taskFactory: TaskFactory
    private let time: TimeSource?
    /// Told of every event on the thread that tells it, outside every lock: events of two threads may overtake each
    /// other here.
    private let probe: (@Sendable (OperationEvent) -> Void)?

    init(
        of queue: QueueReference, isSuspended: Bool, _ taskFactory: TaskFactory, _ time: TimeSource,
        probe: (@Sendable (OperationEvent) -> Void)?
    ) {
        self.queue = queue
        self.taskFactory = taskFactory
        self.time = time
        self.probe = probe
        state = Locked(Subscriptions(isSuspended: isSuspended))
        observed = Atomic(probe != nil)
    }

    /// Of one operation alone.
    init() {
        queue = nil
        taskFactory = .services
        time = nil
        probe = nil
        state = Locked(Subscriptions())
        observed = Atomic(false)
    }

    /// Of a queue: its operations have to tell what happens to them.
    @inline(__always)
    var isObserved: Bool { observed.load(ordering: .relaxed) }

    /// On the clock of the queue, which is the user's. Zero without one.
    var now: Duration { time?.now ?? .zero }

    // MARK: Telling

    /// Numbers what has happened, and tells everybody here, then those who observe the operation alone.
    ///
    /// Returns when the operation has started, if that is among it. The caller keeps the subject and the other hub
    /// until then.
    @discardableResult
    func publish(
        _ kinds: TinyArray<OperationEvent.Kind>, of subject: Unmanaged<EventSubject>,
        also own: Unmanaged<EventBroadcaster>?
    ) -> Duration? {
        let now = time?.now ?? .zero
        var start: Duration?
        /// For those who are told outside the lock.
        var events: [OperationEvent] = []
        let isToldElsewhere = own != nil || probe != nil
        let actions = state.withLock { subscriptions in
            var actions = Subscriptions.Actions()
            kinds.forEach { kind in
                let event = subscriptions.numbered(kind, of: subject.takeUnretainedValue(), at: now)
                if event.isStart { start = event.time }
                if isToldElsewhere { events.append(event) }
                tell(event, &subscriptions, &actions)
            }
            noteWhetherObserved(subscriptions)
            return actions
        }
        perform(actions, taskFactory)
        // The errors in it are the user's, and perhaps nobody has kept them.
        withExtendedLifetime(kinds) {}
        if !isToldElsewhere { return start }
        if let probe { for event in events { probe(event) } }
        own?._withUnsafeGuaranteedRef { $0.pass(events, on: taskFactory) }
        return start
    }

    /// As above, of one operation that has been told elsewhere. Observers are called on tasks of `taskFactory`.
    func pass(_ events: [OperationEvent], on taskFactory: TaskFactory) {
        let actions = state.withLock { subscriptions in
            var actions = Subscriptions.Actions()
            for event in events { tell(event, &subscriptions, &actions) }
            noteWhetherObserved(subscriptions)
            return actions
        }
        perform(actions, taskFactory)
    }

    /// For one who comes when all is over, and is told alone.
    func number(_ kind: OperationEvent.Kind, of operation: OperationReference) -> OperationEvent {
        let now = time?.now ?? .zero
        let subject = EventSubject(operation, in: queue)
        return state.withLock { $0.numbered(kind, of: subject, at: now) }
    }

    @inline(__always)
    private func tell(
        _ event: consuming OperationEvent, _ subscriptions: inout Subscriptions, _ actions: inout Subscriptions.Actions
    ) {
        if event.isFinish {
            subscriptions.tell(copy event, &actions)
            subscriptions.operationEnded(isLast: queue == nil, event, &actions)
        } else {
            subscriptions.tell(event, &actions)
        }
    }

    // MARK: Beginning and end

    /// Its end will be told here.
    func operationCame() { change { subscriptions, actions in subscriptions.operationCame(&actions) } }

    /// There is no handle to the queue any more, and nothing in it. What is still being told comes before the end.
    func queueHasGone() { change { subscriptions, actions in subscriptions.queueHasGone(&actions) } }

    /// Of an operation that was let go without an outcome.
    func end() { change { subscriptions, actions in subscriptions.end(&actions) } }

    // MARK: Subscriptions

    func addReader(limit: Int?) -> UInt64 { change { subscriptions, _ in subscriptions.addReader(limit: limit) } }

    /// - Parameter taskFactory: For one that comes when all is over.
    func add(_ observer: any OperationObserver, on taskFactory: TaskFactory) -> UInt64 {
        change(on: taskFactory) { subscriptions, actions in subscriptions.add(observer, &actions) }
    }

    /// It is not called any more, but for a call that is under way.
    func remove(_ id: UInt64) { change { subscriptions, actions in subscriptions.remove(id, &actions) } }

    var delegate: (any OperationDelegate)? { state.withLock { $0.delegate } }

    func setDelegate(_ delegate: (any OperationDelegate)?, on taskFactory: TaskFactory) {
        change(on: taskFactory) { subscriptions, actions in subscriptions.setDelegate(delegate, &actions) }
    }

    private func change<Result>(
        on taskFactory: TaskFactory? = nil, _ body: (inout Subscriptions, inout Subscriptions.Actions) -> Result
    ) -> Result {
        let (result, actions) = state.withLock { subscriptions in
            var actions = Subscriptions.Actions()
            let result = body(&subscriptions, &actions)
            noteWhetherObserved(subscriptions)
            return (result, actions)
        }
        perform(actions, taskFactory ?? self.taskFactory)
        return result
    }

    private func noteWhetherObserved(_ subscriptions: Subscriptions) {
        observed.store(probe != nil || !subscriptions.isEmpty, ordering: .relaxed)
    }

    @inline(__always)
    private func perform(_ actions: Subscriptions.Actions, _ taskFactory: @autoclosure () -> TaskFactory) {
        if !actions.isEmpty { actOn(actions, taskFactory()) }
    }

    @inline(never)
    private func actOn(_ actions: Subscriptions.Actions, _ taskFactory: TaskFactory) {
        for effect in actions {
            switch effect {
            case .wake(let waiter): wake(waiter)
            case .start(let call): serve(call, on: taskFactory)
            case .releaseReader, .releaseObserver, .releaseEvent: break
            }
        }
    }

    func wake(_ waiter: Waiter) {
        TSanAnnotations.willResume(self)
        waiter.resume()
    }
}
