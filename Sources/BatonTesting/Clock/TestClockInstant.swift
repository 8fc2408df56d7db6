internal import Baton

extension TestClock {
    /// A moment of a test clock, measured from the clock's start.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// The time between the clock's start and this moment.
        public let sinceStart: Duration

        /// Makes a moment.
        ///
        /// - Parameter sinceStart: The time between the clock's start and the moment.
        public init(sinceStart: Duration) {
            self.sinceStart = sinceStart
        }

        /// The moment at which every test clock starts.
        public static let start = Instant(sinceStart: .zero)

        /// Returns the moment that comes `duration` later, limited to 2⁶³ seconds from the clock's start.
        ///
        /// - Parameter duration: The time to add. It may be negative.
        public func advanced(by duration: Duration) -> Instant {
            Instant(sinceStart: (sinceStart.bounded + duration.bounded).bounded)
        }

        /// Returns the time from this moment to `other`, negative if `other` is earlier.
        ///
        /// - Parameter other: Another moment of the same clock.
        public func duration(to other: Instant) -> Duration {
            other.sinceStart.bounded - sinceStart.bounded
        }

        /// Returns true if `left` is earlier than `right`.
        public static func < (left: Instant, right: Instant) -> Bool {
            left.sinceStart < right.sinceStart
        }

        /// The time since the clock's start, for example `1.5 seconds`.
        public var description: String { sinceStart.description }
    }
}
