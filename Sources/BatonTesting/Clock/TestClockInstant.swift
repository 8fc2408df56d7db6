internal import Baton

extension TestClock {
    /// A moment of a test clock: how far it is from the clock's start.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// The time between the clock's start and this moment.
        public let sinceStart: Duration

        /// A moment this far from the clock's start.
        public init(sinceStart: Duration) {
            self.sinceStart = sinceStart
        }

        /// The moment at which every test clock starts.
        public static let start = Instant(sinceStart: .zero)

        /// The moment that comes `duration` later. None is more than 2⁶³ seconds from the clock's start.
        public func advanced(by duration: Duration) -> Instant {
            Instant(sinceStart: (sinceStart.bounded + duration.bounded).bounded)
        }

        /// The time from this moment to `other`, negative if `other` is earlier.
        public func duration(to other: Instant) -> Duration {
            other.sinceStart.bounded - sinceStart.bounded
        }

        /// Whether `left` is the earlier moment.
        public static func < (left: Instant, right: Instant) -> Bool {
            left.sinceStart < right.sinceStart
        }

        /// The time since the clock's start, for example `1.5 seconds`.
        public var description: String { sinceStart.description }
    }
}
