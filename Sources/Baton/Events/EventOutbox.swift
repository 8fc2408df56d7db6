/// What has happened to one operation and is not told yet. Pure; part of ``OptionalState``, and so guarded by the
/// operation's lock.
///
/// Events are put here in the very step that makes them true, so their order is that of the operation's life, and are
/// told after unlocking, by one thread at a time: one that comes while another tells leaves its events to that one.
struct EventOutbox: ~Copyable {
    /// What one thread tells next.
    ///
    /// Nothing in it is retained but what happened: the outbox keeps the rest until the same thread asks for more. A
    /// hub is shared by all operations of its queue, and counting references to it would keep threads waiting for one
    /// another.
    struct Batch {
        let kinds: TinyArray<OperationEvent.Kind>
        /// Of the queue. Nil: it was never added.
        let hub: Unmanaged<EventBroadcaster>?
        /// Of those who observe this operation alone.
        let own: Unmanaged<EventBroadcaster>?
        let subject: Unmanaged<EventSubject>
    }

    private enum Stage {
        case open
        /// Its end is here, or is being told: nothing of its life comes any more.
        case ending
        /// Its end is told.
        case over
    }

    private var stage = Stage.open
    private var pending = TinyArray<OperationEvent.Kind>.none
    /// It is being added, and that has to be told first.
    private var isHeld = false
    private var isTelling = false
    /// A thread tells the end.
    private var hasHandedOutEnd = false
    /// Somebody began to observe it when it had started, and it has not become ready again since.
    private var ignoresStart: Bool
    private var percent = 0
    /// Of the standing that was seen last: two threads may bring theirs out of order.
    private var progressVersion: UInt64 = 0
    private var hub: EventBroadcaster?
    private var own: EventBroadcaster?
    private var parent: OperationReference?
    /// Nil until it is told for the first time.
    private var subject: EventSubject?
    /// False before the add: it may still be named differently.
    private var isSubjectFinal = false
    /// When the last start was told, on the clock of the queue.
    private(set) var start: Duration?
    private var waiters: [Waiter] = []

    /// Who waits until the end is told.
    enum Waiter {
        /// A task that has the outcome.
        case task(UnsafeContinuation<Void, Never>)
        /// The queue, which is not idle before.
        case queue(QueueCore)

        func endIsTold() {
            switch self {
            case .task(let continuation): continuation.resume()
            case .queue(let core): core.deliveryEnded()
            }
        }
    }

    /// - Parameter hub: Of its queue, if it has been added.
    init(hub: EventBroadcaster? = nil, ignoresStart: Bool = false) {
        self.hub = hub
        self.ignoresStart = ignoresStart
    }

    // MARK: What happens

    /// False: its end is told, and those who observed it alone have gone.
    @discardableResult
    mutating func append(_ kind: OperationEvent.Kind) -> Bool {
        if stage == .over { return false }
        switch kind {
        case .finished:
            if stage == .open { pending.append(kind) }
            stage = .ending
        case .misuse: pending.append(kind)
        case .started(attempt: 1) where ignoresStart: break
        case .ready:
            ignoresStart = false
            if stage == .open { pending.append(kind) }
        case .added, .waiting, .delayed, .evaluating, .acquiring, .excluded, .waitingForRate, .granted, .started,
            .progress,
            .produced, .retrying, .repeating, .cancelRequested, .dropped:
            // Too late: progress that crosses the end.
            if stage == .open { pending.append(kind) }
        }
        return true
    }

    mutating func appendProgress(_ fraction: Double, version: UInt64) {
        if version <= progressVersion { return }
        progressVersion = version
        // 0.29 is a little less than 29 hundredths.
        let percent = Int((fraction * 100 + 1e-9).rounded(.down))
        if percent == self.percent { return }
        self.percent = percent
        append(.progress(fraction))
    }

    // MARK: Being added

    /// It is claimed. Until ``release(edges:isWaiting:parent:)``, nothing is told.
    mutating func hold(for hub: EventBroadcaster) {
        self.hub = hub
        isHeld = true
    }

    /// Nil: its add is not to be told.
    var heldFor: EventBroadcaster? { isHeld ? hub : nil }

    /// It knows its dependencies.
    mutating func release(edges: [OperationEvent.Edge], isWaiting: Bool, parent: OperationReference?) {
        isHeld = false
        self.parent = parent
        var kinds = TinyArray.one(OperationEvent.Kind.added(edges: edges))
        if isWaiting { kinds.append(.waiting) }
        if !pending.isEmpty { pending.forEach { kinds.append($0) } }
        pending = kinds
    }

    // MARK: Telling

    /// Nil: there is nothing to tell, or somebody else does.
    ///
    /// - Parameter operation: Asked again and again until it cannot be named differently any more.
    mutating func startTelling(of operation: () -> (OperationReference, isFinal: Bool)) -> Batch? {
        if isTelling { return nil }
        isTelling = true
        return continueTelling(of: operation)
    }

    /// Nil: everything is told.
    ///
    /// - Parameter start: When it has started, if that was among what has been told.
    mutating func continueTelling(
        start: Duration? = nil, of operation: () -> (OperationReference, isFinal: Bool)
    ) -> Batch? {
        if let start { self.start = start }
        if pending.isEmpty || isHeld {
            isTelling = false
            if hasHandedOutEnd { end() }
            return nil
        }
        hasHandedOutEnd = hasHandedOutEnd || stage == .ending
        return Batch(
            kinds: pending.take(), hub: hub.map { .passUnretained($0) }, own: own.map { .passUnretained($0) },
            subject: subject(operation))
    }

    private mutating func subject(
        _ operation: () -> (OperationReference, isFinal: Bool)
    ) -> Unmanaged<EventSubject> {
        if isSubjectFinal, let subject { return .passUnretained(subject) }
        let (reference, isFinal) = operation()
        let made = EventSubject(reference, childOf: parent, in: hub?.queue)
        subject = made
        isSubjectFinal = isFinal
        return .passUnretained(made)
    }

    private mutating func end() {
        stage = .over
        hub = nil
        own = nil
    }

    // MARK: Waiting for the end

    var hasToldEnd: Bool { stage == .over }

    /// Keeps somebody who waits until the end is told. The caller has seen that the operation has finished: its end is
    /// here, or the thread that has finished it brings it next.
    ///
    /// - Returns: False if the end has been told, and there is nothing to wait for.
    mutating func keep(_ waiter: Waiter) -> Bool {
        if stage == .over { return false }
        waiters.append(waiter)
        return true
    }

    /// Those to be told now, outside every lock: none until the end is told.
    mutating func takeWaiters() -> [Waiter] {
        if stage != .over { return [] }
        defer { waiters = [] }
        return waiters
    }

    // MARK: Those who observe it alone

    var audience: EventBroadcaster? { own }

    /// Nil: they would not be told of the end any more.
    mutating func audience(or new: EventBroadcaster) -> EventBroadcaster? {
        if hasHandedOutEnd { return nil }
        if own == nil { own = new }
        return own
    }

    /// The operation was let go without an end.
    func letGo() { own?.end() }

    /// An object of its own, because few operations have one.
    final class Box {
        @exclusivity(unchecked) var machine: EventOutbox

        init(hub: EventBroadcaster?, ignoresStart: Bool) { machine = EventOutbox(hub: hub, ignoresStart: ignoresStart) }
    }
}
