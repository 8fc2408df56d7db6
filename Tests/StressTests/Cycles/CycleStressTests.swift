import Baton
import BatonTesting
import Testing

@Suite struct CycleStressTests {
    @Test(.timeLimit(.minutes(60))) func overlappingCyclesUnderEverySchedule() async throws {
        try await Seeds.forEach(1_000, from: 9) { seed in
            let scheduler = SeededScheduler(seed: seed)
            let round = CycleRound(seed: seed, executor: scheduler) { random in
                CyclicGraph(count: random.number(2...30), &random)
            }
            try await scheduler.run { _ in await round.play() }
            try round.judge()
        }
    }

    @Test(.timeLimit(.minutes(60))) func overlappingCyclesUnderThreads() async throws {
        try await Seeds.forEach(300, from: 10) { seed in
            let round = CycleRound(seed: seed, executor: nil) { random in
                CyclicGraph(count: random.pick([5, 20, 400]), &random)
            }
            try await watched(seed: seed, explaining: { round.explanations }) { await round.play() }
            try round.judge()
        }
    }

    /// If the search for cycles took time in proportion to the square of the size, a round would take longer than the
    /// watchdog waits.
    @Test(.timeLimit(.minutes(60))) func manyInARandomOrder() async throws {
        #if BATON_SANITIZED
            let size = 4_000
        #else
            let size = 40_000
        #endif
        try await Seeds.forEach(3, from: 11) { seed in
            let round = CycleRound(seed: seed, executor: nil) { random in
                CyclicGraph(layered: size, cycles: random.pick([0, 0, 1, 3]), &random)
            }
            try await watched(seed: seed, explaining: { [] }) { await round.play() }
            try round.judge()
        }
    }
}
