internal import Foundation

/// One request and its answer, as far as they have come. Pure; ``HTTPTransaction`` locks it, asks, unlocks, and acts.
///
/// What comes before it is wanted is kept in memory, up to a limit. What comes then goes into a file, until that has
/// been read to its end; so the order is always memory first, then the file.
struct HTTPTransactionStateMachine<Waiter> {
    enum Ending {
        case complete
        case failed(any Error)
    }

    enum Taken<Value> {
        case value(Value)
        /// To be read from the file, and told by ``hasRead(_:)``.
        case stored(offset: Int64, count: Int)
        case end(Ending)
        /// Nothing yet: wait, and ask again.
        case nothing
    }

    enum Storing {
        /// In memory. These wait for it.
        case kept([Waiter])
        /// To be written to the file, and told by ``hasWritten(_:)``.
        case write(offset: Int64)
        /// Nobody wants it any more.
        case dropped
    }

    /// More than this is not kept in memory.
    static var mostKept: Int { 256 * 1024 }

    private(set) var head: HTTPHead?
    /// Of the body, in all.
    private(set) var receivedCount: Int64 = 0
    private(set) var isCancelled = false
    private var kept = Data()
    /// In the file, and not yet read.
    private var stored: Range<Int64> = 0..<0
    private var isWriting = false
    private var ending: Ending?
    private var waiters: [Waiter] = []
    /// When something came or went last.
    private var lastMoved: ContinuousClock.Instant

    init(at now: ContinuousClock.Instant) { lastMoved = now }

    // MARK: From the network

    mutating func came(_ head: HTTPHead, at now: ContinuousClock.Instant) -> [Waiter] {
        self.head = head
        lastMoved = now
        return wake()
    }

    mutating func came(_ data: Data, at now: ContinuousClock.Instant) -> Storing {
        lastMoved = now
        receivedCount += Int64(data.count)
        // A cancel, or a time limit, came first.
        if isCancelled || ending != nil { return .dropped }
        if stored.isEmpty {
            if kept.count + data.count <= Self.mostKept || kept.isEmpty {
                kept.append(data)
                return .kept(wake())
            }
        }
        isWriting = true
        return .write(offset: stored.upperBound)
    }

    mutating func hasWritten(_ count: Int) -> [Waiter] {
        isWriting = false
        stored = stored.lowerBound..<stored.upperBound + Int64(count)
        return wake()
    }

    mutating func went(at now: ContinuousClock.Instant) { lastMoved = now }

    /// The first ending counts: URLSession may tell of a second one when a cancel crosses the end.
    mutating func end(_ ending: Ending) -> [Waiter] {
        if self.ending != nil { return [] }
        self.ending = ending
        return wake()
    }

    /// True: URLSession has to be told. Later ones change nothing. After the end of the transfer, what has come is not
    /// read any more.
    mutating func cancel() -> Bool {
        if isCancelled { return false }
        isCancelled = true
        if ending == nil { return true }
        ending = .failed(CancellationError())
        return false
    }

    // MARK: The reader

    mutating func takeHead() -> Taken<HTTPHead> {
        if let head, !isCancelled { return .value(head) }
        if let ending { return .end(ending) }
        return .nothing
    }

    mutating func take() -> Taken<Data> {
        if !isCancelled {
            if !kept.isEmpty {
                defer { kept = Data() }
                return .value(kept)
            }
            if !stored.isEmpty { return .stored(offset: stored.lowerBound, count: min(stored.count, Self.mostKept)) }
        }
        if let ending { return .end(ending) }
        return .nothing
    }

    mutating func hasRead(_ count: Int) {
        stored = stored.lowerBound + Int64(count)..<stored.upperBound
        // A file that was read to its end starts over, unless somebody is writing to it.
        if stored.isEmpty, !isWriting { stored = 0..<0 }
    }

    /// False: there is something to take.
    mutating func wait(_ waiter: Waiter, forHead: Bool) -> Bool {
        if ending != nil { return false }
        if !isCancelled, forHead ? head != nil : !kept.isEmpty || !stored.isEmpty { return false }
        waiters.append(waiter)
        return true
    }

    private mutating func wake() -> [Waiter] {
        defer { waiters = [] }
        return waiters
    }

    // MARK: Time

    enum Look {
        case ended
        case again(after: Duration)
        case expired
    }

    /// Whether nothing has come or gone for too long.
    func look(at now: ContinuousClock.Instant, limit: Duration) -> Look {
        if isCancelled || ending != nil { return .ended }
        let idle = lastMoved.duration(to: now)
        return idle >= limit ? .expired : .again(after: limit - idle)
    }
}
