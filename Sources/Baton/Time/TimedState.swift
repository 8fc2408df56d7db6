/// The optional state of an operation with time limits, delays or further attempts: those, and how far it is with them.
/// Made before the add, and in one object with the others, which takes half of the time that two would.
final class TimedState: OptionalState {
    // Preconditions. Frozen by the add, and read without the lock from then on.
    /// Nil: what fails is not tried again.
    @exclusivity(unchecked) var backoff: Backoff?
    /// Of each attempt.
    @exclusivity(unchecked) var limit: Duration?
    /// At most.
    @exclusivity(unchecked) var maxAttempts: Int32 = 1

    // How far it is.
    /// The one that runs, or else the last one; 0 before the first.
    @exclusivity(unchecked) var attempt: Int32 = 0
    /// A time limit has cancelled the attempt that runs.
    @exclusivity(unchecked) var isCut = false
    /// It is in no list and on no task, and waits for its time.
    @exclusivity(unchecked) var isPaused = false
    @exclusivity(unchecked) private(set) var rareTiming: RareTiming?

    /// - Parameter former: What the operation had until now.
    init(after former: OptionalState? = nil) { super.init(timedAfter: former) }

    /// With limits that have been shared.
    init(_ limits: SharedLimits.Values, attempt: Int32) {
        super.init(timedAfter: nil)
        backoff = limits.backoff.map { Backoff($0) }
        maxAttempts = limits.maxAttempts
        limit = limits.limit
        self.attempt = attempt
    }

    /// At the finish, for the caller to release after unlocking.
    func takeClosures() -> Any { (backoff.take(), rareTiming?.takeClosures()) }

    func madeRareTiming() -> RareTiming {
        if let rareTiming { return rareTiming }
        let made = RareTiming()
        rareTiming = made
        return made
    }

    var runsAgain: Bool { backoff != nil || rareTiming?.repetition != nil }

    var hasAttemptsLeft: Bool { backoff != nil && attempt < maxAttempts }

    /// Something of it is asked or told around the body.
    var timesBody: Bool { limit != nil || runsAgain || rareTiming?.waitingTicket != nil }

    /// False: it has ended, and the next one may have begun, whose ticket may be known already.
    func pauses(until end: Duration, _ ticket: TimerService.Ticket) -> Bool {
        if !isPaused { return false }
        let rareTiming = madeRareTiming()
        if let known = rareTiming.pauseTicket, ticket.isOlder(than: known) { return false }
        rareTiming.pauseTicket = ticket
        rareTiming.pauseEnd = end
        return true
    }

    func pauseEnds() {
        isPaused = false
        rareTiming?.pauseTicket = nil
        rareTiming?.pauseEnd = nil
    }

    /// The finish has to release or take out something of it.
    var hasTimedEnd: Bool { rareTiming != nil || backoff?.keepsClosures == true }

    /// Why the attempt was cancelled, if a limit of its own did it.
    var cutReason: CancellationReason? { isCut ? limit.map { .timeout($0) } : nil }
}

/// Part of ``TimedState``.
final class RareTiming {
    // Preconditions, frozen by the add.
    var mayRetry: RetryPredicate?
    /// Of all attempts together, from the start of the first.
    var deadline: Duration?
    var waitingLimit: Duration?
    var delay: Delay?
    var repetition: Repetition?

    // How far it is. Times are those of the queue's timer service.
    /// When the first attempt started, of those that count.
    var firstStart: Duration?
    /// When the body started last.
    var lastStart = Duration.zero
    var repetitions = 0
    /// The attempts that were followed by another.
    var failures = FailedAttempts()
    var waitingTicket: TimerService.Ticket?
    /// Of its pause. Nil also while somebody is about to put it here.
    var pauseTicket: TimerService.Ticket?
    var pauseEnd: Duration?

    fileprivate func takeClosures() -> (RetryPredicate?, Repetition?, Delay?) {
        (mayRetry.take(), repetition.take(), delay.take())
    }
}

/// Asked with the number of failures before this one, and with its error.
typealias RetryPredicate = @Sendable (Int, OperationError) async throws -> Bool
