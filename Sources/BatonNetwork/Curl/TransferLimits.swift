#if os(Linux)
    /// The time limits of one transfer: the longest time without a byte, and the lowest speed. It is pure: it has no
    /// clock, and ``CurlExchange`` tells it what the network has done.
    ///
    /// All times are those of the clock that measures the limits.
    struct TransferLimits {
        enum Verdict: Hashable {
            /// No limit is exceeded before this time. The limits have to be checked again then.
            case again(ContinuousClock.Instant)
            /// No byte has arrived or been sent for too long.
            case idle
            /// Too few bytes have been moved.
            case tooSlow(CurlTransport.Configuration.LowestSpeed)
        }

        /// The longest time during which no byte may arrive or be sent.
        let idle: Duration
        private let lowestSpeed: CurlTransport.Configuration.LowestSpeed?
        /// The last time at which a byte arrived or was sent. Nil while the transfer waits for a connection because
        /// their number is limited.
        private(set) var lastActivity: ContinuousClock.Instant?
        /// The measurement of the speed, if there is a lowest one. Nil before the request begins.
        private var meter: SpeedMeter?
        /// The number of sent bytes that the peer had acknowledged at the last look.
        private var acknowledgedCount: Int64?
        /// The number of sent bytes that the peer had acknowledged when the request began.
        private var acknowledgedCountAtBegin: Int64?
        /// The number of bytes that the system had received for the transfer at the last look. Nil if the clock is the
        /// system's.
        private var systemCount: Int64?

        /// - Parameter now: The time at which the idle limit begins, or nil if it begins with ``begin(at:)``.
        init(
            idle: Duration, _ lowestSpeed: CurlTransport.Configuration.LowestSpeed?,
            at now: ContinuousClock.Instant?
        ) {
            self.idle = idle
            self.lowestSpeed = lowestSpeed
            lastActivity = now
        }

        // MARK: What the network does

        /// Begins the idle limit, unless it has begun.
        mutating func begin(at now: ContinuousClock.Instant) {
            if lastActivity == nil { lastActivity = now }
        }

        /// Begins the idle limit again, unless it has not begun yet.
        mutating func beginAgain(at now: ContinuousClock.Instant) {
            if lastActivity != nil { lastActivity = now }
        }

        /// Notes that bytes have arrived or been sent.
        ///
        /// - Parameter systemCount: The number of bytes that the system has received for the transfer, or nil if it is
        ///   unknown or the clock is the system's.
        mutating func noteActivity(at now: ContinuousClock.Instant, systemCount: Int64?) {
            lastActivity = now
            self.systemCount = systemCount
        }

        /// Notes how many bytes the system has received for the transfer, and returns whether there are more than
        /// before.
        mutating func noteSystemCount(_ count: Int64?) -> Bool {
            defer { systemCount = count }
            // The count of another socket begins with 0.
            return count ?? 0 > systemCount ?? 0
        }

        /// Begins to count the bytes of a request that the peer acknowledges.
        ///
        /// - Parameter count: The number of bytes that it has acknowledged on the connection, or nil if it is unknown.
        mutating func beginRequest(acknowledgedCount count: Int64?) {
            acknowledgedCount = count
            acknowledgedCountAtBegin = count
        }

        /// The number of bytes of the request, head included, that the peer has acknowledged, or nil if it is unknown.
        var acknowledgedSinceBegin: Int64? {
            guard let acknowledgedCount, let acknowledgedCountAtBegin else { return nil }
            return acknowledgedCount - acknowledgedCountAtBegin
        }

        /// Notes how many bytes the peer has acknowledged on the connection, and returns whether that has changed.
        mutating func noteAcknowledged(_ count: Int64) -> Bool {
            defer { acknowledgedCount = count }
            return count != acknowledgedCount
        }

        // MARK: Speed

        /// Begins to measure the speed, if there is a lowest one.
        ///
        /// - Parameter count: The number of bytes of the bodies that have been moved by now.
        mutating func beginSpeedMeasurement(at now: ContinuousClock.Instant, count: Int64) {
            meter = lowestSpeed.map { SpeedMeter($0, at: now, count: count) }
        }

        /// Ends the measurement, because the request has to begin again.
        mutating func endSpeedMeasurement() { meter = nil }

        /// Notes that bytes of the bodies have been moved.
        ///
        /// - Parameter count: The number of bytes that have been moved in all.
        mutating func noteMoved(_ count: Int64, at now: ContinuousClock.Instant) { meter?.note(count, at: now) }

        // MARK: Checks

        /// The longest time until the next check that no event of the network requires.
        var longestInterval: Duration { lowestSpeed.map { min(idle, $0.wholeTime) } ?? idle }

        /// Checks the limits.
        ///
        /// - Parameters:
        ///   - interval: The longest time until the next check.
        ///   - isWaiting: Whether the transfer waits for the network. While its reader or the source of its body is
        ///     slow, the idle limit does not count.
        ///   - isReading: Whether the reader takes what arrives. While it is slow, the lowest speed does not count.
        ///   - silence: The time since the system last received bytes for the transfer, or nil if it is unknown. It is
        ///     asked for only if the idle limit has ended otherwise.
        mutating func check(
            at now: ContinuousClock.Instant, upTo interval: Duration, isWaiting: Bool, isReading: Bool,
            silence: () -> Duration?
        ) -> Verdict {
            var next = now + interval
            if isWaiting, let lastActivity {
                guard let end = idleEnd(at: now, lastActivity, silence) else { return .idle }
                next = min(next, end)
            }
            if isReading, meter != nil, let lowestSpeed {
                guard let end = meter?.end(at: now) else { return .tooSlow(lowestSpeed) }
                next = min(next, end)
            }
            return .again(next)
        }

        /// Returns the time at which the idle limit ends if nothing happens until then, or nil if it has ended.
        private func idleEnd(
            at now: ContinuousClock.Instant, _ lastActivity: ContinuousClock.Instant, _ silence: () -> Duration?
        ) -> ContinuousClock.Instant? {
            if lastActivity + idle > now { return lastActivity + idle }
            guard let silence = silence(), silence < idle else { return nil }
            return now + max(idle - silence, .milliseconds(1))
        }
    }
#endif
