internal import Foundation

/// The state of one response. It is pure: ``CurlTransfer`` locks it, asks it, unlocks it, and acts.
///
/// The transport's thread puts bytes in, and a task takes them out. When ``maxBufferedBytes`` bytes wait to be read,
/// the network is paused. A reader that makes room is told to have the transfer resumed.
struct TransferStateMachine<Waiter> {
    enum Completion {
        case complete
        case failed(any Error)
    }

    enum Taken<Value> {
        case value(Value)
        case end(Completion)
        /// Nothing is available. The reader waits, and asks again.
        case nothing
    }

    enum ReceiveAction {
        /// The bytes were kept. The caller resumes these waiters.
        case kept([Waiter])
        /// The bytes were not kept. The caller pauses the network, which delivers them again when a reader has made
        /// room.
        case full
    }

    /// The number of waiting bytes at which the network is paused.
    static var maxBufferedBytes: Int { 256 * 1024 }

    private(set) var isCancelled = false
    private var head: HTTPHead?
    private var kept = Data()
    private var isPaused = false
    private var completion: Completion?
    /// A Boolean value that indicates whether a task is still producing the body of the request. Readers learn of the
    /// end of the transfer only after that task has ended.
    private var isFeeding: Bool
    private var waiters: [Waiter] = []

    init(isFeeding: Bool = false) { self.isFeeding = isFeeding }

    // MARK: The transport's thread

    mutating func receive(_ head: HTTPHead) -> [Waiter] {
        assert(self.head == nil, "Internal inconsistency: a second head")
        self.head = head
        return wake()
    }

    /// Keeps a piece of the body, or returns that there is no room for it.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> ReceiveAction {
        // A cancellation came first. No task reads these bytes, which arrive until the thread has taken the command to
        // cancel.
        if isCancelled { return .kept([]) }
        assert(completion == nil, "Internal inconsistency: a body goes on after its end")
        if kept.count >= Self.maxBufferedBytes {
            isPaused = true
            return .full
        }
        kept.append(contentsOf: bytes)
        return .kept(wake())
    }

    /// Ends the transfer. Must be called once. An earlier cancellation takes precedence, even if the thread had not
    /// learned of it.
    mutating func end(_ completion: Completion) -> [Waiter] {
        assert(self.completion == nil, "Internal inconsistency: a second end")
        self.completion = isCancelled ? .failed(CancellationError()) : completion
        return isFeeding ? [] : wake()
    }

    // MARK: The task that produces the body of the request

    mutating func feedingEnded() -> [Waiter] {
        isFeeding = false
        return completion == nil ? [] : wake()
    }

    // MARK: The reader

    /// Returns true if the transport's thread has to be told. Later calls change nothing. If the transfer has already
    /// ended, the reader does not receive the bytes that are left.
    mutating func cancel() -> Bool {
        if isCancelled { return false }
        isCancelled = true
        if completion == nil { return true }
        completion = .failed(CancellationError())
        return false
    }

    mutating func takeHead() -> Taken<HTTPHead> {
        if let head, !isCancelled { return .value(head) }
        return takeEnding()
    }

    /// Returns all bytes that wait, and whether the caller has to resume the transfer.
    mutating func take() -> (taken: Taken<Data>, resumes: Bool) {
        if kept.isEmpty || isCancelled { return (takeEnding(), false) }
        defer {
            kept = Data()
            isPaused = false
        }
        return (.value(kept), isPaused)
    }

    private func takeEnding<Value>() -> Taken<Value> {
        if let completion, !isFeeding { return .end(completion) }
        return .nothing
    }

    /// Returns false, and does not store the waiter, if there is something to take.
    mutating func wait(_ waiter: Waiter, forHead: Bool) -> Bool {
        if completion != nil, !isFeeding { return false }
        if !isCancelled, forHead ? head != nil : !kept.isEmpty { return false }
        waiters.append(waiter)
        return true
    }

    private mutating func wake() -> [Waiter] {
        defer { waiters = [] }
        return waiters
    }
}
