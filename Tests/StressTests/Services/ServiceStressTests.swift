import Baton
import BatonTesting
import Testing

/// Calls services that fail from time to time, through circuit breakers and rates, in virtual time. ``BreakerModel``
/// and ``RateNote`` say what may not happen.
@Suite struct ServiceStressTests {
    @Test(
        "Circuit breakers and rates keep their promises under every schedule", .timeLimit(.minutes(60)),
        arguments: [1...6: 2_000, 10...60: 1_000])
    func breakersAndRates(callCounts: ClosedRange<Int>, schedules: Int) async throws {
        try await Seeds.forEach(schedules, from: callCounts.upperBound) { seed in
            let scheduler = SeededScheduler(seed: seed)
            let plan = ServicePlan(seed: seed / 2, callCounts: callCounts)
            let round = ServiceRound(plan, seed: seed, scheduler: scheduler)
            try await scheduler.run { _ in
                try await watched(seed: seed, scheduler: scheduler) {
                    round.explanations
                } _: {
                    await round.play()
                }
            }
            try round.throwFaults()
        }
    }
}
