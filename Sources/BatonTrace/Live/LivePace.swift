internal import Baton

/// A clock without its type, and how often to draw.
struct LivePace: Sendable {
    private let time: TimeSource
    let interval: Duration

    /// However short the interval is meant to be, the terminal gets some rest.
    private static let shortest = Duration.milliseconds(10)

    init(_ clock: some Clock<Duration>, interval: Duration) {
        time = TimeSource(clock)
        // Ten times as long, it can still be added to any time.
        self.interval = min(max(interval, Self.shortest), .seconds(1_000_000_000))
    }

    var now: Duration { time.now }

    /// False: the task is cancelled.
    func pause(for time: Duration) async -> Bool {
        if Task.isCancelled { return false }
        try? await self.time.sleep(until: now + time)
        return !Task.isCancelled
    }
}
