/// Detects that nothing progresses in a queue, by comparing counters from time to time. A pure value; see
/// ``StallWatch``.
///
/// Operations do not record the time of their progress, so that progress costs nothing. The machine only knows when it
/// has *seen* a change. So a stall is reported when the counters have not changed for the limit of a watcher, at most a
/// quarter of the limit late.
struct StallStateMachine<Handler: Sendable> {
    /// Counters of a queue that change with every operation that is added, starts or finishes.
    struct Counters: Equatable {
        var added = 0
        var finished = 0
        var taken = 0
        /// Calls of an operation's handlers that have returned, and those that are due or in progress.
        var handlersReturned = 0
        var hasOpenHandlers = false

        var isEmpty: Bool { added == finished && !hasOpenHandlers }
    }

    struct Call: Sendable {
        /// The handlers to call, in the order in which they were added.
        let handlers: [Handler]
        /// The time for which nothing has progressed, at least.
        let quiet: Duration
    }

    private struct Watcher {
        let limit: Duration
        let handler: Handler
        /// When the watcher was added.
        let start: Duration
        /// The number of the last lull that was reported to the handler.
        var reportedLull: UInt64 = 0

        func deadline(lastChange: Duration) -> Duration { max(start, lastChange) + limit }
    }

    private enum TimerPhase {
        case none
        /// The driver is about to set the timer with this number.
        case setting(UInt64)
        case set(UInt64, TimerService.Ticket)
    }

    /// An effect that the driver performs after unlocking; it then calls ``adjust(isEmpty:)`` again.
    enum Action {
        case none
        /// Call ``begin(_:at:counters:)`` with this number, and set a timer for the time that it returns.
        case setTimer(UInt64)
        case removeTimer(TimerService.Ticket)
    }

    /// The shortest limit. A shorter one counts as this.
    static var shortest: Duration { .milliseconds(1) }

    /// The watchers by their numbers, which rise in the order in which watchers are added.
    private var watchers: [UInt64: Watcher] = [:]
    private var lastID: UInt64 = 0
    /// A lower bound of the limits of all watchers. It is exact unless a watcher was removed since
    /// ``timeOfCheck(after:)``.
    private var shortestLimit = Duration.zero
    private var timer = TimerPhase.none
    private var lastTimer: UInt64 = 0
    /// When the current timer fires; `nil` if the next timer has to take all watchers into account.
    private var nextCheck: Duration?
    private var counters: Counters?
    /// When a change was last seen: the counters have been equal to ``counters`` since.
    private var lastChange = Duration.zero
    /// The number of changes that were seen. The time between two changes is a lull, which is reported to each watcher
    /// once.
    private var lullNumber: UInt64 = 0

    var isWatched: Bool { !watchers.isEmpty }

    // MARK: Watchers

    mutating func add(_ handler: Handler, after limit: Duration, at now: Duration) -> (UInt64, Action) {
        lastID += 1
        let limit = max(Self.shortest, limit.bounded)
        shortestLimit = watchers.isEmpty ? limit : min(shortestLimit, limit)
        watchers[lastID] = Watcher(limit: limit, handler: handler, start: now)
        let firstCheck = Self.firstCheck(after: now, limit)
        // If `nextCheck` is `nil`, the timer that is about to be set takes this watcher into account.
        guard let nextCheck, firstCheck < nextCheck else { return (lastID, .none) }
        let action = dropTimer()
        self.nextCheck = firstCheck
        return (lastID, action)
    }

    /// Returns the handler, which the caller releases after unlocking.
    mutating func remove(_ id: UInt64) -> (Handler?, Action) {
        guard let watcher = watchers.removeValue(forKey: id) else { return (nil, .none) }
        return (watcher.handler, watchers.isEmpty ? dropTimer() : .none)
    }

    // MARK: The timer

    /// Keeps a timer while there are both watchers and operations.
    mutating func adjust(isEmpty: Bool) -> Action {
        let isWanted = !isEmpty && isWatched
        switch timer {
        case .none where isWanted:
            lastTimer += 1
            timer = .setting(lastTimer)
            return .setTimer(lastTimer)
        case .none, .setting, .set: return isWanted ? .none : dropTimer()
        }
    }

    private mutating func dropTimer() -> Action {
        defer {
            timer = .none
            nextCheck = nil
        }
        if case .set(_, let ticket) = timer { return .removeTimer(ticket) }
        return .none
    }

    /// Returns when the timer with this number has to fire, or `nil` if it is no longer wanted.
    mutating func begin(_ number: UInt64, at now: Duration, counters: Counters) -> Duration? {
        guard case .setting(number) = timer else { return nil }
        let hasChanged = noteChange(of: counters, at: now)
        // If there was a change, no limit can be over before the first look.
        let time = nextCheck ?? (hasChanged ? Self.firstCheck(after: now, shortestLimit) : timeOfCheck(after: now))
        nextCheck = time
        return time
    }

    /// Returns false if the timer is no longer wanted, or has fired already.
    mutating func wasSet(_ number: UInt64, _ ticket: TimerService.Ticket) -> Bool {
        guard case .setting(number) = timer else { return false }
        timer = .set(number, ticket)
        return true
    }

    /// Returns the handlers to call after the timer has fired, or `nil` if there are none.
    ///
    /// - Parameters:
    ///   - number: The number of the timer.
    ///   - now: A time before the counters were read.
    ///   - counters: The counters of the queue.
    ///   - change: A time after the counters were read. It is `now` if it is nil.
    mutating func timerFired(
        _ number: UInt64, at now: Duration, counters: Counters, changedAt change: Duration? = nil
    ) -> Call? {
        switch timer {
        case .setting(number), .set(number, _): timer = .none
        // Another timer has replaced this one.
        case .none, .setting, .set: return nil
        }
        nextCheck = nil
        noteChange(of: counters, at: change ?? now)
        if counters.isEmpty { return nil }
        let due = watchers.filter {
            $0.value.reportedLull != lullNumber && $0.value.deadline(lastChange: lastChange) <= now
        }.keys.sorted()
        for id in due { watchers[id]?.reportedLull = lullNumber }
        return due.isEmpty ? nil : Call(handlers: due.compactMap { watchers[$0]?.handler }, quiet: now - lastChange)
    }

    /// Returns true if something has changed since the last check.
    @discardableResult
    private mutating func noteChange(of counters: Counters, at now: Duration) -> Bool {
        if counters == self.counters { return false }
        self.counters = counters
        lastChange = now
        lullNumber += 1
        return true
    }

    private static func firstCheck(after now: Duration, _ limit: Duration) -> Duration {
        now + max(shortest, limit / 4)
    }

    /// Returns when to check for changes next, or when the first limit is over, whichever comes first.
    private mutating func timeOfCheck(after now: Duration) -> Duration {
        shortestLimit = watchers.values.map(\.limit).min() ?? .zero
        var next = Self.firstCheck(after: now, shortestLimit)
        for watcher in watchers.values where watcher.reportedLull != lullNumber {
            next = min(next, watcher.deadline(lastChange: lastChange))
        }
        return max(now, next)
    }
}
