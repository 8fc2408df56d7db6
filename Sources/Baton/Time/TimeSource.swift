/// A clock, without its type: `any Clock<Duration>` cannot subtract its instants. Times count from when this was made.
package final class TimeSource: Sendable {
    private let read: @Sendable () -> Duration
    /// Of the system's own clock, which is then read without a call through a closure. Nil: it is another one.
    private let continuousStart: ContinuousClock.Instant?
    private let wait: @Sendable (Duration) async throws -> Void

    package init(_ clock: some Clock<Duration>) {
        let start = clock.now
        continuousStart = start as? ContinuousClock.Instant
        read = { start.duration(to: clock.now) }
        wait = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }

    /// The clock is the user's: to be asked outside every lock.
    @inline(__always)
    package var now: Duration { continuousStart.map { $0.duration(to: .now) } ?? read() }

    /// The clock is the system's own.
    var isContinuous: Bool { continuousStart != nil }

    /// Returns at that time, or throws when the calling task is cancelled.
    package func sleep(until time: Duration) async throws { try await wait(time) }
}
