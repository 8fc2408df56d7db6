/// What the wait of a submission ends with.
enum SubmissionAnswer {
    case admitted
    /// The queue has been shut down.
    case refused
    /// The task that waited was cancelled.
    case abandoned
}

/// Taken out of ``Admission`` by whoever resumes it, so it is resumed once.
typealias Submission = UnsafeContinuation<SubmissionAnswer, Never>

/// Who waits to submit an operation, and how many may. Pure; guarded by the queue's lock.
struct Admission<Waiter> {
    /// How many operations may wait in the queue before a submission does.
    var limit = Int.max
    /// Admitted, and not added yet.
    private var admitted = 0
    /// Each knows its neighbours, so that one in the middle of many gives up as fast as the first goes on.
    private var waiting: [UInt64: (waiter: Waiter, before: UInt64?, after: UInt64?)] = [:]
    private var first: UInt64?
    private var last: UInt64?

    var isEmpty: Bool { first == nil }

    /// Whether a submission goes on at once, given how many operations wait: nobody passes those that came before.
    mutating func mayEnter(_ operations: Int) -> Bool {
        guard isEmpty, operations + admitted < limit else { return false }
        admitted += 1
        return true
    }

    mutating func wait(_ id: UInt64, _ waiter: Waiter) {
        waiting[id] = (waiter, before: last, after: nil)
        if let last { waiting[last]?.after = id } else { first = id }
        last = id
    }

    /// The next one to go on, given how many operations wait.
    mutating func next(_ operations: Int) -> Waiter? {
        guard let first, operations + admitted < limit else { return nil }
        admitted += 1
        return remove(first)
    }

    /// What was admitted has been added.
    mutating func hasEntered() { admitted -= 1 }

    /// Nil: it does not wait any more.
    mutating func remove(_ id: UInt64) -> Waiter? {
        guard let place = waiting.removeValue(forKey: id) else { return nil }
        if let before = place.before { waiting[before]?.after = place.after } else { first = place.after }
        if let after = place.after { waiting[after]?.before = place.before } else { last = place.before }
        // After a rush, the memory is given back.
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
    /// Added and not begun.
    mutating func waitingCount() -> Int { max(0, count() - scheduler.begun) }

    mutating func admit() -> Submission? { admission.next(waitingCount()) }
}
