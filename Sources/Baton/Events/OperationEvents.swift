/// The events of a queue or of one operation, in order, for whoever reads them when it likes.
///
/// ```swift
/// for await event in queue.events { print(event.operation, event.kind) }
/// ```
///
/// It begins when it is asked for: what happens from then on is kept until it is read. A slow reader delays nobody.
/// Several iterators of one sequence share its events; ask for another sequence to read them twice. It keeps no
/// operation alive, nor a queue.
///
/// That of an operation ends after `finished`, which is its only event if that has come to pass before; it ends without
/// if the operation is released and was never added. That of a queue ends when the last handle to the queue is gone and
/// nothing is left in it. Both end for a task that is cancelled.
public struct OperationEvents: AsyncSequence, Sendable {
    /// Something that has happened.
    public typealias Element = OperationEvent
    /// It does not throw.
    public typealias Failure = Never

    /// What is kept of the events that are not read yet.
    @nonexhaustive
    public enum Buffering: Sendable, Hashable {
        /// All.
        case unbounded
        /// So many, at least 1: before the next one comes ``OperationEvent/Kind/dropped(_:)`` if there were more.
        case newest(Int)
    }

    let subscription: Subscription

    /// Gives the subscription back when nobody reads any more.
    final class Subscription: Sendable {
        let hub: EventBroadcaster
        let id: UInt64

        init(in hub: EventBroadcaster, limit: Int?) {
            self.hub = hub
            id = hub.addReader(limit: limit)
        }

        deinit { hub.remove(id) }
    }

    /// Goes on where the sequence has been read to.
    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

    /// Reads events.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: Subscription

        /// The next event, as soon as there is one; nil at the end, and when the task is cancelled, at once.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> OperationEvent? {
            while !Task.isCancelled {
                switch subscription.hub.next(for: subscription.id) {
                case .event(let event): return event
                case .wait(let id): await subscription.hub.wait(id, of: subscription.id)
                case .end: return nil
                }
            }
            return nil
        }
    }
}

extension OperationEvents {
    /// All that has been told and not read, in one locked step: for recorders, which read seldom and much, and for what
    /// is left when a task that reads was cancelled.
    package func takeAll() -> [OperationEvent] { subscription.hub.takeAll(for: subscription.id) }

    /// The time on the clock of the queue, since that was made. Zero for the events of one operation.
    package var now: Duration { subscription.hub.now }

    /// Whose events these are. Nil for those of one operation.
    package var queue: QueueReference? { subscription.hub.queue }
}

extension AsyncOperationQueue {
    /// What happens to the queue's operations from now on, all of it.
    public var events: OperationEvents { events(buffering: .unbounded) }

    /// What happens to the queue's operations from now on. Takes as long as there are operations in the queue.
    ///
    /// - Parameter buffering: What is kept of those that are not read yet. To keep less than 1 is ``Misuse`` and keeps
    ///   1.
    public func events(buffering: OperationEvents.Buffering) -> OperationEvents {
        let subscription = OperationEvents.Subscription(
            in: core.hub, limit: buffering.limit { core.report(Misuse(.invalidEventLimit($0), queue: name)) })
        core.observeOperations()
        return OperationEvents(subscription: subscription)
    }
}

extension AnyOperation {
    /// What happens to this operation from now on, all of it.
    public final var events: OperationEvents { events(buffering: .unbounded) }

    /// What happens to this operation from now on. May be asked for at any time; after the finish there is `finished`
    /// alone.
    ///
    /// A body that iterates keeps its permit meanwhile: one that waits for another operation awaits its
    /// ``AsyncOperation/value`` instead.
    ///
    /// - Parameter buffering: What is kept of those that are not read yet. To keep less than 1 is ``Misuse`` and keeps
    ///   1.
    public final func events(buffering: OperationEvents.Buffering) -> OperationEvents {
        let limit = buffering.limit { report(Misuse(.invalidEventLimit($0), operation: reference)) }
        return OperationEvents(subscription: OperationEvents.Subscription(in: audience().hub, limit: limit))
    }
}

extension OperationEvents.Buffering {
    fileprivate func limit(orRefuse refuse: (Int) -> Void) -> Int? {
        switch self {
        case .unbounded: return nil
        case .newest(let count):
            if count < 1 { refuse(count) }
            return max(count, 1)
        }
    }
}
