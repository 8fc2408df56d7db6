import Baton
import BatonTesting
import Testing

/// Runs operations most of which need no work after their end, so that workers do nothing but take operations from the
/// queue. Random graphs rarely test this, because most of their operations have dependents or handlers.
@Suite struct PlainStressTests {
    @Test(.timeLimit(.minutes(60))) func everyPromiseHoldsUnderEverySchedule() async throws {
        try await Seeds.forEach(2_000, from: 7) { seed in
            // The checks of the order in which operations begin need the order in which the queue starts them.
            let scheduler = SeededScheduler(seed: seed, reordersBodies: false)
            let round = PlainRound(seed: seed, scheduler: scheduler)
            try await scheduler.run { _ in await round.play() }
            try round.judge()
        }
    }

    @Test(.timeLimit(.minutes(60))) func everyPromiseHoldsUnderThreads() async throws {
        try await Seeds.forEach(300, from: 8) { seed in
            let round = PlainRound(seed: seed, scheduler: nil)
            try await watched(seed: seed, explaining: { round.explanations }) { await round.play() }
            try round.judge()
        }
    }
}
