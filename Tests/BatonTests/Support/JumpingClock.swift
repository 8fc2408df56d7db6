import BatonTesting

@testable import Baton

/// A test clock whose time can be set. Baton does not treat it as a test clock.
final class JumpingClock: Clock {
    let base = TestClock()
    private let offset = Locked(Duration.zero)

    var now: TestClock.Instant { base.now.advanced(by: offset.withLock { $0 }) }
    var minimumResolution: Duration { .zero }

    func jump(by duration: Duration) { offset.withLock { $0 += duration } }

    func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: deadline.advanced(by: .zero - offset.withLock { $0 }), tolerance: tolerance)
    }
}
