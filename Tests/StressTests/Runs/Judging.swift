import Baton

extension Round {
    /// Waits until everything has been released, compares the round with the model, and throws if anything was wrong.
    func judge(seed: UInt64) async throws {
        let ledger = site.ledger
        // Handlers of operations that were never added, or whose queue was released, run outside the scheduler.
        let deadline = ContinuousClock.now + .seconds(900)
        while !isOver, ContinuousClock.now < deadline { try await Task.sleep(for: .microseconds(200)) }
        ledger.check(isOver, "G31: something is left: \(remains)")
        Verdict(model: Model(graph: graph), ledger: ledger, ends: ends.withLock { $0 }, ending: plan.ending)
            .pronounce()
        var checker = TraceChecker(graph)
        if ledger.hasProbe { checker.follow(ledger.trace.withLock { $0 }) }
        let faults = ledger.violations + checker.faults
        if !faults.isEmpty { throw StressFailure(seed: seed, faults: faults) }
    }
}
