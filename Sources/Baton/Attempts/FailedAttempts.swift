/// Attempts that have failed and were followed by another one: all of the usual few; of very many, as a service has
/// that is retried for weeks, the first and the newest ones. Pure.
struct FailedAttempts {
    static let firstKept = 10
    static let newestKept = 100

    /// How many there were.
    private(set) var count = 0
    private var first: [OperationAttempt] = []
    /// A ring: when it is full, the oldest stands at `oldest`.
    private var newest: [OperationAttempt] = []
    private var oldest = 0

    /// The failed attempts that are kept, in order.
    var all: [OperationAttempt] { first + newest[oldest...] + newest[..<oldest] }

    var last: OperationAttempt? {
        newest.isEmpty ? first.last : newest[(oldest + newest.count - 1) % newest.count]
    }

    /// Returns what is not kept any more. Its error is the user's, to be released after unlocking.
    mutating func append(_ attempt: OperationAttempt) -> FailedAttempts {
        count += 1
        if first.count < Self.firstKept {
            first.append(attempt)
        } else if newest.count < Self.newestKept {
            newest.append(attempt)
        } else {
            var dropped = FailedAttempts()
            dropped.first = [newest[oldest]]
            newest[oldest] = attempt
            oldest = (oldest + 1) % newest.count
            return dropped
        }
        return FailedAttempts()
    }
}
