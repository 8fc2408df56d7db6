internal import Baton

/// A log of events, in the order in which any number of threads have appended them. A test can wait for an event.
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
        /// The watchers, by the total that they wait for, which includes cleared events.
        var watchers = TimerHeap<Int, Wait>()

        var total: Int { clearedCount + events.count }
    }

    private let state = Locked(State())

    /// Makes a log without events.
    public init() {}

    /// All events so far, the oldest first.
    public var events: [Event] { state.withLock { $0.events } }

    /// Removes all events, so that a test can look at the following events alone.
    ///
    /// Tasks that are waiting already go on counting as if nothing had been removed.
    public func clear() {
        state.withLock { state in
            state.clearedCount += state.events.count
            state.events = []
        }
    }

    /// The number of events so far.
    public var count: Int { state.withLock { $0.events.count } }

    /// Appends an event and wakes the tasks that have waited for it.
    ///
    /// The calling thread resumes them. They have not run yet when this method returns.
    ///
    /// - Parameter event: The event to append.
    public func append(_ event: Event) {
        let content = state.withLock { state in
            state.events.append(event)
            return state.watchers.takeDue(at: state.total)
        }
        for watcher in content { watcher.resume() }
    }

    /// Appends an event: `log(event)` is short for `log.append(event)`.
    ///
    /// - Parameter event: The event to append.
    public func callAsFunction(_ event: Event) {
        append(event)
    }

    /// Suspends until there are at least `count` events.
    ///
    /// When the waiting task is cancelled, the method returns at once.
    ///
    /// - Parameter count: The number of events to wait for.
    /// - Returns: All events so far. If the task was cancelled, there may be fewer than `count`.
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

    /// Returns the first event that fulfils a condition, and waits for it if necessary.
    ///
    /// ```swift
    /// let failure = await log.first { $0.hasPrefix("failed") }
    /// ```
    ///
    /// - Parameter condition: The condition. It is called on the waiting task, once for each event.
    /// - Returns: The event. If the task is cancelled before such an event is appended, nil.
    /// - Throws: The errors that the condition throws.
    /// - Complexity: O(*n*), where *n* is the number of events.
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
