/// What a seeded scheduler found wrong with a run, apart from an error of the body itself.
@nonexhaustive
public enum ScheduleError: Error, Equatable {
    /// The body had not ended, no job could run, and nobody slept on the scheduler's clock: without a seed, a hang.
    ///
    /// `waits` says for each queue on the scheduler what keeps its operations, as `AnyOperation.explain()` does. It does not
    /// count for `==`.
    case stuck(seed: UInt64, waits: [String] = [])

    /// Jobs came from threads outside the scheduler: when they come is up to them, so the seed may not repeat the run.
    case notDeterministic(seed: UInt64, foreignJobs: Int)

    /// The run had not ended after as many jobs as the scheduler's limit allows.
    case endless(seed: UInt64, jobs: Int)

    /// The scheduler has had its run: a scheduler is one schedule.
    case usedTwice(seed: UInt64)

    /// The environment variable `BATON_SEED` holds no seed.
    case malformedSeed(String)
}

extension ScheduleError {
    /// Two errors are equal when they are of one kind, under one seed, with the same number; whatever waited.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.stuck(let seed, _), .stuck(let other, _)): seed == other
        case (.notDeterministic(let seed, let jobs), .notDeterministic(let other, let otherJobs)):
            (seed, jobs) == (other, otherJobs)
        case (.endless(let seed, let jobs), .endless(let other, let otherJobs)): (seed, jobs) == (other, otherJobs)
        case (.usedTwice(let seed), .usedTwice(let other)): seed == other
        case (.malformedSeed(let text), .malformedSeed(let other)): text == other
        case (.stuck, _), (.notDeterministic, _), (.endless, _), (.usedTwice, _), (.malformedSeed, _): false
        }
    }
}

extension ScheduleError: CustomStringConvertible {
    /// What happened, and what to do.
    public var description: String {
        switch self {
        case .stuck(let seed, let waits):
            """
            stuck under seed \(seed): the body has not ended, but no job can run and nobody sleeps on the scheduler's \
            clock. Either tasks wait for one another, or one waits for something outside the scheduler: a real clock, \
            the main actor, a Task without this executor, another thread, or an exclusion that an operation of \
            another test holds, because exclusions are those of the whole process.
            """ + waits.map { "\n- \($0)" }.joined()
        case .notDeterministic(let seed, let foreignJobs):
            """
            not deterministic under seed \(seed): \(foreignJobs) job(s) came from outside the scheduler. Look for a \
            real clock, the main actor, a plain Task (write Task(executorPreference:)), a continuation resumed by \
            another thread, and for an exclusion whose name a test that runs in parallel uses, too: exclusions are those \
            of the whole process.
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
