import BatonTesting

@testable import Baton

/// A test clock whose readings may be out of date when they are used: time may pass, and anything may happen, after the
/// clock was read and before its reader goes on.
final class LateClock: Clock {
    let base = TestClock()
    private let next = Locked<(@Sendable () -> Void)?>(nil)

    var now: TestClock.Instant {
        let now = base.now
        next.withLock { $0.take() }?()
        return now
    }

    var minimumResolution: Duration { .zero }

    /// Calls `body` once, when the clock has been read next and before the reader gets the time.
    func afterNextReading(_ body: @escaping @Sendable () -> Void) { next.withLock { $0 = body } }

    func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: deadline, tolerance: tolerance)
    }
}
