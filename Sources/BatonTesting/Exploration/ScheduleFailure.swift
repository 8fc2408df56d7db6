/// The failure of a closure under a schedule, thrown by ``exploring(schedules:from:jobLimit:_:)``.
public struct ScheduleFailure: Error, CustomStringConvertible {
    /// The seed of the schedule.
    public let seed: UInt64

    /// The error that the closure or the scheduler threw.
    public let underlying: any Error

    /// The number of jobs that came from outside the scheduler. If it is not zero, the seed may not repeat the failure.
    public let foreignJobCount: Int

    /// Makes a failure.
    ///
    /// - Parameters:
    ///   - seed: The seed of the schedule.
    ///   - underlying: The error that was thrown.
    ///   - foreignJobCount: The number of jobs that came from outside the scheduler.
    public init(seed: UInt64, underlying: any Error, foreignJobCount: Int = 0) {
        self.seed = seed
        self.underlying = underlying
        self.foreignJobCount = foreignJobCount
    }

    /// The text for the error that was thrown. A requirement of Swift Testing has been reported already, and its
    /// description is the syntax of the expression in several hundred characters, so a short text replaces it.
    private var cause: String {
        if let error = underlying as? ScheduleError { return "\(error.kind): \(error.advice)" }
        if _typeName(type(of: underlying)) == "Testing.ExpectationFailedError" {
            return "a requirement was not met, which is reported by itself"
        }
        return "\(underlying)"
    }

    /// The seed, the error, how to run this schedule alone, and what the operations of a stuck schedule wait for.
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
