/// How a plan ends.
enum Ending: Sendable {
    case idle
    /// Queues take no more, twice at once, while somebody still adds.
    case drain
    /// The same with a limit that does not come.
    case shutdown
    /// What is left is cancelled.
    case cutOff
}
