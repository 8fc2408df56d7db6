/// The events of a queue or of one operation, in order, as an asynchronous sequence.
///
/// ```swift
/// for await event in queue.events { print(event.operation, event.kind) }
/// ```
///
/// The sequence keeps all events that happen after it was made until they are read, so a slow reader delays nobody.
/// Several iterators of one sequence share its events; to read the events twice, ask for a second sequence. A sequence
/// keeps neither operations nor queues alive.
///
/// The sequence of an operation ends after `finished`, which is its only event if the operation had finished before. It
/// ends without `finished` if the operation is released without having been added. The sequence of a queue ends when
/// the last handle to the queue is gone and the queue is empty. For a task that is cancelled, both end at once.
public struct OperationEvents: AsyncSequence, Sendable {
    /// An event of one operation.
    public typealias Element = OperationEvent
    /// The sequence does not throw.
    public typealias Failure = Never

    /// How many unread events a sequence keeps.
    @nonexhaustive
    public enum Buffering: Sendable, Hashable {
        /// Keeps all events.
        case unbounded
        /// Keeps the newest events, at least 1, and drops older ones. The reader then gets
        /// ``OperationEvent/Kind/dropped(_:)`` before the next event.
        case newest(Int)
    }

    let subscription: Subscription

    /// Removes the reader from the broadcaster when the sequence and its iterators are gone.
    final class Subscription: Sendable {
        let broadcaster: EventBroadcaster
        let id: UInt64

        init(in broadcaster: EventBroadcaster, limit: Int?) {
            self.broadcaster = broadcaster
            id = broadcaster.addReader(limit: limit)
        }

        deinit { broadcaster.remove(id) }
    }

    /// Returns an iterator that goes on where other iterators of this sequence have stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

    /// The iterator of a sequence of events.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: Subscription

        /// Waits for the next event.
        ///
        /// - Parameter actor: The actor that the caller is isolated to.
        /// - Returns: The next event, or `nil` after the last one. Returns `nil` at once if the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> OperationEvent? {
            while !Task.isCancelled {
                switch subscription.broadcaster.next(for: subscription.id) {
                case .event(let event): return event
                case .wait(let id): await subscription.broadcaster.wait(id, of: subscription.id)
                case .end: return nil
                }
            }
            return nil
        }
    }
}

extension OperationEvents {
    /// Returns all unread events, taken in one locked step. For recorders, which read many events at a time, and for
    /// the events that are left when a task that reads them was cancelled.
    package func takeAll() -> [OperationEvent] { subscription.broadcaster.takeAll(for: subscription.id) }

    /// The time since the queue was made, on its clock. Zero for the events of one operation.
    package var now: Duration { subscription.broadcaster.now }

    /// The queue that the events belong to. `nil` for the events of one operation.
    package var queue: QueueReference? { subscription.broadcaster.queue }
}

extension AsyncOperationQueue {
    /// The events of the queue's operations from now on. Keeps all of them until they are read.
    ///
    /// - Complexity: O(*n*), where *n* is the number of operations in the queue.
    public var events: OperationEvents { events(buffering: .unbounded) }

    /// Returns the events of the queue's operations from now on.
    ///
    /// - Parameter buffering: How many unread events are kept. A limit below 1 is reported as ``Misuse`` and counts as
    ///   1.
    /// - Returns: A new sequence, which shares no events with other sequences.
    /// - Complexity: O(*n*), where *n* is the number of operations in the queue.
    public func events(buffering: OperationEvents.Buffering) -> OperationEvents {
        let subscription = OperationEvents.Subscription(
            in: core.broadcaster, limit: buffering.limit { core.report(Misuse(.invalidEventLimit($0), queue: name)) })
        core.observeOperations()
        return OperationEvents(subscription: subscription)
    }
}

extension AnyOperation {
    /// The events of this operation from now on. Keeps all of them until they are read.
    public final var events: OperationEvents { events(buffering: .unbounded) }

    /// Returns the events of this operation from now on. If it has finished, the only event is `finished`.
    ///
    /// A body that iterates the sequence keeps its permit while it waits for the next event. A body that waits for
    /// another operation should await its ``AsyncOperation/value`` instead, which releases the permit.
    ///
    /// - Parameter buffering: How many unread events are kept. A limit below 1 is reported as ``Misuse`` and counts as
    ///   1.
    /// - Returns: A new sequence, which shares no events with other sequences.
    public final func events(buffering: OperationEvents.Buffering) -> OperationEvents {
        let limit = buffering.limit { report(Misuse(.invalidEventLimit($0), operation: reference)) }
        return OperationEvents(
            subscription: OperationEvents.Subscription(in: ownBroadcaster().broadcaster, limit: limit))
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
