/// A clock, without its type: `any Clock<Duration>` cannot subtract its instants. Times count from when this was made.
package struct TimeSource: Sendable {
    private let read: @Sendable () -> Duration
    /// The clock is the system's own.
    let isContinuous: Bool
    private let wait: @Sendable (Duration) async throws -> Void

    package init(_ clock: some Clock<Duration>) {
        let start = clock.now
        isContinuous = clock is ContinuousClock
        read = { start.duration(to: clock.now) }
        wait = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }

    /// The clock is the user's: to be asked outside every lock.
    package var now: Duration { read() }

    /// Returns at that time, or throws when the calling task is cancelled.
    package func sleep(until time: Duration) async throws { try await wait(time) }
}
