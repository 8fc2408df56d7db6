import Baton

/// The attempts and repetitions of a node's body.
struct AttemptNote: Sendable {
    enum Backoff: Sendable {
        case immediately
        case constant(Duration)
        case exponential(Duration)
        /// The error determines the delay.
        case honoring(Duration)
    }

    /// The answers of the retry predicate. Failures are counted from 0.
    enum Consent: Sendable {
        case always
        case no(from: Int)
        case throwing(at: Int)
    }

    /// The number of attempts that fail at the beginning of each repetition.
    var failures = 0
    /// The number of steps that a failing attempt performs.
    var stepsBeforeFailing = 0
    /// True if failing attempts wait for their time limit instead of throwing.
    var stalls = false
    /// The maximum number of attempts, or nil if the operation is not retried.
    var attempts: Int?
    var backoff = Backoff.immediately
    var consent = Consent.always
    /// True if the predicate suspends before it answers.
    var asksSlowly = false
    /// True if the node uses `retryOnFailure`, which has neither a backoff nor a number of attempts.
    var asksAlone = false
    var deadline: Duration?
    var repetition: RepetitionNote?

    /// The maximum number of times that the body runs.
    var mostRuns: Int { (attempts ?? 1) * (repetition?.runs ?? 1) }

    func delay(after failures: Int) -> Duration {
        switch backoff {
        case .immediately: .zero
        case .constant(let delay), .honoring(let delay): delay
        case .exponential(let delay): delay * (1 << (failures - 1))
        }
    }
}

struct RepetitionNote: Sendable {
    let interval: Duration
    let count: Int?
    /// The number of runs after which the closure reports that the repetition is done.
    let isDoneAfter: Int

    var runs: Int { count.map { min($0, isDoneAfter) } ?? isDoneAfter }
}

/// The time limits of a node.
struct LimitNote: Sendable {
    /// The limit of each attempt.
    var attempt: Duration?
    var waiting: Duration?

    /// A limit that is longer than any round.
    static let never = Duration.seconds(20_000)
}

extension Duration {
    /// A short duration, which does pass during a round under threads.
    static func ticks(_ count: Int) -> Duration { .microseconds(50 * count) }
}

extension Node {
    /// The limits that can end the node or one of its attempts.
    var shortLimits: [Duration] {
        [limits.attempt, limits.waiting, attempts?.deadline].compactMap { $0 }.filter { $0 < LimitNote.never }
    }

    /// True if other events can happen between an attempt and the decision about the next one.
    var isAskedSlowly: Bool { attempts.map { $0.attempts != nil && ($0.asksSlowly || mayBeCut) } ?? false }

    /// True if a limit can cancel the body.
    var mayBeCut: Bool { limits.attempt != nil || attempts?.deadline != nil }
}
