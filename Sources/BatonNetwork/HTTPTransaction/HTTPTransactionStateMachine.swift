internal import Foundation

/// The state of one request and its response. It is pure: ``HTTPTransaction`` locks it, asks it, unlocks it, and acts.
///
/// Bytes that arrive before the reader asks for them are kept in memory, up to ``maxBufferedBytes``. Bytes beyond that
/// go to a file until the reader has read that file to its end. So the bytes in memory always precede those in the
/// file.
struct HTTPTransactionStateMachine<Waiter> {
    enum Completion {
        case complete
        case failed(any Error)
    }

    enum Taken<Value> {
        case value(Value)
        /// The reader reads these bytes from the file, and then calls ``hasRead(_:)``.
        case stored(offset: Int64, count: Int)
        case end(Completion)
        /// Nothing is available. The reader waits, and asks again.
        case nothing
    }

    enum ReceiveAction {
        /// The bytes were kept in memory. The caller resumes these waiters.
        case kept([Waiter])
        /// The caller writes the bytes to the file, and then calls ``hasWritten(_:)``.
        case write(offset: Int64)
        /// The bytes were dropped, because the transfer was cancelled or has failed.
        case dropped
    }

    /// The largest number of bytes that are kept in memory.
    static var maxBufferedBytes: Int { 256 * 1024 }

    private(set) var head: HTTPHead?
    /// The number of bytes of the body that have arrived in all.
    private(set) var receivedCount: Int64 = 0
    private(set) var isCancelled = false
    private var kept = Data()
    /// The part of the file that has been written and not yet read.
    private var stored: Range<Int64> = 0..<0
    private var isWriting = false
    private var completion: Completion?
    private var waiters: [Waiter] = []
    /// The last time at which a byte arrived or was sent.
    private var lastActivity: ContinuousClock.Instant

    init(at now: ContinuousClock.Instant) { lastActivity = now }

    // MARK: From the network

    mutating func receive(_ head: HTTPHead, at now: ContinuousClock.Instant) -> [Waiter] {
        self.head = head
        lastActivity = now
        return wake()
    }

    mutating func receive(_ data: Data, at now: ContinuousClock.Instant) -> ReceiveAction {
        lastActivity = now
        receivedCount += Int64(data.count)
        // The cancellation, or the end by a time limit, came before these bytes.
        if isCancelled || completion != nil { return .dropped }
        if stored.isEmpty {
            if kept.count + data.count <= Self.maxBufferedBytes || kept.isEmpty {
                kept.append(data)
                return .kept(wake())
            }
        }
        assert(!isWriting, "Internal inconsistency: bytes that arrive during a write")
        isWriting = true
        return .write(offset: stored.upperBound)
    }

    mutating func hasWritten(_ count: Int) -> [Waiter] {
        assert(isWriting, "Internal inconsistency: the end of a write that has not begun")
        isWriting = false
        stored = stored.lowerBound..<stored.upperBound + Int64(count)
        return wake()
    }

    mutating func hasSent(at now: ContinuousClock.Instant) { lastActivity = now }

    /// Stores the first completion only. URLSession may report a second one when a cancellation races with the end.
    mutating func end(_ completion: Completion) -> [Waiter] {
        if self.completion != nil { return [] }
        self.completion = completion
        return wake()
    }

    /// Returns true if the caller has to cancel the URLSession task. Later calls change nothing. If the transfer has
    /// already ended, the reader does not receive the bytes that are left.
    mutating func cancel() -> Bool {
        if isCancelled { return false }
        isCancelled = true
        if completion == nil { return true }
        completion = .failed(CancellationError())
        return false
    }

    // MARK: The reader

    mutating func takeHead() -> Taken<HTTPHead> {
        if let head, !isCancelled { return .value(head) }
        if let completion { return .end(completion) }
        return .nothing
    }

    mutating func take() -> Taken<Data> {
        if !isCancelled {
            if !kept.isEmpty {
                defer { kept = Data() }
                return .value(kept)
            }
            if !stored.isEmpty {
                return .stored(offset: stored.lowerBound, count: min(stored.count, Self.maxBufferedBytes))
            }
        }
        if let completion { return .end(completion) }
        return .nothing
    }

    mutating func hasRead(_ count: Int) {
        assert(count <= stored.count, "Internal inconsistency: more bytes were read than the file has")
        stored = stored.lowerBound + Int64(count)..<stored.upperBound
        // After the whole file has been read, writing starts at its beginning again, unless a write is in progress.
        if stored.isEmpty, !isWriting { stored = 0..<0 }
    }

    /// Returns false, and does not store the waiter, if there is something to take.
    mutating func wait(_ waiter: Waiter, forHead: Bool) -> Bool {
        if completion != nil { return false }
        if !isCancelled, forHead ? head != nil : !kept.isEmpty || !stored.isEmpty { return false }
        waiters.append(waiter)
        return true
    }

    private mutating func wake() -> [Waiter] {
        defer { waiters = [] }
        return waiters
    }

    // MARK: Time

    enum CheckResult {
        case ended
        case again(after: Duration)
        case expired
    }

    /// Checks whether no byte has arrived or been sent for `limit`.
    func checkIdle(at now: ContinuousClock.Instant, limit: Duration) -> CheckResult {
        if isCancelled || completion != nil { return .ended }
        let idle = lastActivity.duration(to: now)
        return idle >= limit ? .expired : .again(after: limit - idle)
    }
}
