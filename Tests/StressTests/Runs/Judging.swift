import Baton

extension Round {
    /// Waits until everything has been released, compares the round with the model, and throws if anything was wrong.
    func judge(seed: UInt64) async throws {
        let recorder = site.recorder
        // Handlers of operations that were never added, or whose queue was released, run outside the scheduler.
        let deadline = ContinuousClock.now + .seconds(900)
        while !isOver, ContinuousClock.now < deadline { try await Task.sleep(for: .microseconds(200)) }
        recorder.check(isOver, "G31: something is left: \(remains)")
        Verdict(model: Model(graph: graph), recorder: recorder, ends: ends.withLock { $0 }, ending: plan.ending)
            .pronounce()
        var checker = TraceChecker(graph)
        if recorder.hasProbe { checker.follow(recorder.trace.withLock { $0 }) }
        let faults = recorder.violations + checker.faults
        if !faults.isEmpty { throw StressFailure(seed: seed, faults: faults) }
    }
}
