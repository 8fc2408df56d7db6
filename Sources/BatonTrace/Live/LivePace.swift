internal import Baton

/// A clock whose type is erased, and the interval between redraws.
struct LivePace: Sendable {
    private let time: TimeSource
    let interval: Duration

    /// The shortest interval, so that drawing does not take all of a thread.
    private static let shortest = Duration.milliseconds(10)

    init(_ clock: some Clock<Duration>, interval: Duration) {
        time = TimeSource(clock)
        // The upper bound keeps ten times the interval, added to any time, within the range of `Duration`.
        self.interval = min(max(interval, Self.shortest), .seconds(1_000_000_000))
    }

    var now: Duration { time.now }

    /// Sleeps. Returns false if the task is cancelled.
    func pause(for time: Duration) async -> Bool {
        if Task.isCancelled { return false }
        try? await self.time.sleep(until: now + time)
        return !Task.isCancelled
    }
}
