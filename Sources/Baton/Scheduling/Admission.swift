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
    private var waiting: [(id: UInt64, waiter: Waiter)] = []
    private(set) var isEmpty = true

    /// Whether a submission goes on at once, given how many operations wait: nobody passes those that came before.
    mutating func mayEnter(_ operations: Int) -> Bool {
        guard isEmpty, operations + admitted < limit else { return false }
        admitted += 1
        return true
    }

    mutating func wait(_ id: UInt64, _ waiter: Waiter) {
        waiting.append((id, waiter))
        isEmpty = false
    }

    /// The next one to go on, given how many operations wait.
    mutating func next(_ operations: Int) -> Waiter? {
        guard !isEmpty, operations + admitted < limit else { return nil }
        admitted += 1
        return remove(at: 0)
    }

    /// What was admitted has been added.
    mutating func hasEntered() { admitted -= 1 }

    /// Nil: it does not wait any more.
    mutating func remove(_ id: UInt64) -> Waiter? {
        waiting.firstIndex { $0.id == id }.map { remove(at: $0) }
    }

    mutating func removeAll() -> [Waiter] {
        defer {
            waiting = []
            isEmpty = true
        }
        return waiting.map(\.waiter)
    }

    private mutating func remove(at index: Int) -> Waiter {
        defer { isEmpty = waiting.isEmpty }
        return waiting.remove(at: index).waiter
    }
}

extension QueueCore.State {
    /// Added and not begun.
    var waitingCount: Int { max(0, roster.count - scheduler.begun) }

    mutating func admit() -> Submission? { admission.next(waitingCount) }
}
