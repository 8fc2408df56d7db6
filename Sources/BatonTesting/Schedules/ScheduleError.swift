/// What a seeded scheduler found wrong with a run, apart from an error of the body itself.
public enum ScheduleError: Error, Equatable {
    /// The body had not ended, no job could run, and nobody slept on the scheduler's clock: without a seed, a hang.
    case stuck(seed: UInt64)

    /// Jobs came from threads outside the scheduler: when they come is up to them, so the seed may not repeat the run.
    case notDeterministic(seed: UInt64, foreignJobs: Int)

    /// The run had not ended after as many jobs as the scheduler's limit allows.
    case endless(seed: UInt64, jobs: Int)

    /// The scheduler has had its run: a scheduler is one schedule.
    case usedTwice(seed: UInt64)

    /// The environment variable `BATON_SEED` holds no seed.
    case malformedSeed(String)
}

extension ScheduleError: CustomStringConvertible {
    /// What happened, and what to do.
    public var description: String {
        switch self {
        case .stuck(let seed):
            """
            stuck under seed \(seed): the body has not ended, but no job can run and nobody sleeps on the scheduler's \
            clock. Either tasks wait for one another, or one waits for something outside the scheduler: a real clock, \
            the main actor, a Task without this executor, another thread.
            """
        case .notDeterministic(let seed, let foreignJobs):
            """
            not deterministic under seed \(seed): \(foreignJobs) job(s) came from outside the scheduler. Look for a \
            real clock, the main actor, a plain Task (write Task(executorPreference:)), a continuation resumed by \
            another thread.
            """
        case .endless(let seed, let jobs):
            "endless under seed \(seed): \(jobs) jobs have run and there is no end. Look for a loop that polls."
        case .usedTwice(let seed):
            "the scheduler with seed \(seed) has had its run: make a new one for another run."
        case .malformedSeed(let text):
            "BATON_SEED is \"\(text)\", which is no seed: write a number from 0 to \(UInt64.max)."
        }
    }
}
