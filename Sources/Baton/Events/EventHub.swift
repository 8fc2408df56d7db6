import Synchronization

/// Those who observe a queue, or one operation alone, each with a seat of its own: who is slow, or never comes back, holds up
/// nobody else. A queue's hub also gives its events their numbers.
///
/// Nothing that belongs to the user is called under the lock: neither observers, nor the clock, nor the executor.
final class EventHub: Sendable {
    typealias Waiter = UnsafeContinuation<Void, Never>

    let state: LockedState<Seats>
    /// Written under the lock.
    private let observed: Atomic<Bool>
    /// Nil: of one operation alone.
    let queue: QueueReference?
    /// Where the tasks come from that call observers.
    let spawner: Spawner
    private let time: TimeSource?
    /// Told of every event on the thread that tells it, outside every lock: events of two threads may overtake each other here.
    private let probe: (@Sendable (OperationEvent) -> Void)?

    init(
        of queue: QueueReference, isSuspended: Bool, _ spawner: Spawner, _ time: TimeSource,
        probe: (@Sendable (OperationEvent) -> Void)?
    ) {
        self.queue = queue
        self.spawner = spawner
        self.time = time
        self.probe = probe
        state = LockedState(Seats(isSuspended: isSuspended))
        observed = Atomic(probe != nil)
    }

    /// Of one operation alone.
    init() {
        queue = nil
        spawner = .services
        time = nil
        probe = nil
        state = LockedState(Seats())
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
    /// Returns when the operation has started, if that is among it. The caller keeps the subject and the other hub until then.
    @discardableResult
    func publish(
        _ kinds: Few<OperationEvent.Kind>, of subject: Unmanaged<EventSubject>, also own: Unmanaged<EventHub>?
    ) -> Duration? {
        let now = time?.now ?? .zero
        var start: Duration?
        /// For those who are told outside the lock.
        var events: [OperationEvent] = []
        let isToldElsewhere = own != nil || probe != nil
        let effects = state.withLock { seats in
            var effects = Seats.Effects()
            kinds.forEach { kind in
                let event = seats.numbered(kind, of: subject.takeUnretainedValue(), at: now)
                if event.isStart { start = event.time }
                if isToldElsewhere { events.append(event) }
                tell(event, &seats, &effects)
            }
            noteWhetherObserved(seats)
            return effects
        }
        obey(effects, spawner)
        // The errors in it are the user's, and perhaps nobody has kept them.
        withExtendedLifetime(kinds) {}
        if !isToldElsewhere { return start }
        if let probe { for event in events { probe(event) } }
        own?._withUnsafeGuaranteedRef { $0.pass(events, on: spawner) }
        return start
    }

    /// As above, of one operation that has been told elsewhere. Observers are called on tasks of `spawner`.
    func pass(_ events: [OperationEvent], on spawner: Spawner) {
        let effects = state.withLock { seats in
            var effects = Seats.Effects()
            for event in events { tell(event, &seats, &effects) }
            noteWhetherObserved(seats)
            return effects
        }
        obey(effects, spawner)
    }

    /// For one who comes when all is over, and is told alone.
    func number(_ kind: OperationEvent.Kind, of operation: OperationReference) -> OperationEvent {
        let now = time?.now ?? .zero
        let subject = EventSubject(operation, in: queue)
        return state.withLock { $0.numbered(kind, of: subject, at: now) }
    }

    @inline(__always)
    private func tell(_ event: consuming OperationEvent, _ seats: inout Seats, _ effects: inout Seats.Effects) {
        if event.isFinish {
            seats.tell(copy event, &effects)
            seats.operationEnded(isLast: queue == nil, event, &effects)
        } else {
            seats.tell(event, &effects)
        }
    }

    // MARK: Beginning and end

    /// Its end will be told here.
    func operationCame() { change { seats, effects in seats.operationCame(&effects) } }

    /// There is no handle to the queue any more, and nothing in it. What is still being told comes before the end.
    func queueHasGone() { change { seats, effects in seats.queueHasGone(&effects) } }

    /// Of an operation that was let go without an outcome.
    func end() { change { seats, effects in seats.end(&effects) } }

    // MARK: Seats

    func addReader(limit: Int?) -> UInt64 { change { seats, _ in seats.addReader(limit: limit) } }

    /// - Parameter spawner: For one that comes when all is over.
    func add(_ observer: any OperationObserver, on spawner: Spawner) -> UInt64 {
        change(on: spawner) { seats, effects in seats.add(observer, &effects) }
    }

    /// It is not called any more, but for a call that is under way.
    func remove(_ id: UInt64) { change { seats, effects in seats.remove(id, &effects) } }

    var delegate: (any OperationDelegate)? { state.withLock { $0.delegate } }

    func setDelegate(_ delegate: (any OperationDelegate)?, on spawner: Spawner) {
        change(on: spawner) { seats, effects in seats.setDelegate(delegate, &effects) }
    }

    private func change<Result>(
        on spawner: Spawner? = nil, _ body: (inout Seats, inout Seats.Effects) -> Result
    ) -> Result {
        let (result, effects) = state.withLock { seats in
            var effects = Seats.Effects()
            let result = body(&seats, &effects)
            noteWhetherObserved(seats)
            return (result, effects)
        }
        obey(effects, spawner ?? self.spawner)
        return result
    }

    private func noteWhetherObserved(_ seats: Seats) {
        observed.store(probe != nil || !seats.isEmpty, ordering: .relaxed)
    }

    @inline(__always)
    private func obey(_ effects: Seats.Effects, _ spawner: @autoclosure () -> Spawner) {
        if !effects.isEmpty { actOn(effects, spawner()) }
    }

    @inline(never)
    private func actOn(_ effects: Seats.Effects, _ spawner: Spawner) {
        for effect in effects {
            switch effect {
            case .wake(let waiter): wake(waiter)
            case .start(let call): serve(call, on: spawner)
            case .releaseReader, .releaseObserver, .releaseEvent: break
            }
        }
    }

    func wake(_ waiter: Waiter) {
        Handover.willResume(self)
        waiter.resume()
    }
}
