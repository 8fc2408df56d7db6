/// Whether anything progresses in a queue, looked at now and then. Pure; see ``StallWatch``.
///
/// Progress takes no note of the time, so that it costs nothing: what is known is when a change was *seen*. So a stall
/// is told when nothing has changed for as long as was asked, and at most a quarter of that later than it could have
/// been.
struct StallStateMachine<Handler: Sendable> {
    /// What changes with everything that is added, starts or finishes.
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
        /// In the order in which they came.
        let handlers: [Handler]
        /// Nothing has progressed for so long, at least.
        let quiet: Duration
    }

    private struct Watcher {
        let limit: Duration
        let handler: Handler
        /// It came then.
        let start: Duration
        /// The lull that it was told of last.
        var toldLull: UInt64 = 0

        func end(since: Duration) -> Duration { max(start, since) + limit }
    }

    private enum EngineTimer {
        case none
        /// Somebody is about to set it.
        case coming(UInt64)
        case set(UInt64, TimerService.Ticket)
    }

    /// What to do after unlocking; then it is to be asked again.
    enum Action {
        case none
        /// See ``begin(_:at:signs:)``.
        case setTimer(UInt64)
        case removeTimer(TimerService.Ticket)
    }

    /// However short the limit.
    static var shortest: Duration { .milliseconds(1) }

    /// By their numbers, which grow in the order in which they come.
    private var watchers: [UInt64: Watcher] = [:]
    private var lastID: UInt64 = 0
    /// No watcher has a shorter one. May be shorter than all after one has gone, until all of them are looked at again.
    private var shortestLimit = Duration.zero
    private var timer = EngineTimer.none
    private var lastTimer: UInt64 = 0
    /// When the timer fires that is there or about to be set; nil: all watchers have to be asked.
    private var nextLook: Duration?
    private var signs: Signs?
    /// The signs are the same as then.
    private var since = Duration.zero
    /// How often the signs have changed. Between two changes is a lull, of which each watcher is told once.
    private var lull: UInt64 = 0

    var isWatched: Bool { !watchers.isEmpty }

    // MARK: Watchers

    mutating func add(_ handler: Handler, after limit: Duration, at now: Duration) -> (UInt64, Action) {
        lastID += 1
        let limit = max(Self.shortest, limit.bounded)
        shortestLimit = watchers.isEmpty ? limit : min(shortestLimit, limit)
        watchers[lastID] = Watcher(limit: limit, handler: handler, start: now)
        let firstLook = Self.firstLook(after: now, limit)
        // Else a timer that is about to be set asks this watcher, too.
        guard let nextLook, firstLook < nextLook else { return (lastID, .none) }
        let order = dropTimer()
        self.nextLook = firstLook
        return (lastID, order)
    }

    /// Its handler is released by the caller, after unlocking.
    mutating func remove(_ id: UInt64) -> (Handler?, Action) {
        guard let watcher = watchers.removeValue(forKey: id) else { return (nil, .none) }
        return (watcher.handler, watchers.isEmpty ? dropTimer() : .none)
    }

    // MARK: The timer

    /// A timer is there while there is something to watch.
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

    /// When it has to fire. Nil: it is not wanted any more.
    mutating func begin(_ number: UInt64, at now: Duration, signs: Signs) -> Duration? {
        guard case .coming(number) = timer else { return nil }
        let hasChanged = look(at: signs, now)
        // After a change, nobody's limit is over before the first look.
        let time = nextLook ?? (hasChanged ? Self.firstLook(after: now, shortestLimit) : askAll(after: now))
        nextLook = time
        return time
    }

    /// False: it is not wanted any more, or has fired already.
    mutating func wasSet(_ number: UInt64, _ ticket: TimerService.Ticket) -> Bool {
        guard case .coming(number) = timer else { return false }
        timer = .set(number, ticket)
        return true
    }

    /// Returns the handlers to be called; nil if there are none. The timer has gone.
    mutating func fired(_ number: UInt64, at now: Duration, signs: Signs) -> Call? {
        switch timer {
        case .coming(number), .set(number, _): timer = .none
        // Another one has taken its place.
        case .none, .coming, .set: return nil
        }
        nextLook = nil
        look(at: signs, now)
        if signs.isEmpty { return nil }
        let due = watchers.filter { $0.value.toldLull != lull && $0.value.end(since: since) <= now }.keys.sorted()
        for id in due { watchers[id]?.toldLull = lull }
        return due.isEmpty ? nil : Call(handlers: due.compactMap { watchers[$0]?.handler }, quiet: now - since)
    }

    /// True: something has changed since the last look.
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

    /// The next time to see whether anything has changed, or when a limit is over.
    private mutating func askAll(after now: Duration) -> Duration {
        shortestLimit = watchers.values.map(\.limit).min() ?? .zero
        var next = Self.firstLook(after: now, shortestLimit)
        for watcher in watchers.values where watcher.toldLull != lull { next = min(next, watcher.end(since: since)) }
        return max(now, next)
    }
}
