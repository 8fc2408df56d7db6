/// Passes events on to the subscribers of a queue, or of one operation. Each subscriber has a subscription with its own
/// buffer, so one that is slow or never reads delays no other. The broadcaster of a queue also numbers the events.
///
/// It calls no user code under its lock: neither observers, nor the clock, nor the executor.
final class EventBroadcaster: Sendable {
    typealias Waiter = UnsafeContinuation<Void, Never>

    let state: Locked<Subscriptions>
    /// True if there is a probe or a subscription. Written under the lock, and read without it.
    private let observed: AtomicFlag
    /// The queue, or `nil` if the broadcaster serves a single operation.
    let queue: QueueReference?
    /// Makes the tasks that call observers.
    let taskFactory: TaskFactory
    private let time: TimeSource?
    /// Receives every event on the thread that publishes it, without a lock, so events that two threads publish may
    /// arrive here out of order.
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
        observed = AtomicFlag(probe != nil)
    }

    /// Makes a broadcaster for the observers of a single operation.
    init() {
        queue = nil
        taskFactory = .outsideQueues
        time = nil
        probe = nil
        state = Locked(Subscriptions())
        observed = AtomicFlag()
    }

    /// True if the operations of the queue have to publish their events.
    @inline(__always)
    var isObserved: Bool { observed.isSet }

    /// The time on the clock of the queue, which is the user's. Zero if there is no queue.
    var now: Duration { time?.now ?? .zero }

    // MARK: Publishing

    /// Numbers events and passes them on to the subscribers of the queue, then to those of the operation alone.
    ///
    /// The caller keeps `subject` and `ownBroadcaster` alive until the call returns.
    ///
    /// - Returns: The time of the `started` event, if `kinds` contains one.
    @discardableResult
    func publish(
        _ kinds: TinyArray<OperationEvent.Kind>, of subject: Unretained<EventSubject>,
        also ownBroadcaster: Unretained<EventBroadcaster>?
    ) -> Duration? {
        let now = time?.now ?? .zero
        var start: Duration?
        /// The events for the probe and for `ownBroadcaster`, which receive them after unlocking.
        var events: [OperationEvent] = []
        let isForwarded = ownBroadcaster != nil || probe != nil
        let actions = state.withLock { subscriptions in
            var actions = Subscriptions.Actions()
            kinds.forEach { kind in
                let event = subscriptions.numbered(kind, of: subject.object, at: now)
                if event.isStart { start = event.time }
                if isForwarded { events.append(event) }
                deliver(event, &subscriptions, &actions)
            }
            noteWhetherObserved(subscriptions)
            return actions
        }
        perform(actions, taskFactory)
        // Releases the errors in the events, which are the user's, after unlocking: perhaps no subscriber has kept
        // them.
        withExtendedLifetime(kinds) {}
        if !isForwarded { return start }
        if let probe { for event in events { probe(event) } }
        ownBroadcaster?.use { $0.forward(events, on: taskFactory) }
        return start
    }

    /// Passes on events of a single operation that its queue has numbered. Observers are called on tasks of
    /// `taskFactory`.
    func forward(_ events: [OperationEvent], on taskFactory: TaskFactory) {
        let actions = state.withLock { subscriptions in
            var actions = Subscriptions.Actions()
            for event in events { deliver(event, &subscriptions, &actions) }
            noteWhetherObserved(subscriptions)
            return actions
        }
        perform(actions, taskFactory)
    }

    /// Numbers an event that is made for a single subscriber, which subscribed after the end of the operation.
    func number(_ kind: OperationEvent.Kind, of operation: OperationReference) -> OperationEvent {
        let now = time?.now ?? .zero
        let subject = EventSubject(operation, in: queue)
        return state.withLock { $0.numbered(kind, of: subject, at: now) }
    }

    @inline(__always)
    private func deliver(
        _ event: consuming OperationEvent, _ subscriptions: inout Subscriptions, _ actions: inout Subscriptions.Actions
    ) {
        if event.isFinish {
            subscriptions.deliver(copy event, &actions)
            subscriptions.operationEnded(isLast: queue == nil, event, &actions)
        } else {
            subscriptions.deliver(event, &actions)
        }
    }

    // MARK: Operations and the end of events

    /// Notes that the `finished` event of one more operation will be published here.
    func expectFinished() { change { subscriptions, actions in subscriptions.expectFinished(&actions) } }

    /// Notes that the last handle to the queue is gone and that the queue is empty. Events end when every `finished`
    /// event has been published.
    func queueWasReleased() { change { subscriptions, actions in subscriptions.queueWasReleased(&actions) } }

    /// Ends the events of an operation that was released without an outcome.
    func end() { change { subscriptions, actions in subscriptions.end(&actions) } }

    // MARK: Subscriptions

    func addReader(limit: Int?) -> UInt64 { change { subscriptions, _ in subscriptions.addReader(limit: limit) } }

    /// - Parameter taskFactory: Makes the task that calls an observer which was added after the end.
    func add(_ observer: any OperationObserver, on taskFactory: TaskFactory) -> UInt64 {
        change(on: taskFactory) { subscriptions, actions in subscriptions.add(observer, &actions) }
    }

    /// Removes a subscription. A call of the observer that is in progress goes on, and is the last one.
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
        observed.isSet = probe != nil || !subscriptions.isEmpty
    }

    @inline(__always)
    private func perform(_ actions: Subscriptions.Actions, _ taskFactory: @autoclosure () -> TaskFactory) {
        if !actions.isEmpty { performAll(actions, taskFactory()) }
    }

    @inline(never)
    private func performAll(_ actions: Subscriptions.Actions, _ taskFactory: TaskFactory) {
        for action in actions {
            switch action {
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

// MARK: - Tasks of observers

/// The delivery of events: readers ask for them, and tasks call the observers.
extension EventBroadcaster {
    // MARK: Readers

    func next(for reader: UInt64) -> EventReader<Waiter>.Next {
        state.withLock { $0.withReader(reader) { $0.next() } } ?? .end
    }

    func takeAll(for reader: UInt64) -> [OperationEvent] {
        state.withLock { $0.withReader(reader) { $0.takeAll() } }.map { Array($0) } ?? []
    }

    /// Returns when there may be an event, or when the task is cancelled.
    nonisolated(nonsending) func wait(_ id: UInt64, of reader: UInt64) async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in
                let waits = state.withLock { $0.withReader(reader) { $0.wait(id, waiter) } }
                if waits != true {
                    wake(waiter)
                } else if Task.isCancelled {
                    // The task was cancelled before it began to wait, so `onCancel` may have found nothing to wake.
                    stopWaiting(id, of: reader)
                }
            }
            TSanAnnotations.didAwait(self)
        } onCancel: {
            stopWaiting(id, of: reader)
        }
    }

    private func stopWaiting(_ id: UInt64, of reader: UInt64) {
        if let waiter = state.withLock({ $0.withReader(reader) { $0.stopWaiting(id) } ?? nil }) { wake(waiter) }
    }

    // MARK: Observers

    /// Starts a task that calls the observer until no event is left.
    func serve(_ call: Subscriptions.Call, on taskFactory: TaskFactory) {
        taskFactory.spawn {
            var slice = TimeSlice(byCount: taskFactory.executor is any DeterministicTaskExecutor)
            while true {
                // The observer, or user code that ran when an event was released, has cancelled this task. A new task
                // makes the next call, so that the call does not find itself cancelled.
                if Task.isCancelled { return self.serve(call, on: taskFactory) }
                guard let event = self.state.withLock({ $0.withListener(call.id) { $0.nextCall() } ?? nil }) else {
                    return
                }
                await call.observer.observe(event)
                let waiters = self.state.withLock { $0.withListener(call.id) { $0.callReturned() } } ?? []
                for waiter in waiters { self.wake(waiter) }
                if slice.isOver() {
                    await Task.yield()
                    slice.restart()
                }
            }
        }
    }

    /// Returns when the observer has been called with every event published before this call.
    func delivered(to observer: UInt64) async {
        await withUnsafeContinuation { waiter in
            let waits = state.withLock { $0.withListener(observer) { $0.wait(waiter) } }
            if waits != true { wake(waiter) }
        }
        TSanAnnotations.didAwait(self)
    }
}
