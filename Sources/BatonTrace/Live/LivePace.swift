/// A clock without its type, and how often to draw.
struct LivePace: Sendable {
    private let read: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void
    let interval: Duration

    /// However short the interval is meant to be, the terminal gets some rest.
    private static let shortest = Duration.milliseconds(10)

    init(_ clock: some Clock<Duration>, interval: Duration) {
        let start = clock.now
        read = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: clock.now.advanced(by: $0), tolerance: nil) }
        self.interval = max(interval, Self.shortest)
    }

    var now: Duration { read() }

    /// False: the task is cancelled.
    func pause(for time: Duration) async -> Bool {
        if Task.isCancelled { return false }
        try? await sleep(time)
        return !Task.isCancelled
    }
}
