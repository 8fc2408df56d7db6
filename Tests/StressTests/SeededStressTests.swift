import Baton
import BatonTesting
import Testing

/// Random graphs under seeded schedules. Four consecutive seeds run the same graph, added and scheduled in four ways,
/// to show that its outcomes do not depend on that (G7).
@Suite struct SeededStressTests {
    @Test(.timeLimit(.minutes(60)), arguments: [1...9: 6_000, 5...40: 3_600, 50...150: 400])
    func everyPromiseHoldsUnderEverySchedule(nodeCounts: ClosedRange<Int>, schedules: Int) async throws {
        try await Seeds.forEach(schedules, from: nodeCounts.upperBound) { seed in
            _ = try await Self.play(nodeCounts, seed: seed)
        }
    }

    /// The seed determines everything that happens.
    @Test(.timeLimit(.minutes(60)))
    func theSameSeedGivesTheSameOrderOfEvents() async throws {
        try await Seeds.forEach(100, from: 3) { seed in
            let first = try await Self.play(10...40, seed: seed)
            let second = try await Self.play(10...40, seed: seed)
            let place = zip(first, second).enumerated().first { $0.element.0 != $0.element.1 }
            if let place {
                let fault = "event \(place.offset) is \(place.element.0), then \(place.element.1)"
                throw StressFailure(seed: seed, faults: [fault])
            }
            #expect(first.count == second.count)
        }
    }

    /// Runs a round and returns its events in order.
    static func play(_ nodeCounts: ClosedRange<Int>, seed: UInt64) async throws -> [TraceEvent] {
        // The checks of the order in which operations begin need the order in which the queue starts them.
        let scheduler = SeededScheduler(seed: seed, reordersBodies: false)
        let graph = Graph(seed: seed / 4, nodeCounts: nodeCounts)
        let plan = Plan(for: graph, seed: seed, isThreaded: false)
        let round = Round(graph, plan, scheduler: scheduler)
        do {
            try await scheduler.run { _ in try await round.playWatched(seed: seed) }
        } catch ScheduleError.notDeterministic where !plan.hasProbe {
            // Handlers of operations that were never added run outside the scheduler, and may cancel operations of the
            // round.
        }
        try await round.judge(seed: seed)
        if !plan.hasProbe { return [] }
        return round.site.recorder.trace.withLock { $0 }
    }
}
