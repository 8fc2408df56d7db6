/// The clock of an operation's queue, as ``OperationContext/clock`` gives it to a body.
///
/// It reads and sleeps as the clock does that the queue was made with, so in a test with a `TestClock` it stands still
/// until the test moves it. It may be passed to everything that takes a clock.
///
/// ```swift
/// let time = try await context.clock.measure { try await index.rebuild() }
/// ```
public struct OperationClock: Clock {
    private let time: TimeSource

    init(_ time: TimeSource) { self.time = time }

    /// A moment on the clock of one queue. Moments of two queues have nothing to do with each other.
    public struct Instant: InstantProtocol {
        /// Since the queue was made.
        fileprivate let time: Duration

        /// The moment that comes `duration` later. None is more than 2⁶³ seconds from the start of the clock.
        public func advanced(by duration: Duration) -> Instant {
            Instant(time: (time.bounded + duration.bounded).bounded)
        }

        /// The time from this moment to `other`, negative if `other` is earlier.
        public func duration(to other: Instant) -> Duration { other.time.bounded - time.bounded }

        /// Whether `left` is the earlier moment.
        public static func < (left: Instant, right: Instant) -> Bool { left.time < right.time }
    }

    /// The moment that the queue's clock shows.
    public var now: Instant { Instant(time: time.now) }

    /// The smallest step of the queue's clock.
    public var minimumResolution: Duration { time.resolution }

    /// Suspends until `deadline`, at once if that has passed. The tolerance is not used.
    ///
    /// - Throws: `CancellationError` as soon as the calling task is cancelled, also if it was before.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await time.sleep(for: now.duration(to: deadline))
    }
}
