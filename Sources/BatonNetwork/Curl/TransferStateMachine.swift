internal import Foundation

/// The answer of one transfer, as far as it has come. Pure; ``CurlTransfer`` locks it, asks, unlocks, and acts.
///
/// The worker's thread puts in what comes, and tasks take it out. The network is paused when ``mostKept`` bytes wait to
/// be read, and a reader that makes room is told to have the transfer resumed.
struct TransferStateMachine<Waiter> {
    enum Ending {
        case complete
        case failed(any Error)
    }

    enum Taken<Value> {
        case value(Value)
        case end(Ending)
        /// Nothing yet: wait, and ask again.
        case nothing
    }

    enum Receipt {
        /// The bytes are kept. These wait for them.
        case kept([Waiter])
        /// The bytes are not kept: the network has to be paused, and brings them again when a reader has made room.
        case full
    }

    /// The network is paused when so many bytes wait to be read.
    static var mostKept: Int { 256 * 1024 }

    private(set) var isCancelled = false
    private var head: HTTPHead?
    private var kept = Data()
    private var isPaused = false
    private var ending: Ending?
    /// The body of the request still comes from a task. The end of the transfer is told after the end of that task.
    private var isFeeding: Bool
    private var waiters: [Waiter] = []

    init(isFeeding: Bool = false) { self.isFeeding = isFeeding }

    // MARK: The worker's thread

    mutating func receive(_ head: HTTPHead) -> [Waiter] {
        assert(self.head == nil, "Internal inconsistency: a second head")
        self.head = head
        return wake()
    }

    /// Keeps a piece of the body, or says that there is no room for it.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> Receipt {
        // A cancel came first: nobody reads what comes until the thread has heard of it.
        if isCancelled { return .kept([]) }
        assert(ending == nil, "Internal inconsistency: a body goes on after its end")
        if kept.count >= Self.mostKept {
            isPaused = true
            return .full
        }
        kept.append(contentsOf: bytes)
        return .kept(wake())
    }

    /// Once. A cancel that came before it counts, even if the thread had not heard of it.
    mutating func end(_ ending: Ending) -> [Waiter] {
        assert(self.ending == nil, "Internal inconsistency: a second end")
        self.ending = isCancelled ? .failed(CancellationError()) : ending
        return isFeeding ? [] : wake()
    }

    // MARK: The task that feeds the body of the request

    mutating func feedingEnded() -> [Waiter] {
        isFeeding = false
        return ending == nil ? [] : wake()
    }

    // MARK: The reader

    /// True: the thread has to be told. Later ones change nothing. After the end of the transfer, what has come is not
    /// read any more.
    mutating func cancel() -> Bool {
        if isCancelled { return false }
        isCancelled = true
        if ending == nil { return true }
        ending = .failed(CancellationError())
        return false
    }

    mutating func takeHead() -> Taken<HTTPHead> {
        if let head, !isCancelled { return .value(head) }
        return takeEnding()
    }

    /// Returns all bytes that wait, and whether the transfer has to be resumed.
    mutating func take() -> (taken: Taken<Data>, resumes: Bool) {
        if kept.isEmpty || isCancelled { return (takeEnding(), false) }
        defer {
            kept = Data()
            isPaused = false
        }
        return (.value(kept), isPaused)
    }

    private func takeEnding<Value>() -> Taken<Value> {
        if let ending, !isFeeding { return .end(ending) }
        return .nothing
    }

    /// False: there is something to take.
    mutating func wait(_ waiter: Waiter, forHead: Bool) -> Bool {
        if ending != nil, !isFeeding { return false }
        if !isCancelled, forHead ? head != nil : !kept.isEmpty { return false }
        waiters.append(waiter)
        return true
    }

    private mutating func wake() -> [Waiter] {
        defer { waiters = [] }
        return waiters
    }
}
