import Baton
import BatonTesting
import Testing

/// Adds and cancels operations that share unique keys in random order. Two operations with one key must never run at
/// once, and each must end as its policy says.
@Suite struct UniqueStressTests {
    @Test(.timeLimit(.minutes(60)), arguments: [2...8: 2_000, 10...40: 1_000])
    func identitiesUnderEverySchedule(nodeCounts: ClosedRange<Int>, schedules: Int) async throws {
        try await Seeds.forEach(schedules, from: nodeCounts.upperBound) { seed in
            let scheduler = SeededScheduler(seed: seed)
            let round = UniqueRound(UniquePlan(seed: seed, nodeCounts: nodeCounts), scheduler: scheduler)
            try await scheduler.run { _ in try await Self.play(round, seed) }
            try await round.judge(seed: seed)
        }
    }

    @Test(.timeLimit(.minutes(60)), arguments: [2...8, 10...40])
    func identitiesUnderThreads(nodeCounts: ClosedRange<Int>) async throws {
        try await Seeds.forEach(250, from: nodeCounts.upperBound) { seed in
            let round = UniqueRound(UniquePlan(seed: seed, nodeCounts: nodeCounts), pool: .shared)
            try await Self.play(round, seed)
            try await round.judge(seed: seed)
        }
    }

    private static func play(_ round: UniqueRound, _ seed: UInt64) async throws {
        try await watched(seed: seed, scheduler: round.scheduler) {
            [round.explanation] + round.recorder.faults
        } _: {
            await round.play()
        }
    }
}
