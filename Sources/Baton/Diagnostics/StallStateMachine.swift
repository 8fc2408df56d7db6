/// Detects that nothing progresses in a queue, by comparing counters from time to time. A pure value; see
/// ``StallWatch``.
///
/// Operations do not record the time of their progress, so that progress costs nothing. The machine only knows when it
/// has *seen* a change. So a stall is reported when the counters have not changed for the limit of a watcher, at most a
/// quarter of the limit late.
struct StallStateMachine<Handler: Sendable> {
    /// Counters of a queue that change with every operation that is added, starts or finishes.
    struct Signs: Equatable {
        var added = 0
        var finished = 0
        var taken = 0
        /// Calls of an operation's handlers that have returned, and those that are due or under way.
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
        var toldLull: UInt64 = 0

        func end(since: Duration) -> Duration { max(start, since) + limit }
    }

    private enum EngineTimer {
        case none
        /// The driver is about to set the timer with this number.
        case coming(UInt64)
        case set(UInt64, TimerService.Ticket)
    }

    /// An effect that the driver performs after unlocking; it then calls ``adjust(isEmpty:)`` again.
    enum Action {
        case none
        /// Call ``begin(_:at:signs:)`` with this number, and set a timer for the time that it returns.
        case setTimer(UInt64)
        case removeTimer(TimerService.Ticket)
    }

    /// The shortest limit. A shorter one counts as this.
    static var shortest: Duration { .milliseconds(1) }

    /// The watchers by their numbers, which rise in the order in which watchers are added.
    private var watchers: [UInt64: Watcher] = [:]
    private var lastID: UInt64 = 0
    /// A lower bound of the limits of all watchers. It is exact unless a watcher was removed since ``askAll(after:)``.
    private var shortestLimit = Duration.zero
    private var timer = EngineTimer.none
    private var lastTimer: UInt64 = 0
    /// When the current timer fires; `nil` if the next timer has to take all watchers into account.
    private var nextLook: Duration?
    private var signs: Signs?
    /// When a change was last seen: the counters have been equal to ``signs`` since.
    private var since = Duration.zero
    /// How many changes were seen. The time between two changes is a lull, which is reported to each watcher once.
    private var lull: UInt64 = 0

    var isWatched: Bool { !watchers.isEmpty }

    // MARK: Watchers

    mutating func add(_ handler: Handler, after limit: Duration, at now: Duration) -> (UInt64, Action) {
        lastID += 1
        let limit = max(Self.shortest, limit.bounded)
        shortestLimit = watchers.isEmpty ? limit : min(shortestLimit, limit)
        watchers[lastID] = Watcher(limit: limit, handler: handler, start: now)
        let firstLook = Self.firstLook(after: now, limit)
        // If `nextLook` is `nil`, the timer that is about to be set takes this watcher into account.
        guard let nextLook, firstLook < nextLook else { return (lastID, .none) }
        let order = dropTimer()
        self.nextLook = firstLook
        return (lastID, order)
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
            timer = .coming(lastTimer)
            return .setTimer(lastTimer)
        case .none, .coming, .set: return isWanted ? .none : dropTimer()
        }
    }

    private mutating func dropTimer() -> Action {
        defer {
            timer = .none
            nextLook = nil
        }
        if case .set(_, let ticket) = timer { return .removeTimer(ticket) }
        return .none
    }

    /// Returns when the timer with this number has to fire, or `nil` if it is no longer wanted.
    mutating func begin(_ number: UInt64, at now: Duration, signs: Signs) -> Duration? {
        guard case .coming(number) = timer else { return nil }
        let hasChanged = look(at: signs, now)
        // If there was a change, no limit can be over before the first look.
        let time = nextLook ?? (hasChanged ? Self.firstLook(after: now, shortestLimit) : askAll(after: now))
        nextLook = time
        return time
    }

    /// Returns false if the timer is no longer wanted, or has fired already.
    mutating func wasSet(_ number: UInt64, _ ticket: TimerService.Ticket) -> Bool {
        guard case .coming(number) = timer else { return false }
        timer = .set(number, ticket)
        return true
    }

    /// Returns the handlers to call after the timer has fired, or `nil` if there are none.
    mutating func fired(_ number: UInt64, at now: Duration, signs: Signs) -> Call? {
        switch timer {
        case .coming(number), .set(number, _): timer = .none
        // Another timer has replaced this one.
        case .none, .coming, .set: return nil
        }
        nextLook = nil
        look(at: signs, now)
        if signs.isEmpty { return nil }
        let due = watchers.filter { $0.value.toldLull != lull && $0.value.end(since: since) <= now }.keys.sorted()
        for id in due { watchers[id]?.toldLull = lull }
        return due.isEmpty ? nil : Call(handlers: due.compactMap { watchers[$0]?.handler }, quiet: now - since)
    }

    /// Returns true if something has changed since the last look.
    @discardableResult
    private mutating func look(at signs: Signs, _ now: Duration) -> Bool {
        if signs == self.signs { return false }
        self.signs = signs
        since = now
        lull += 1
        return true
    }

    private static func firstLook(after now: Duration, _ limit: Duration) -> Duration {
        now + max(shortest, limit / 4)
    }

    /// Returns when to look for changes next, or when the first limit is over, whichever comes first.
    private mutating func askAll(after now: Duration) -> Duration {
        shortestLimit = watchers.values.map(\.limit).min() ?? .zero
        var next = Self.firstLook(after: now, shortestLimit)
        for watcher in watchers.values where watcher.toldLull != lull { next = min(next, watcher.end(since: since)) }
        return max(now, next)
    }
}
