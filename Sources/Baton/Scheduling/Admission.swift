/// How the wait of a submission ends.
enum SubmissionAnswer {
    case admitted
    /// The queue has been shut down.
    case refused
    /// The task that waited was cancelled.
    case abandoned
}

/// The continuation of a call that waits to submit an operation. The thread that resumes it removes it from
/// ``Admission`` first, so it is resumed once.
typealias Submission = UnsafeContinuation<SubmissionAnswer, Never>

/// The submissions that wait, and how many may be admitted. Pure; guarded by the queue's lock.
struct Admission<Waiter> {
    /// The number of operations that may wait in the queue before a submission waits.
    var limit = Int.max
    /// The number of submissions that are admitted and whose operations have not been added.
    private var admitted = 0
    /// The submissions that wait, as a doubly linked list, so that removing one from the middle takes constant time.
    private var waiting: [UInt64: (waiter: Waiter, before: UInt64?, after: UInt64?)] = [:]
    private var first: UInt64?
    private var last: UInt64?

    var isEmpty: Bool { first == nil }

    /// Admits a submission if it need not wait. It has to wait while earlier submissions wait.
    ///
    /// - Parameter operations: The number of operations that wait in the queue.
    mutating func mayEnter(_ operations: Int) -> Bool {
        guard isEmpty, operations + admitted < limit else { return false }
        admitted += 1
        return true
    }

    mutating func wait(_ id: UInt64, _ waiter: Waiter) {
        assert(waiting[id] == nil)
        waiting[id] = (waiter, before: last, after: nil)
        if let last { waiting[last]?.after = id } else { first = id }
        last = id
    }

    /// Removes and returns the next submission that is admitted, or nil.
    ///
    /// - Parameter operations: The number of operations that wait in the queue.
    mutating func next(_ operations: Int) -> Waiter? {
        guard let first, operations + admitted < limit else { return nil }
        admitted += 1
        return remove(first)
    }

    /// Notes that the operation of an admitted submission has been added.
    mutating func hasEntered() {
        assert(admitted > 0)
        admitted -= 1
    }

    /// Removes a submission. Returns nil if it does not wait any more.
    mutating func remove(_ id: UInt64) -> Waiter? {
        guard let place = waiting.removeValue(forKey: id) else { return nil }
        if let before = place.before { waiting[before]?.after = place.after } else { first = place.after }
        if let after = place.after { waiting[after]?.before = place.before } else { last = place.before }
        // After a peak, the empty table releases its memory.
        if isEmpty, waiting.capacity > 1024 { waiting = [:] }
        return place.waiter
    }

    mutating func removeAll() -> [Waiter] {
        var all: [Waiter] = []
        while let first, let next = remove(first) { all.append(next) }
        return all
    }
}

extension QueueCore.State {
    /// The number of operations that were added and have not begun. A worker that holds a permit between two operations
    /// counts as an operation that has begun, so the difference may be negative.
    mutating func waitingCount() -> Int { max(0, count() - scheduler.begun) }

    mutating func admit() -> Submission? { admission.next(waitingCount()) }
}
