#if os(Linux)
    internal import Baton

    /// The clock that measures the limits of one transfer, on the time axis of the system's continuous clock.
    struct TransferClock {
        private let start = ContinuousClock.now
        /// Nil if the clock is the system's continuous clock.
        private let other: TimeSource?
        private let otherStart: Duration

        init(_ other: TimeSource?) {
            self.other = other
            otherStart = other?.now ?? .zero
        }

        var isContinuous: Bool { other == nil }

        /// The present time. The clock may be the user's code, so no lock may be held.
        var now: ContinuousClock.Instant {
            guard let other else { return ContinuousClock.now }
            // The system's clock traps on overflow.
            let elapsed = min(max(other.now.bounded - otherStart.bounded, .zero - .longest), .longest)
            return start.advanced(by: elapsed)
        }

        /// Returns at a time, or when the task is cancelled.
        ///
        /// - Returns: Whether that time has come.
        func sleep(until time: ContinuousClock.Instant) async -> Bool {
            do {
                guard let other else {
                    try await ContinuousClock().sleep(until: time, tolerance: nil)
                    return true
                }
                try await other.sleep(until: (otherStart.bounded + start.duration(to: time)).bounded)
                return true
            } catch {
                return false
            }
        }
    }
#endif
