/// A retry and a time limit as most operations that have any ask for them: plain numbers, and the same for many. All
/// that ask for the same have this one object. Only one that fails, is cut short or has anything else gets details of
/// its own.
///
/// The first hundred or so that a program asks for are kept for as long as it runs, so nobody has to count who has
/// them; what comes after them is part of the operation's details, as what has closures is.
final class SharedLimits: Sendable {
    struct Values: Equatable {
        /// Nil: what fails is not tried again.
        var backoff: Backoff.Plain?
        var maxAttempts: Int32 = 1
        /// Of each attempt.
        var limit: Duration?

        /// By the numbers: several times as fast as comparing durations.
        @inline(__always)
        static func == (left: Values, right: Values) -> Bool {
            left.limit?.attoseconds == right.limit?.attoseconds && left.maxAttempts == right.maxAttempts
                && left.backoff == right.backoff
        }
    }

    let values: Values

    init(_ values: Values) { self.values = values }

    private static let table = SharedLimitsTable()

    /// Nil: there are too many others.
    static func with(_ values: Values) -> Unmanaged<SharedLimits>? { table.find(values) }
}
