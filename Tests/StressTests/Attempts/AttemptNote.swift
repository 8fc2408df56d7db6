import Baton

/// How a node's body runs more than once.
struct AttemptNote: Sendable {
    enum Backoff: Sendable {
        case immediately
        case constant(Duration)
        case exponential(Duration)
        /// By the error.
        case told(Duration)
    }

    /// What the predicate says. Failures count from 0.
    enum Consent: Sendable {
        case always
        case no(from: Int)
        case throwing(at: Int)
    }

    /// So many attempts fail, at the beginning of each repetition.
    var failures = 0
    /// After so many of the node's steps.
    var stepsBeforeFailing = 0
    /// They wait for their time limit instead of throwing.
    var stalls = false
    /// Nil: it is not retried.
    var attempts: Int?
    var backoff = Backoff.immediately
    var consent = Consent.always
    /// The predicate suspends before it answers.
    var asksSlowly = false
    /// By `retryOnFailure`, which has neither backoff nor number.
    var asksAlone = false
    var deadline: Duration?
    var repetition: RepetitionNote?

    /// At the most.
    var mostRuns: Int { (attempts ?? 1) * (repetition?.runs ?? 1) }

    func delay(after failures: Int) -> Duration {
        switch backoff {
        case .immediately: .zero
        case .constant(let delay), .told(let delay): delay
        case .exponential(let delay): delay * (1 << (failures - 1))
        }
    }
}

struct RepetitionNote: Sendable {
    let interval: Duration
    let count: Int?
    /// Its closure says after so many runs that it is done.
    let isDoneAfter: Int

    var runs: Int { count.map { min($0, isDoneAfter) } ?? isDoneAfter }
}

/// Time limits of a node.
struct LimitNote: Sendable {
    /// Of each attempt.
    var attempt: Duration?
    var waiting: Duration?

    /// Longer than any round.
    static let never = Duration.seconds(20_000)
}

extension Duration {
    /// Short: under threads, it passes indeed.
    static func ticks(_ count: Int) -> Duration { .microseconds(50 * count) }
}

extension Node {
    /// The limits that can end it, or an attempt of it.
    var shortLimits: [Duration] {
        [limits.attempt, limits.waiting, attempts?.deadline].compactMap { $0 }.filter { $0 < LimitNote.never }
    }

    /// Something can happen between an attempt and the answer whether there is another.
    var isAskedSlowly: Bool { attempts.map { $0.attempts != nil && ($0.asksSlowly || mayBeCut) } ?? false }

    /// A limit can cancel its body.
    var mayBeCut: Bool { limits.attempt != nil || attempts?.deadline != nil }
}
