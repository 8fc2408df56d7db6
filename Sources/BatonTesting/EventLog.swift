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
        var clearedCount = 0
        /// At the total that they wait for, with what was cleared.
        var watchers = TimerHeap<Int, Wait>()

        var total: Int { clearedCount + events.count }
    }

    private let state = Locked(State())

    /// A log without events.
    public init() {}

    /// All events so far, the oldest first.
    public var events: [Event] { state.withLock { $0.events } }

    /// Forgets the events so far, so that a test can look at what comes next alone.
    ///
    /// Those who wait already go on counting as if nothing had been cleared.
    public func clear() {
        state.withLock { state in
            state.clearedCount += state.events.count
            state.events = []
        }
    }

    /// How many events there are so far.
    public var count: Int { state.withLock { $0.events.count } }

    /// Notes an event and lets those go on who waited for it.
    ///
    /// They are resumed by the calling thread and have not yet run when this returns.
    public func append(_ event: Event) {
        let content = state.withLock { state in
            state.events.append(event)
            return state.watchers.takeDue(at: state.total)
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
        await waitForTotal { $0.clearedCount + count }
        return events
    }

    private func waitForTotal(_ total: (State) -> Int) async {
        let wait = Wait()
        let ticket = state.withLock { state in
            let total = total(state)
            return state.total < total ? state.watchers.add(wait, at: total) : nil
        }
        if let ticket {
            _ = await wait.suspend(forgottenWhenCancelled: {
                _ = state.withLock { $0.watchers.remove(ticket) }
            })
        }
    }

    /// The first event that fulfils the condition, of those that came and, if need be, those to come.
    ///
    /// The condition runs on the waiting task, once for an event. When the task is cancelled the answer is nil, unless
    /// such an event has already come.
    @discardableResult
    public func first(where condition: (Event) throws -> Bool) async rethrows -> Event? {
        var seen = 0
        while true {
            await waitForTotal { _ in seen + 1 }
            let (unseen, total) = state.withLock { state in
                (Array(state.events.dropFirst(max(0, seen - state.clearedCount))), state.total)
            }
            guard total > seen else { return nil }
            for event in unseen where try condition(event) { return event }
            seen = total
        }
    }
}
