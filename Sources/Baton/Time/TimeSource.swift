internal import CBaton

/// A clock without its type, because `any Clock<Duration>` cannot subtract its instants. Times count from when this was
/// made.
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
        // Read before `start`, so that a task that has slept until a time finds that the time has come.
        continuousStart = clock is ContinuousClock ? baton_continuous_time() : nil
        let start = clock.now
        isSystemClock = clock is ContinuousClock || clock is SuspendingClock
        if isSystemClock {
            sharedIdentity = ObjectIdentifier(type(of: clock))
        } else {
            sharedIdentity = type(of: clock) is AnyClass ? ObjectIdentifier(clock as AnyObject) : nil
        }
        // Some clocks miscount when they are told to sleep for centuries.
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

    /// The time since this was made. Reads the user's clock, so the caller holds no lock.
    @inline(__always)
    package var now: Duration { continuousStart.map { .nanoseconds(baton_continuous_time() - $0) } ?? read() }

    /// Identifies the clock: sources with the same identity read the same clock, though they count from different
    /// times. May be compared only while one of the sources exists.
    var clockIdentity: ObjectIdentifier { sharedIdentity ?? ObjectIdentifier(self) }

    /// True if the clock is a `ContinuousClock`.
    var isContinuous: Bool { continuousStart != nil }

    /// Returns at `time`, or throws when the calling task is cancelled.
    ///
    /// A clock of the user's may be unable to sleep: its `sleep` throws although nobody has cancelled the task, or
    /// returns too early again and again. In that case this method reads the clock at intervals of the system's clock,
    /// which grow from a millisecond to a second.
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

/// A clock that stands still until somebody advances it. Its sleeps are not split, because each intermediate wake-up
/// would be a superfluous job in the schedule.
package protocol VirtualClock: Clock {}

extension Int64 {
    /// Adds two integers that are not negative, and returns `Int64.max` on overflow.
    fileprivate func addingUpToMaximum(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
