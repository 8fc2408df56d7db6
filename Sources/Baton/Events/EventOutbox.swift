/// The events of one operation that have not been published. A pure value in ``OptionalState``, guarded by the
/// operation's lock.
///
/// An event is appended in the same locked step that makes it true, so events are in the order of the operation's life.
/// They are published after unlocking, by one thread at a time: a thread that appends while another one publishes
/// leaves its events to that thread.
struct EventOutbox: ~Copyable {
    /// The events that one thread publishes next.
    ///
    /// A batch retains nothing but the events. The outbox keeps the rest alive until the same thread asks for the next
    /// batch: all operations of a queue share its broadcaster, and threads that count references to it would contend
    /// for one cache line.
    struct Batch {
        let kinds: TinyArray<OperationEvent.Kind>
        /// The broadcaster of the queue, or `nil` if the operation was never added.
        let broadcaster: Unretained<EventBroadcaster>?
        /// The broadcaster for the observers of this operation alone.
        let ownBroadcaster: Unretained<EventBroadcaster>?
        let subject: Unretained<EventSubject>
    }

    private enum Stage {
        case open
        /// The `finished` event is pending or is being published. No event of the operation's life follows it.
        case ending
        /// The `finished` event has been published.
        case ended
    }

    private var stage = Stage.open
    private var pending = TinyArray<OperationEvent.Kind>.none
    /// True while the operation is being added: `added` has to be published before all other events.
    private var isHeld = false
    private var isPublishing = false
    /// True once a batch contains the `finished` event.
    private var hasHandedOutEnd = false
    /// True if the operation had started when it was first observed, and has not become ready again since.
    private var ignoresStart: Bool
    private var percent = 0
    /// The version of the newest progress that was appended: two threads may bring theirs out of order.
    private var progressVersion: UInt64 = 0
    private var broadcaster: EventBroadcaster?
    private(set) var ownBroadcaster: EventBroadcaster?
    private var parent: OperationReference?
    /// The subject of all events, made when the first one is published.
    private var subject: EventSubject?
    /// False until the operation is added, because its name may change.
    private var isSubjectFinal = false
    /// The time of the last `started` event, on the clock of the queue.
    private(set) var start: Duration?
    private var waiters: [Waiter] = []

    /// A task or a queue that waits until the `finished` event has been published.
    enum Waiter {
        /// A task that awaits the outcome.
        case task(UnsafeContinuation<Void, Never>)
        /// The queue, which is not idle before the event is published.
        case queue(QueueCore)

        func finishedWasPublished() {
            switch self {
            case .task(let continuation): continuation.resume()
            case .queue(let core): core.callsEnded()
            }
        }
    }

    /// - Parameter broadcaster: The broadcaster of the operation's queue, if it has been added.
    init(broadcaster: EventBroadcaster? = nil, ignoresStart: Bool = false) {
        self.broadcaster = broadcaster
        self.ignoresStart = ignoresStart
    }

    // MARK: Appending

    /// Returns false if the `finished` event has been published, so that no subscriber of this operation alone is left.
    @discardableResult
    mutating func append(_ kind: OperationEvent.Kind) -> Bool {
        if stage == .ended { return false }
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
            // Drops an event that comes too late, such as progress that another thread reports while the operation
            // finishes.
            if stage == .open { pending.append(kind) }
        }
        return true
    }

    mutating func appendProgress(_ fraction: Double, version: UInt64) {
        if version <= progressVersion { return }
        progressVersion = version
        let percent = fraction.wholePercent
        if percent == self.percent { return }
        self.percent = percent
        append(.progress(fraction))
    }

    // MARK: Being added

    /// Holds back all events of an operation that was adopted, until ``releaseHeldEvents(edges:isWaiting:parent:)``.
    mutating func hold(for broadcaster: EventBroadcaster) {
        self.broadcaster = broadcaster
        isHeld = true
    }

    /// The broadcaster for the `added` event, or `nil` if none is to be published.
    var heldFor: EventBroadcaster? { isHeld ? broadcaster : nil }

    /// Puts `added` before the events that were held back. The dependencies are frozen.
    mutating func releaseHeldEvents(edges: [OperationEvent.Edge], isWaiting: Bool, parent: OperationReference?) {
        assert(isHeld, "`added` is published once, after `hold(for:)`")
        isHeld = false
        self.parent = parent
        var kinds = TinyArray.one(OperationEvent.Kind.added(edges: edges))
        if isWaiting { kinds.append(.waiting) }
        if !pending.isEmpty { pending.forEach { kinds.append($0) } }
        pending = kinds
    }

    // MARK: Publishing

    /// Returns the first batch, or `nil` if there is nothing to publish or another thread is publishing.
    ///
    /// - Parameter operation: Returns the reference for the events. Called for each batch until the reference is final.
    mutating func startPublishing(of operation: () -> (OperationReference, isFinal: Bool)) -> Batch? {
        if isPublishing { return nil }
        isPublishing = true
        return nextBatch(of: operation)
    }

    /// Returns the next batch, or `nil` if all events have been published.
    ///
    /// - Parameter start: The time of the `started` event, if the previous batch contained one.
    mutating func nextBatch(
        start: Duration? = nil, of operation: () -> (OperationReference, isFinal: Bool)
    ) -> Batch? {
        assert(isPublishing, "only the thread that publishes asks for the next batch")
        if let start { self.start = start }
        if pending.isEmpty || isHeld {
            isPublishing = false
            if hasHandedOutEnd { end() }
            return nil
        }
        hasHandedOutEnd = hasHandedOutEnd || stage == .ending
        return Batch(
            kinds: pending.take(), broadcaster: broadcaster.map { Unretained($0) },
            ownBroadcaster: ownBroadcaster.map { Unretained($0) },
            subject: subject(operation))
    }

    private mutating func subject(
        _ operation: () -> (OperationReference, isFinal: Bool)
    ) -> Unretained<EventSubject> {
        if isSubjectFinal, let subject { return Unretained(subject) }
        let (reference, isFinal) = operation()
        let made = EventSubject(reference, childOf: parent, in: broadcaster?.queue)
        subject = made
        isSubjectFinal = isFinal
        return Unretained(made)
    }

    private mutating func end() {
        stage = .ended
        broadcaster = nil
        ownBroadcaster = nil
    }

    // MARK: Waiters

    var hasPublishedFinished: Bool { stage == .ended }

    /// Keeps `waiter` until the `finished` event has been published. The operation has its outcome, so that event is
    /// pending, or the thread that finishes the operation appends it next.
    ///
    /// - Returns: False if the event has been published, and there is nothing to wait for.
    mutating func keep(_ waiter: Waiter) -> Bool {
        if stage == .ended { return false }
        waiters.append(waiter)
        return true
    }

    /// Returns the waiters to resume after unlocking. Empty until the `finished` event has been published.
    mutating func takeWaiters() -> [Waiter] {
        if stage != .ended { return [] }
        defer { waiters = [] }
        return waiters
    }

    // MARK: Observers of this operation alone

    /// Returns the broadcaster for the observers of this operation alone, or `nil` if it is too late for the `finished`
    /// event.
    mutating func ownBroadcaster(or new: EventBroadcaster) -> EventBroadcaster? {
        if hasHandedOutEnd { return nil }
        if ownBroadcaster == nil { ownBroadcaster = new }
        return ownBroadcaster
    }

    /// Ends the events of an operation that was released without an outcome.
    func operationWasReleased() { ownBroadcaster?.end() }

    /// Keeps ``RareState`` small, because few operations have an outbox.
    final class Box {
        var machine: EventOutbox

        init(broadcaster: EventBroadcaster?, ignoresStart: Bool) {
            machine = EventOutbox(broadcaster: broadcaster, ignoresStart: ignoresStart)
        }
    }
}
