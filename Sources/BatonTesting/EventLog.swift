internal import Baton

/// What happened, in the order in which it was noted, from any number of threads; a test can wait for it.
///
/// ```swift
/// let log = EventLog<String>()
/// queue.add { log("began") }
/// await log.waitForCount(1)
/// #expect(log.events == ["began"])
/// ```
public final class EventLog<Event: Sendable>: Sendable {
    private struct State {
        var events: [Event] = []
        /// At the count that they wait for.
        var watchers = Deadlines<Int, Wait>()
    }

    private let state = LockedState(State())

    /// A log without events.
    public init() {}

    /// All events so far, the oldest first.
    public var events: [Event] { state.withLock { $0.events } }

    /// How many events there are so far.
    public var count: Int { state.withLock { $0.events.count } }

    /// Notes an event and lets those go on who waited for it.
    ///
    /// They are resumed by the calling thread and have not yet run when this returns.
    public func append(_ event: Event) {
        let content = state.withLock { state in
            state.events.append(event)
            return state.watchers.takeDue(at: state.events.count)
        }
        for watcher in content { watcher.end() }
    }

    /// Notes an event: `log(event)` is `log.append(event)`.
    public func callAsFunction(_ event: Event) {
        append(event)
    }

    /// Suspends until there are at least `count` events, and returns all there are.
    ///
    /// When the waiting task is cancelled it returns at once what there is.
    @discardableResult
    public func waitForCount(_ count: Int) async -> [Event] {
        let wait = Wait()
        let ticket = state.withLock { state in
            state.events.count < count ? state.watchers.add(wait, at: count) : nil
        }
        if let ticket {
            _ = await wait.suspend(forgottenWhenCancelled: {
                _ = state.withLock { $0.watchers.remove(ticket) }
            })
        }
        return events
    }

    /// The first event that fulfils the condition, of those that came and, if need be, those to come.
    ///
    /// The condition runs on the waiting task, once for an event. When the task is cancelled the answer is nil, unless
    /// such an event has already come.
    @discardableResult
    public func first(where condition: (Event) throws -> Bool) async rethrows -> Event? {
        var seen = 0
        while true {
            let events = await waitForCount(seen + 1)
            guard events.count > seen else { return nil }
            for event in events[seen...] where try condition(event) { return event }
            seen = events.count
        }
    }
}
