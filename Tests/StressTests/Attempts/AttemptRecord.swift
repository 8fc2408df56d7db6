import Baton
import Synchronization

/// The records of the attempts of one node.
final class AttemptRecord: Sendable {
    /// The number of the last attempt that has begun.
    let last = Atomic<Int>(0)
    /// True if a body has returned after the operation was cancelled, so that no further attempt may begin.
    let isOver = Atomic<Bool>(false)
    /// True if the operation was cancelled while the body ran, with the reason that it must keep. Seeded rounds only.
    let wasCancelled = Atomic<Bool>(false)
    /// The number of runs after which the closure of the repetition was called.
    private let done = Atomic<Int>(0)

    func runsDone() -> Int { done.add(1, ordering: .relaxed).newValue }
}

/// The record of an attempt. It retains nothing.
struct AttemptEnd: Sendable {
    let number: Int
    let error: Outcome?
    let delay: Duration?

    init(_ attempt: OperationAttempt) {
        number = attempt.number
        error = attempt.error.map { Outcome($0) }
        delay = attempt.delay
    }
}

extension NodeRecord {
    var isBetweenRuns: Bool { starts.load(ordering: .relaxed) == ends.load(ordering: .relaxed) }
}

extension RunRecorder {
    /// Checks and records the beginning of a run of the body.
    func attemptBegan(_ id: Int, _ attempt: Int) {
        let (record, note) = (nodes[id], graph.nodes[id].attempts)
        check(record.isBetweenRuns, "G2: the body of n\(id) runs twice at once")
        let runs = record.starts.add(1, ordering: .relaxed).newValue
        check(runs <= note?.mostRuns ?? 1, "G2: the body of n\(id) has begun \(runs) times")
        check(!record.attempts.isOver.load(ordering: .relaxed), "G21: n\(id) runs again after a cancellation")
        let last = record.attempts.last.exchange(attempt, ordering: .relaxed)
        let isNext = attempt == last + 1 || attempt == 1 && note?.repetition != nil
        check(isNext, "G21: attempt \(attempt) of n\(id) began after attempt \(last)")
        // No body waits any more for operations that an earlier attempt has started.
        if runs > 1 { record.waits.store(0, ordering: .relaxed) }
    }

    func attemptEnded(_ id: Int, _ operation: AnyOperation) {
        if operation.isCancelled { nodes[id].attempts.isOver.store(true, ordering: .relaxed) }
    }

    /// - Returns: The number of earlier failures.
    @discardableResult
    func wasAsked(_ id: Int, failures: Int?) -> Int {
        let expected = nodes[id].attempts.last.load(ordering: .relaxed) - 1
        check(failures ?? expected == expected, "G21: n\(id) is asked about failure \(failures!), not \(expected)")
        // The predicate of an operation that was cancelled meanwhile may see the cancellation.
        check(!Task.isCancelled || !isSeeded || hasReason(id), "G16: the predicate of n\(id) is cancelled")
        return expected
    }

    private func hasReason(_ id: Int) -> Bool {
        nodes[id].cancels.withLock { !$0.isEmpty } || !graph.isExact
    }
}
