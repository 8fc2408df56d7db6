/// The failed attempts that were followed by another one. A service may be retried for weeks, so only the first and the
/// newest attempts are kept.
struct FailedAttempts {
    static let firstKept = 10
    static let newestKept = 100

    /// The number of failed attempts, including those that are not kept.
    private(set) var count = 0
    private var first: [OperationAttempt] = []
    /// A ring buffer: when it is full, `oldest` is the index of the oldest attempt.
    private var newest: [OperationAttempt] = []
    private var oldest = 0

    /// The failed attempts that are kept, in order.
    var all: [OperationAttempt] { first + newest[oldest...] + newest[..<oldest] }

    var last: OperationAttempt? {
        newest.isEmpty ? first.last : newest[(oldest + newest.count - 1) % newest.count]
    }

    /// Appends an attempt, and returns the attempt that it displaces, if any. The caller releases that attempt after
    /// unlocking, because the release of its error may run the user's code.
    mutating func append(_ attempt: OperationAttempt) -> OperationAttempt? {
        count += 1
        if first.count < Self.firstKept {
            first.append(attempt)
        } else if newest.count < Self.newestKept {
            newest.append(attempt)
        } else {
            let displaced = newest[oldest]
            newest[oldest] = attempt
            oldest = (oldest + 1) % newest.count
            return displaced
        }
        return nil
    }
}
