import Baton
import Testing

/// Random graphs under threads: several tasks add and disturb the operations at once, scheduled by the system.
@Suite struct ThreadStressTests {
    @Test(.timeLimit(.minutes(60)), arguments: [2...12, 20...90])
    func everyPromiseHoldsUnderThreads(nodeCounts: ClosedRange<Int>) async throws {
        try await Seeds.forEach(250, from: nodeCounts.upperBound) { seed in
            try await Self.play(nodeCounts, seed: seed)
        }
    }

    static func play(_ nodeCounts: ClosedRange<Int>, seed: UInt64) async throws {
        let graph = Graph(seed: seed / 4, nodeCounts: nodeCounts)
        let round = Round(graph, Plan(for: graph, seed: seed, isThreaded: true), pool: .shared)
        try await round.playWatched(seed: seed)
        try await round.judge(seed: seed)
    }
}
