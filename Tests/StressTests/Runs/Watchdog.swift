import Baton
import BatonTesting

/// The faults of a round, and how to repeat it.
struct StressFailure: Error, CustomStringConvertible {
    let seed: UInt64
    let faults: [String]

    var description: String {
        let shown = faults.prefix(20).joined(separator: "\n  ")
        return "seed \(seed), \(faults.count) fault(s):\n  \(shown)\nTo repeat it: BATON_SEED=\(seed) swift test …"
    }
}

/// Runs `work`. If it hangs, throws an error that explains what each unfinished operation waits for.
///
/// Under a seed the limit is virtual: the clock advances only when no job can run.
func watched(
    seed: UInt64, scheduler: SeededScheduler? = nil, explaining: @Sendable () -> [String],
    _ work: @escaping @Sendable () async -> Void
) async throws {
    let ends = EventLog<Bool>()
    let worker = Task.detached(executorPreference: scheduler) {
        await work()
        ends(true)
    }
    let watchdog = Task.detached(executorPreference: scheduler) {
        if let clock = scheduler?.clock {
            try await clock.sleep(for: .seconds(3600))
        } else {
            // The limit is far longer than a round takes, even under a sanitizer.
            try await TimeSource(ContinuousClock()).sleep(until: .seconds(900))
        }
        ends(false)
    }
    // There is no event if the test was cancelled because another part of it failed.
    let isOver = await ends.waitForCount(1).first ?? true
    watchdog.cancel()
    if !isOver { throw StressFailure(seed: seed, faults: ["G25: it hangs."] + explaining()) }
    await worker.value
}

extension Round {
    func playWatched(seed: UInt64) async throws {
        try await watched(seed: seed, scheduler: site.scheduler) {
            [explanation] + site.recorder.violations
        } _: {
            await self.play()
        }
    }
}
