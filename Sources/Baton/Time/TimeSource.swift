internal import CBaton

/// The clock of an operation's queue, which a body gets from ``OperationContext/clock``.
///
/// The clock reads and sleeps like the clock that the queue was made with. On a queue with a `TestClock`, it stands
/// still until the test advances the `TestClock`. It can be passed to any function that takes a clock.
///
/// ```swift
/// let time = try await context.clock.measure { try await index.rebuild() }
/// ```
public struct OperationClock: Clock {
    package let time: TimeSource

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
        try Task.checkCancellation()
        if deadline.time > time.now { try await time.sleep(until: deadline.time.bounded) }
    }
}

// MARK: - Time of a queue

/// A type-erased clock, because `any Clock<Duration>` cannot subtract its instants. Times count from the creation of
/// the object.
package final class TimeSource: Sendable {
    private let read: @Sendable () -> Duration
    /// The start of a continuous clock in nanoseconds, or `nil` for other clocks. Reading the system's clock directly
    /// takes half of the time that `ContinuousClock.now` takes.
    private let continuousStart: Int64?
    private let wait: @Sendable (Duration) async throws -> Void
    private let longestWait: Duration
    /// The smallest step of the clock.
    let resolution: Duration

    /// The system's continuous clock, for code that has no queue.
    static let continuous = TimeSource(ContinuousClock())
    /// The identity of the clock, or `nil` if equality with other clocks cannot be determined. See ``clockIdentity``.
    private let sharedIdentity: ObjectIdentifier?
    /// True if the clock is one of the two that exist once in every process.
    let isSystemClock: Bool

    package init(_ clock: some Clock<Duration>) {
        resolution = clock.minimumResolution
        continuousStart = clock is ContinuousClock ? baton_continuous_time() : nil
        let start = clock.now
        isSystemClock = clock is ContinuousClock || clock is SuspendingClock
        if isSystemClock {
            sharedIdentity = ObjectIdentifier(type(of: clock))
        } else {
            sharedIdentity = type(of: clock) is AnyClass ? ObjectIdentifier(clock as AnyObject) : nil
        }
        // Some clocks compute a wrong deadline when they are asked to sleep for centuries.
        longestWait = clock is ContinuousClock || clock is any VirtualClock ? .endless : .seconds(24 * 60 * 60)
        read = { start.duration(to: clock.now) }
        if let continuousStart {
            wait = { time in
                try await TimerThread.shared.sleep(until: continuousStart.addingUpToMaximum(time.wholeNanoseconds))
            }
        } else {
            wait = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
        }
    }

    /// The time since this object was made. Reads the user's clock, so the caller must not hold a lock.
    @inline(__always)
    package var now: Duration {
        assert(HeldLocks.isEmpty, "The user's clock is read without the lock of an operation.")
        return continuousStart.map { .nanoseconds(baton_continuous_time() - $0) } ?? read()
    }

    /// Identifies the clock: sources with the same identity read the same clock, though they count from different
    /// times. May be compared only while one of the sources exists.
    var clockIdentity: ObjectIdentifier { sharedIdentity ?? ObjectIdentifier(self) }

    /// True if the clock is a `ContinuousClock`.
    package var isContinuous: Bool { continuousStart != nil }

    /// Returns at `time`, or throws when the calling task is cancelled.
    ///
    /// A user's clock may be unable to sleep: its `sleep` throws although nobody has cancelled the task, or returns too
    /// early again and again. In that case this method reads the clock at intervals of the system's clock, which grow
    /// from a millisecond to a second.
    package func sleep(until time: Duration) async throws {
        var poll = Poll()
        while true {
            let end = nextWake(until: time)
            let hasThrown: Bool
            do {
                try await wait(end)
                hasThrown = false
            } catch {
                try Task.checkCancellation()
                hasThrown = true
            }
            let now = now
            if now >= time { return }
            if now >= end {
                poll = Poll()
            } else if let interval = poll.next(hasThrown: hasThrown, left: end - now) {
                try await ContinuousClock().sleep(until: .now.advanced(by: interval), tolerance: nil)
            }
        }
    }

    /// Returns after at least this time, at once if it is zero or less, or throws when the calling task is cancelled.
    func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        if duration > .zero { try await sleep(until: now + duration.bounded) }
    }

    /// The intervals at which a clock that cannot sleep is read.
    private struct Poll {
        private static let shortest = Duration.milliseconds(1)
        private static let longest = Duration.seconds(1)

        private var interval: Duration?

        /// Returns `nil` if the clock should sleep again at once, because somebody may have set it back.
        mutating func next(hasThrown: Bool, left: Duration) -> Duration? {
            let former = interval ?? (hasThrown ? Self.shortest : nil)
            interval = min(Self.longest, (former ?? Self.shortest / 2) * 2)
            return former.map { max(Self.shortest, min($0, left)) }
        }
    }

    /// Returns when a sleep that begins now has to wake: a long sleep is divided into several.
    func nextWake(until time: Duration) -> Duration { min(time, now + longestWait) }
}

/// A clock that stands still until somebody advances it. ``TimeSource`` does not split sleeps on it, because each
/// intermediate wake-up would be a superfluous job in the schedule.
package protocol VirtualClock: Clock {}

extension Int64 {
    /// Adds two integers that are not negative, and returns `Int64.max` on overflow.
    fileprivate func addingUpToMaximum(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}

// MARK: - Durations

extension Duration {
    /// The longest duration that Baton uses, 292 billion years. It can be added to any bounded time without overflow.
    package static var endless: Duration { .seconds(Int64.max) }

    /// The duration, clamped to ±``endless``.
    package var bounded: Duration { min(max(self, .zero - .endless), .endless) }

    /// True if the duration is neither negative nor longer than ``endless``.
    var isOrdinary: Bool { 0 <= attoseconds && attoseconds <= Int128(Int64.max) * 1_000_000_000_000_000_000 }

    /// The duration in nanoseconds, rounded up, and clamped to the 292 years that an `Int64` can represent.
    var wholeNanoseconds: Int64 {
        let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return Int64(clamping: whole + (rest > 0 ? 1 : 0))
    }
}
