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
        /// The stored events: those that were cleared, while a search may not have seen them yet, and the others.
        private var stored: [Event] = []
        /// The number of events that were removed from `stored`.
        private var droppedCount = 0
        private(set) var clearedCount = 0
        /// The number of running calls of ``EventLog/first(file:line:where:)``.
        private var searches = 0
        /// The watchers, by the total that they wait for, which includes cleared events.
        var watchers = TimerHeap<Int, Wait>()

        var total: Int { droppedCount + stored.count }
        var events: [Event] { events(after: clearedCount) }
        var count: Int { total - clearedCount }

        func events(after number: Int) -> [Event] {
            number == droppedCount ? stored : Array(stored.dropFirst(number - droppedCount))
        }

        mutating func append(_ event: Event) { stored.append(event) }

        /// Returns events that the caller releases after unlocking.
        mutating func clear() -> [Event] {
            clearedCount = total
            return takeCleared()
        }

        mutating func beginSearch() -> Int {
            searches += 1
            return clearedCount
        }

        /// Returns events that the caller releases after unlocking.
        mutating func endSearch() -> [Event] {
            searches -= 1
            return takeCleared()
        }

        private mutating func takeCleared() -> [Event] {
            if searches > 0 { return [] }
            let count = clearedCount - droppedCount
            defer {
                stored.removeFirst(count)
                droppedCount = clearedCount
            }
            return Array(stored.prefix(count))
        }
    }

    private let state = Locked(State())
    private let watch: LongWaitWatch
    /// Writes a line about a number that makes no sense.
    private let report: @Sendable (String) -> Void

    /// Makes a log without events.
    public init() {
        watch = .shared
        report = { StandardErrorLine.write($0) }
    }

    init(
        watchedBy watch: LongWaitWatch, report: @escaping @Sendable (String) -> Void = { StandardErrorLine.write($0) }
    ) {
        self.watch = watch
        self.report = report
    }

    /// All events so far, the oldest first.
    public var events: [Event] { state.withLock { $0.events } }

    /// Removes all events, so that a test can look at the following events alone.
    ///
    /// Pending waits are not affected: removed events still count for ``waitForCount(_:file:line:)``, and
    /// ``first(file:line:where:)`` still finds them.
    public func clear() { _ = state.withLock { $0.clear() } }

    /// The number of events so far.
    public var count: Int { state.withLock { $0.count } }

    /// Appends an event and wakes the tasks that have waited for it.
    ///
    /// The calling thread resumes them. They have not run yet when this method returns.
    ///
    /// - Parameter event: The event to append.
    public func append(_ event: Event) {
        let due = state.withLock { state in
            state.append(event)
            return state.watchers.takeDue(at: state.total)
        }
        for watcher in due { watcher.resume() }
    }

    /// Appends an event: `log(event)` is short for `log.append(event)`.
    ///
    /// - Parameter event: The event to append.
    public func callAsFunction(_ event: Event) {
        append(event)
    }

    /// Suspends until there are at least `count` events.
    ///
    /// When the waiting task is cancelled, the method returns at once. After 5 to 10 seconds of real time it writes a
    /// line to standard error, with the number of events so far.
    ///
    /// - Parameters:
    ///   - count: The number of events to wait for. If it is negative, the method returns at once, and a line on
    ///     standard error says so.
    ///   - file: The file that the line names.
    ///   - line: The line in that file.
    /// - Returns: All events so far. There may be fewer than `count` if the task was cancelled, or if ``clear()`` was
    ///   called meanwhile.
    @discardableResult
    public func waitForCount(_ count: Int, file: StaticString = #fileID, line: UInt = #line) async -> [Event] {
        if count < 0 { report(LongWaitWatch.negative("EventLog.waitForCount", count, "events", file, line)) }
        var watched: LongWaitWatch.Ticket?
        defer { if let watched { watch.end(watched) } }
        await waitForTotal { state in
            let (total, overflows) = state.clearedCount.addingReportingOverflow(count)
            return overflows ? .max : total
        } willSuspend: {
            watched = watchWait("waitForCount(\(count))", file, line) { soFar in
                soFar == 1 ? "the log has 1 event" : "the log has \(soFar) events"
            }
        }
        return events
    }

    private func waitForTotal(_ total: (State) -> Int, willSuspend: () -> Void) async {
        let wait = Wait()
        let ticket = state.withLock { state in
            let total = total(state)
            return state.total < total ? state.watchers.add(wait, at: total) : nil
        }
        if let ticket {
            willSuspend()
            _ = await wait.suspend(forgottenWhenCancelled: {
                _ = state.withLock { $0.watchers.remove(ticket) }
            })
        }
    }

    /// - Parameter told: The end of the line, for the number of events.
    private func watchWait(
        _ call: String, _ file: StaticString, _ line: UInt, _ told: @escaping @Sendable (Int) -> String
    ) -> LongWaitWatch.Ticket {
        watch.begin { [weak self] in
            guard let self else { return nil }
            let beginning = LongWaitWatch.beginning("EventLog.\(call)", file, line)
            return "\(beginning): \(told(count)). Print `explain()` of the operation that should append the event"
        }
    }

    /// Returns the first event that fulfils a condition, and waits for it if necessary.
    ///
    /// ```swift
    /// let failure = await log.first { $0.hasPrefix("failed") }
    /// ```
    ///
    /// After 5 to 10 seconds of real time the method writes a line to standard error, with the number of events so far.
    ///
    /// - Parameters:
    ///   - file: The file that the line names.
    ///   - line: The line in that file.
    ///   - condition: The condition. It is called on the waiting task, once for each event, including events that
    ///     ``clear()`` removes after this method has begun.
    /// - Returns: The event. If the task is cancelled before such an event is appended, nil.
    /// - Throws: The errors that the condition throws.
    /// - Complexity: O(*n*), where *n* is the number of events.
    @discardableResult
    public func first(
        file: StaticString = #fileID, line: UInt = #line, where condition: (Event) throws -> Bool
    ) async rethrows -> Event? {
        var watched: LongWaitWatch.Ticket?
        defer { if let watched { watch.end(watched) } }
        var seen = state.withLock { $0.beginSearch() }
        defer { _ = state.withLock { $0.endSearch() } }
        while true {
            await waitForTotal { _ in
                seen + 1
            } willSuspend: {
                if watched != nil { return }
                watched = watchWait("first(where:)", file, line) { soFar in
                    soFar == 0 ? "the log is empty" : "none of its events fulfils the condition (\(soFar) so far)"
                }
            }
            let (unseen, total) = state.withLock { ($0.events(after: seen), $0.total) }
            guard total > seen else { return nil }
            for event in unseen where try condition(event) { return event }
            seen = total
        }
    }
}
