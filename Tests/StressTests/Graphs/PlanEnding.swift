/// The way in which a plan ends.
enum Ending: Sendable {
    case idle
    /// Two tasks drain each queue at once, while a third task still adds operations.
    case drain
    /// Like `drain`, but with a time limit that is never reached.
    case shutdown
    /// The queues are shut down without a grace period, which cancels the remaining operations.
    case cutOff
}
