internal import CBaton

/// A clock, without its type: `any Clock<Duration>` cannot subtract its instants. Times count from when this was made.
package final class TimeSource: Sendable {
    private let read: @Sendable () -> Duration
    /// Of the system's own clock, in nanoseconds: read by itself it costs half of what `ContinuousClock.now` does. Nil:
    /// it is another one.
    private let continuousStart: Int64?
    private let wait: @Sendable (Duration) async throws -> Void
    private let longestWait: Duration
    /// The smallest step of the clock.
    let resolution: Duration

    /// The system's clock, for whoever has no queue.
    static let continuous = TimeSource(ContinuousClock())
    /// See ``clockIdentity``. Nil: nobody can tell whether another clock is the same.
    private let sharedIdentity: ObjectIdentifier?
    /// The clock is one of those that every process has.
    let isSystemClock: Bool

    package init(_ clock: some Clock<Duration>) {
        resolution = clock.minimumResolution
        // Before the other start, so that what slept until a time finds that it has come.
        continuousStart = clock is ContinuousClock ? baton_continuous_time() : nil
        let start = clock.now
        isSystemClock = clock is ContinuousClock || clock is SuspendingClock
        if isSystemClock {
            sharedIdentity = ObjectIdentifier(type(of: clock))
        } else {
            sharedIdentity = type(of: clock) is AnyClass ? ObjectIdentifier(clock as AnyObject) : nil
        }
        // Some clocks are known to miscount when they are told to sleep for centuries.
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

    /// The clock is the user's: to be asked outside every lock.
    @inline(__always)
    package var now: Duration { continuousStart.map { .nanoseconds(baton_continuous_time() - $0) } ?? read() }

    /// Two sources with the same identity read the same clock, though they count from different times. To be compared
    /// while one of them exists.
    var clockIdentity: ObjectIdentifier { sharedIdentity ?? ObjectIdentifier(self) }

    /// The clock is the system's own.
    var isContinuous: Bool { continuousStart != nil }

    /// Returns at that time, or throws when the calling task is cancelled.
    ///
    /// A clock of the user's may be unable to sleep: its `sleep` throws although nobody has cancelled the task, or
    /// returns too early again and again. It is then asked for its time at intervals of the system's clock, which grow
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

    /// The intervals at which a clock that cannot sleep is asked for its time.
    private struct Poll {
        private static let shortest = Duration.milliseconds(1)
        private static let longest = Duration.seconds(1)

        private var interval: Duration?

        /// Nil: the clock is asked to sleep again at once, because somebody may have set it back.
        mutating func next(hasThrown: Bool, left: Duration) -> Duration? {
            let former = interval ?? (hasThrown ? Self.shortest : nil)
            interval = min(Self.longest, (former ?? Self.shortest / 2) * 2)
            return former.map { max(Self.shortest, min($0, left)) }
        }
    }

    /// Asked when a sleep begins: a long one is taken in pieces.
    func nextWake(until time: Duration) -> Duration { min(time, now + longestWait) }
}

extension Int64 {
    /// Both are 0 or more.
    fileprivate func addingUpToMaximum(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
