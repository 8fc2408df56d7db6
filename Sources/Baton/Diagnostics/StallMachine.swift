/// Whether anything progresses in a queue, looked at now and then. Pure; see ``StallWatch``.
///
/// Progress takes no note of the time, so that it costs nothing: what is known is when a change was *seen*. So a stall is told
/// when nothing has changed for as long as was asked, and at most a quarter of that later than it could have been.
struct StallMachine<Handler: Sendable> {
    /// What changes with everything that is added, starts or finishes.
    struct Signs: Equatable {
        var added = 0
        var finished = 0
        var taken = 0

        var isEmpty: Bool { added == finished }
    }

    struct Call: Sendable {
        let handler: Handler
        /// Nothing has progressed for so long, at least.
        let quiet: Duration
    }

    private struct Watcher {
        let id: UInt64
        let limit: Duration
        let handler: Handler
        /// It came then.
        let start: Duration
        /// It was told of the stall that goes on.
        var isTold = false

        func end(since: Duration) -> Duration { max(start, since) + limit }
    }

    private enum Alarm {
        case none
        /// Somebody is about to set it.
        case coming(UInt64)
        case set(UInt64, Sleeper.Ticket)
    }

    /// What to do after unlocking; then it is to be asked again.
    enum Order {
        case none
        /// See ``begin(_:at:signs:)``.
        case setAlarm(UInt64)
        case removeAlarm(Sleeper.Ticket)
    }

    /// However short the limit.
    static var shortest: Duration { .milliseconds(1) }

    private var watchers: [Watcher] = []
    private var lastID: UInt64 = 0
    private var alarm = Alarm.none
    private var lastAlarm: UInt64 = 0
    private var signs: Signs?
    /// The signs are the same as then.
    private var since = Duration.zero

    var isWatched: Bool { !watchers.isEmpty }

    // MARK: Watchers

    mutating func add(_ handler: Handler, after limit: Duration, at now: Duration) -> (UInt64, Order) {
        lastID += 1
        watchers.append(Watcher(id: lastID, limit: max(Self.shortest, limit.bounded), handler: handler, start: now))
        // Its time may come before the alarm's.
        return (lastID, dropAlarm())
    }

    /// Its handler is released by the caller, after unlocking.
    mutating func remove(_ id: UInt64) -> (Handler?, Order) {
        guard let place = watchers.firstIndex(where: { $0.id == id }) else { return (nil, .none) }
        let handler = watchers.remove(at: place).handler
        return (handler, watchers.isEmpty ? dropAlarm() : .none)
    }

    // MARK: The alarm

    /// An alarm is there while there is something to watch.
    mutating func adjust(isEmpty: Bool) -> Order {
        let isWanted = !isEmpty && isWatched
        switch alarm {
        case .none:
            if !isWanted { return .none }
            lastAlarm += 1
            alarm = .coming(lastAlarm)
            return .setAlarm(lastAlarm)
        case .coming, .set: return isWanted ? .none : dropAlarm()
        }
    }

    private mutating func dropAlarm() -> Order {
        defer { alarm = .none }
        if case .set(_, let ticket) = alarm { return .removeAlarm(ticket) }
        return .none
    }

    /// When it has to ring. Nil: it is not wanted any more.
    mutating func begin(_ number: UInt64, at now: Duration, signs: Signs) -> Duration? {
        guard case .coming(number) = alarm else { return nil }
        look(at: signs, now)
        return next(after: now)
    }

    /// False: it is not wanted any more, or has rung already.
    mutating func wasSet(_ number: UInt64, _ ticket: Sleeper.Ticket) -> Bool {
        guard case .coming(number) = alarm else { return false }
        alarm = .set(number, ticket)
        return true
    }

    /// Who is to be called. The alarm has gone.
    mutating func rang(_ number: UInt64, at now: Duration, signs: Signs) -> [Call] {
        switch alarm {
        case .coming(number), .set(number, _): alarm = .none
        // Another one has taken its place.
        case .none, .coming, .set: return []
        }
        look(at: signs, now)
        if signs.isEmpty { return [] }
        var calls: [Call] = []
        for place in watchers.indices where !watchers[place].isTold && watchers[place].end(since: since) <= now {
            watchers[place].isTold = true
            calls.append(Call(handler: watchers[place].handler, quiet: now - since))
        }
        return calls
    }

    private mutating func look(at signs: Signs, _ now: Duration) {
        if signs == self.signs { return }
        self.signs = signs
        since = now
        for place in watchers.indices { watchers[place].isTold = false }
    }

    /// To see whether anything has changed, or when a limit is over.
    private func next(after now: Duration) -> Duration {
        var next: Duration?
        for watcher in watchers {
            let look = now + max(Self.shortest, watcher.limit / 4)
            let end = watcher.isTold ? look : min(look, max(now, watcher.end(since: since)))
            next = min(next ?? end, end)
        }
        return next ?? now
    }
}
