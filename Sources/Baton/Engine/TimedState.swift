/// The optional state of an operation with time limits, delays or further attempts.
///
/// It is made before the add. It is a subclass, because allocating one object takes half of the time that two objects
/// take.
final class TimedState: OptionalState {
    // Preconditions. They are frozen by the add, and read without the lock from then on.
    /// The backoff of further attempts, or `nil` if failed attempts are not retried.
    @exclusivity(unchecked) var backoff: Backoff?
    /// The time limit of each attempt.
    @exclusivity(unchecked) var limit: Duration?
    /// The maximum number of attempts.
    @exclusivity(unchecked) var maxAttempts: Int32 = 1

    // The state of the attempts.
    /// The number of the current or last attempt; 0 before the first one.
    @exclusivity(unchecked) var attempt: Int32 = 0
    /// True if a time limit has cancelled the current attempt.
    @exclusivity(unchecked) var hasTimedOut = false
    /// True if the operation is in no list and on no task, and waits for a time.
    @exclusivity(unchecked) var isPaused = false
    @exclusivity(unchecked) private(set) var rareTimedState: RareTimedState?

    override var borrowedTiming: Unretained<TimedState>? { Unretained(self) }

    /// - Parameter former: The optional state that the operation had so far.
    init(after former: OptionalState? = nil) { super.init(timedAfter: former) }

    /// Makes the state of an operation whose limits were shared with others until now.
    init(_ limits: SharedLimits.Values, attempt: Int32) {
        super.init(timedAfter: nil)
        backoff = limits.backoff.map { Backoff($0) }
        maxAttempts = limits.maxAttempts
        limit = limits.limit
        self.attempt = attempt
    }

    /// Returns the closures when the operation finishes. The caller releases them after unlocking.
    func takeClosures() -> Any { (backoff.take(), rareTimedState?.takeClosures()) }

    func ensureRareTimedState() -> RareTimedState {
        if let rareTimedState { return rareTimedState }
        let made = RareTimedState()
        rareTimedState = made
        return made
    }

    var runsAgain: Bool { backoff != nil || rareTimedState?.repetition != nil }

    var hasAttemptsLeft: Bool { backoff != nil && attempt < maxAttempts }

    /// True if code that handles time limits or further attempts has to run before or after the body.
    var timesBody: Bool { limit != nil || runsAgain || rareTimedState?.waitingTicket != nil }

    /// Stores the ticket of a pause. Returns false if the pause has ended; the next one may have begun and stored its
    /// own ticket.
    func storePause(until end: Duration, ticket: TimerService.Ticket) -> Bool {
        if !isPaused { return false }
        let rareTimedState = ensureRareTimedState()
        if let known = rareTimedState.pauseTicket, ticket.isOlder(than: known) { return false }
        rareTimedState.pauseTicket = ticket
        rareTimedState.pauseEnd = end
        return true
    }

    func endPause() {
        isPaused = false
        rareTimedState?.pauseTicket = nil
        rareTimedState?.pauseEnd = nil
    }

    /// True if something has to be released, or a timer removed, when the operation finishes.
    var hasTimedEnd: Bool { rareTimedState != nil || backoff?.hasModifiers == true }

    /// The reason of the cancellation if the attempt was cancelled by its own time limit.
    var timeoutReason: CancellationReason? { hasTimedOut ? limit.map { .timeout($0) } : nil }
}

/// The part of ``TimedState`` that few operations need.
final class RareTimedState {
    // Preconditions, which are frozen by the add.
    var mayRetry: RetryPredicate?
    /// The time limit of all attempts together, from the start of the first one.
    var deadline: Duration?
    var waitingLimit: Duration?
    /// The time at which ``waitingLimit`` ends. Nil before the add.
    var waitingEnd: Duration?
    var delay: Delay?
    var repetition: Repetition?

    // The state of the attempts. Times are those of the queue's timer service.
    /// The time at which the first attempt started, counted from the last repetition.
    var firstStart: Duration?
    /// The time at which the body started last.
    var lastStart = Duration.zero
    var repetitions = 0
    /// The attempts that were followed by another one.
    var failures = FailedAttempts()
    var waitingTicket: TimerService.Ticket?
    /// The reason why the operation was still waiting when ``waitingLimit`` or ``deadline`` cancelled it.
    var waitAtLimit: String?
    /// The ticket of the pause's timer. Also `nil` while a thread is about to store it.
    var pauseTicket: TimerService.Ticket?
    var pauseEnd: Duration?

    fileprivate func takeClosures() -> (RetryPredicate?, Repetition?, Delay?) {
        (mayRetry.take(), repetition.take(), delay.take())
    }
}

/// Called with the number of failures before this one, and with its error.
typealias RetryPredicate = @Sendable (Int, OperationError) async throws -> Bool

// MARK: - Limits that several operations share

/// The retry and the time limit of operations that ask for plain numbers, which are often the same. All operations with
/// equal numbers share one object. An operation gets optional state of its own only when it fails, is cut short, or
/// needs anything else.
///
/// The process keeps the first limits that fit into the table, about a hundred, for as long as it runs, so they need no
/// reference counting. Other limits are stored in the optional state of the operation, as are limits with closures.
final class SharedLimits: Interned {
    struct Values: Equatable {
        /// The backoff of failed attempts; nil if they are not retried.
        var backoff: Backoff.Curve?
        var maxAttempts: Int32 = 1
        /// The time limit of each attempt.
        var limit: Duration?

        /// Compares the numbers, which is several times as fast as comparing durations.
        @inline(__always)
        static func == (left: Values, right: Values) -> Bool {
            left.limit?.attoseconds == right.limit?.attoseconds && left.maxAttempts == right.maxAttempts
                && left.backoff == right.backoff
        }
    }

    let values: Values

    init(_ values: Values) { self.values = values }

    private static let table = InternTable<SharedLimits>()

    /// Returns the object for these values, or nil if the table has no room for it.
    static func with(_ values: Values) -> Unretained<SharedLimits>? { table.find(values) }

    @inline(__always)
    static func hash(of values: Values) -> UInt64 { values.hash }
}

extension SharedLimits.Values {
    /// The multiplier is that of Fibonacci hashing: Knuth, "The Art of Computer Programming", volume 3, section 6.4.
    @inline(__always)
    fileprivate var hash: UInt64 {
        let times = (backoff?.first.attoseconds ?? 1) &+ (limit?.attoseconds ?? 1) &* 31
        let words = UInt64(truncatingIfNeeded: times) ^ UInt64(truncatingIfNeeded: maxAttempts)
        return (words &* 0x9E37_79B9_7F4A_7C15) >> 32
    }
}
