/// The clock of an operation's queue, which a body gets from ``OperationContext/clock``.
///
/// The clock reads and sleeps like the clock that the queue was made with. In a test with a `TestClock`, it stands
/// still until the test advances that. It may be passed to every function that takes a clock.
///
/// ```swift
/// let time = try await context.clock.measure { try await index.rebuild() }
/// ```
public struct OperationClock: Clock {
    private let time: TimeSource

    init(_ time: TimeSource) { self.time = time }

    /// An instant on the clock of one queue. Instants of different queues cannot be compared in a meaningful way.
    public struct Instant: InstantProtocol {
        /// The time since the queue was made.
        fileprivate let time: Duration

        /// Returns the instant that is `duration` later, clamped to 2⁶³ seconds from the start of the clock.
        ///
        /// - Parameter duration: The time to add, which may be negative.
        /// - Returns: The later instant.
        public func advanced(by duration: Duration) -> Instant {
            Instant(time: (time.bounded + duration.bounded).bounded)
        }

        /// Returns the time from this instant to another one.
        ///
        /// - Parameter other: Another instant of the same clock.
        /// - Returns: The time between the instants, negative if `other` is earlier.
        public func duration(to other: Instant) -> Duration { other.time.bounded - time.bounded }

        /// Returns true if `left` is earlier than `right`.
        public static func < (left: Instant, right: Instant) -> Bool { left.time < right.time }
    }

    /// The current instant of the queue's clock.
    public var now: Instant { Instant(time: time.now) }

    /// The smallest step of the queue's clock.
    public var minimumResolution: Duration { time.resolution }

    /// Suspends until `deadline`; returns at once if it has passed.
    ///
    /// - Parameters:
    ///   - deadline: The instant at which the call returns.
    ///   - tolerance: Not used.
    /// - Throws: `CancellationError` as soon as the calling task is cancelled, or if it was cancelled before the call.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await time.sleep(for: now.duration(to: deadline))
    }
}
