/// The reason why a run of a seeded scheduler failed, apart from an error of the body itself.
@nonexhaustive
public enum ScheduleError: Error, Equatable {
    /// The body had not ended, no job could run, and no task slept on the scheduler's clock. Without a scheduler, the
    /// test would hang.
    ///
    /// `waits` contains the descriptions of `AnyOperation.explain()` for up to ten operations of the queues on the
    /// scheduler, and a last entry if there are more. An operation is left out if another explanation in the list
    /// covers it. `==` ignores `waits`.
    case stuck(seed: UInt64, waits: [String] = [])

    /// Jobs came from threads outside the scheduler. The seed does not decide when they come, so the same seed may give
    /// a different run.
    case notDeterministic(seed: UInt64, foreignJobs: Int)

    /// The run had not ended after as many jobs as the scheduler's limit allows.
    ///
    /// `waits` says what operations of the queues on the scheduler do or wait for, as for `stuck`. `==` ignores it.
    case endless(seed: UInt64, jobs: Int, waits: [String] = [])

    /// The scheduler was used before: a scheduler can run only one schedule.
    case usedTwice(seed: UInt64)

    /// The environment variable `BATON_SEED` does not contain a seed.
    case malformedSeed(String)

    /// The requested number of schedules is less than 1, so none has run.
    case noSchedules(Int)
}

extension ScheduleError {
    /// Returns true if both errors have the same case and the same values, except for the `waits`.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.stuck(let seed, _), .stuck(let other, _)): seed == other
        case (.notDeterministic(let seed, let jobs), .notDeterministic(let other, let otherJobs)):
            (seed, jobs) == (other, otherJobs)
        case (.endless(let seed, let jobs, _), .endless(let other, let otherJobs, _)):
            (seed, jobs) == (other, otherJobs)
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
    /// A message that says what happened and what to do. The messages of `stuck` and `endless` end with the
    /// explanations of the operations.
    public var description: String {
        let seed = seed.map { " under seed \($0)" } ?? ""
        return "\(kind)\(seed): \(advice)\(listOfWaits)"
    }

    /// The seed of the run, or nil if the error does not concern a run.
    private var seed: UInt64? {
        switch self {
        case .stuck(let seed, _), .notDeterministic(let seed, _), .endless(let seed, _, _), .usedTwice(let seed): seed
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
            for one another or for a `Gate` that nobody opens, or one waits for something outside the scheduler: a \
            queue that was made without `executor: scheduler` or without `clock: scheduler.clock`, a real \
            clock, the main actor, a Task without this executor, another thread, or an exclusion that an operation of \
            another test holds, because exclusions are process-wide.
            """
        case .notDeterministic(_, let foreignJobs):
            """
            \(foreignJobs) \(foreignJobs == 1 ? "job" : "jobs") came from outside the scheduler. Look for a queue that \
            was made without `executor: scheduler` or without a clock (pass `clock: scheduler.clock`), a real clock, \
            the main actor, a plain Task (write Task(executorPreference:)), a continuation resumed by another thread, \
            and an exclusion that a parallel test also uses: exclusions are process-wide.
            """
        case .endless(_, let jobs, _):
            """
            \(jobs) \(jobs == 1 ? "job has" : "jobs have") run, and the run has not ended. Look for a loop that \
            polls, and for an operation that repeats without a `count`: virtual time does not end either. Pass a \
            greater `jobLimit` to a run that only takes long.
            """
        case .usedTwice: "the scheduler has already run a schedule. Make a new one for another run."
        case .malformedSeed(let text):
            "BATON_SEED is \"\(text)\", which is not a seed: write a number from 0 to \(UInt64.max)."
        case .noSchedules(let count): "\(count) schedules test nothing. Ask for 1 or more."
        }
    }

    /// The explanations of a stuck or endless schedule, each on a line of its own.
    var listOfWaits: String {
        switch self {
        case .stuck(_, let waits), .endless(_, _, let waits): waits.map { "\n- \($0)" }.joined()
        case .notDeterministic, .usedTwice, .malformedSeed, .noSchedules: ""
        }
    }
}
