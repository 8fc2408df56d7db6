import BatonTesting

@testable import Baton

extension TestClock {
    /// The time since the start of the clock, in seconds.
    var seconds: Double { TestClock.Instant.start.duration(to: now) / .seconds(1) }
}

extension TestQueue {
    /// Returns an operation that logs its name and the time of its start.
    func call(_ name: String, _ rate: Rate? = nil) -> AsyncOperation<Void> {
        let operation = AsyncOperation(name) { [log, clock] in log("\(name) \(clock.seconds)") }
        if let rate { operation.addCondition(rate) }
        return operation
    }

    func calls(_ count: Int, _ rate: Rate) -> [AsyncOperation<Void>] { (1...count).map { call("\($0)", rate) } }

    /// The number of operations that wait for a rate on the clock of this queue.
    var waitingForRates: Int { RateManager.counts(of: queue.core.time.clockIdentity).operations }

    /// Advances the clock from one deadline to the next, up to this time since its start, and runs all jobs after each
    /// step.
    func walk(to end: Duration) {
        let end = TestClock.Instant.start.advanced(by: end)
        while let next = clock.nextDeadline, next <= end {
            clock.advance(to: next)
            steps.runAll()
        }
        clock.advance(to: end)
        steps.runAll()
    }
}
