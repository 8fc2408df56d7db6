/// The schedule under which a body failed, found by ``exploring(schedules:from:_:)``.
public struct ScheduleFailure: Error, CustomStringConvertible {
    /// The seed of the schedule.
    public let seed: UInt64

    /// What the body or the scheduler threw.
    public let underlying: any Error

    /// How many jobs came from outside the scheduler; above zero, the seed may not repeat the failure.
    public let foreignJobCount: Int

    /// A failure under a seed.
    public init(seed: UInt64, underlying: any Error, foreignJobCount: Int = 0) {
        self.seed = seed
        self.underlying = underlying
        self.foreignJobCount = foreignJobCount
    }

    /// What was thrown. Of a requirement of Swift Testing, which has been reported by itself, the description would be
    /// the syntax of the expression in several hundred characters.
    private var cause: String {
        if let error = underlying as? ScheduleError { return "\(error.kind): \(error.advice)" }
        if _typeName(type(of: underlying)) == "Testing.ExpectationFailedError" {
            return "a requirement was not met, which is reported by itself"
        }
        return "\(underlying)"
    }

    /// The seed, what was thrown, how to run this schedule alone, and what the operations of a stuck schedule wait for.
    public var description: String {
        let doubt =
            foreignJobCount == 0
            ? ""
            : "\n\(foreignJobCount) job(s) came from outside the scheduler, so the seed may not repeat this."
        return """
            Failed under seed \(seed): \(cause)
            To run this schedule alone: exploring(seed: \(seed)) { … }, \
            or BATON_SEED=\(seed) swift test --filter <this test>\(doubt)
            """ + ((underlying as? ScheduleError)?.listOfWaits ?? "")
    }
}
