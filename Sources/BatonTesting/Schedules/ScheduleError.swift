/// The reason why a run of a seeded scheduler failed, apart from an error of the body itself.
@nonexhaustive
public enum ScheduleError: Error, Equatable {
    /// The body had not ended, no job could run, and no task slept on the scheduler's clock. Without a scheduler, the
    /// test would hang.
    ///
    /// `waits` contains the descriptions of `AnyOperation.explain()` for up to ten operations of the queues on the
    /// scheduler. Operations that another one of these waits for are left out. `==` ignores `waits`.
    case stuck(seed: UInt64, waits: [String] = [])

    /// Jobs came from threads outside the scheduler. The seed does not decide when they come, so it may not repeat the
    /// run.
    case notDeterministic(seed: UInt64, foreignJobs: Int)

    /// The run had not ended after as many jobs as the scheduler's limit allows.
    case endless(seed: UInt64, jobs: Int)

    /// The scheduler was used before: a scheduler is one schedule.
    case usedTwice(seed: UInt64)

    /// The environment variable `BATON_SEED` does not contain a seed.
    case malformedSeed(String)

    /// The requested number of schedules is less than 1, so none has run.
    case noSchedules(Int)
}

extension ScheduleError {
    /// Returns true if both errors have the same case, seed and number. What operations wait for is not compared.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.stuck(let seed, _), .stuck(let other, _)): seed == other
        case (.notDeterministic(let seed, let jobs), .notDeterministic(let other, let otherJobs)):
            (seed, jobs) == (other, otherJobs)
        case (.endless(let seed, let jobs), .endless(let other, let otherJobs)): (seed, jobs) == (other, otherJobs)
        case (.usedTwice(let seed), .usedTwice(let other)): seed == other
        case (.malformedSeed(let text), .malformedSeed(let other)): text == other
        case (.noSchedules(let count), .noSchedules(let other)): count == other
        case (.stuck, _), (.notDeterministic, _), (.endless, _), (.usedTwice, _), (.malformedSeed, _),
            (.noSchedules, _):
            false
        }
    }
}

extension ScheduleError: CustomStringConvertible {
    /// A message that says what happened and what to do. That of a stuck schedule ends with what its operations wait
    /// for.
    public var description: String {
        let seed = seed.map { " under seed \($0)" } ?? ""
        return "\(kind)\(seed): \(advice)\(listOfWaits)"
    }

    /// The seed of the run, or nil if the error does not concern a run.
    private var seed: UInt64? {
        switch self {
        case .stuck(let seed, _), .notDeterministic(let seed, _), .endless(let seed, _), .usedTwice(let seed): seed
        case .malformedSeed, .noSchedules: nil
        }
    }

    /// The error in a word or two.
    var kind: String {
        switch self {
        case .stuck: "stuck"
        case .notDeterministic: "not deterministic"
        case .endless: "endless"
        case .usedTwice: "used twice"
        case .malformedSeed: "malformed seed"
        case .noSchedules: "no schedules"
        }
    }

    /// The meaning of the error, and what to do.
    var advice: String {
        switch self {
        case .stuck:
            """
            the body has not ended, but no job can run and nobody sleeps on the scheduler's clock. Either tasks wait \
            for one another, or one waits for something outside the scheduler: a queue that was made without \
            `executor: scheduler`, a real clock, the main actor, a Task without this executor, another thread, or an \
            exclusion that an operation of another test holds, because exclusions are those of the whole process.
            """
        case .notDeterministic(_, let foreignJobs):
            """
            \(foreignJobs) \(foreignJobs == 1 ? "job" : "jobs") came from outside the scheduler. Look for a queue that \
            was made without `executor: scheduler`, a real clock, the main actor, a plain Task (write \
            Task(executorPreference:)), a continuation resumed by another thread, and for an exclusion whose name a \
            test that runs in parallel uses, too: exclusions are those of the whole process.
            """
        case .endless(_, let jobs):
            "\(jobs) \(jobs == 1 ? "job has" : "jobs have") run and there is no end. Look for a loop that polls."
        case .usedTwice: "the scheduler has had its run. Make a new one for another run."
        case .malformedSeed(let text):
            "BATON_SEED is \"\(text)\", which is not a seed: write a number from 0 to \(UInt64.max)."
        case .noSchedules(let count): "\(count) schedules test nothing. Ask for 1 or more."
        }
    }

    /// The explanations of a stuck schedule, each on a line of its own.
    var listOfWaits: String {
        switch self {
        case .stuck(_, let waits): waits.map { "\n- \($0)" }.joined()
        case .notDeterministic, .endless, .usedTwice, .malformedSeed, .noSchedules: ""
        }
    }
}
