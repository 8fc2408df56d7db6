import Baton

/// The error that a retry predicate throws.
struct ConsentThrown: Error {
    let by: Int
    let token: Token
}

/// The retries and repetitions of a node, whose closures report to the recorder. None of these closures retains the
/// operation.
extension OperationFactory {
    static func addTimes(to operation: AnyOperation, _ node: Node, at site: Site) {
        if let limit = node.limits.attempt { operation.timeout(limit) }
        if let limit = node.limits.waiting { operation.timeout(waiting: limit) }
        guard let note = node.attempts else { return }
        if let repetition = note.repetition {
            repeats(operation as! AsyncOperation<Value>, repetition, node, at: site)
        }
        if let attempts = note.attempts { retries(operation, note, attempts, node, at: site) }
    }

    private static func retries(
        _ operation: AnyOperation, _ note: AttemptNote, _ attempts: Int, _ node: Node, at site: Site
    ) {
        let (recorder, id) = (site.recorder, node.id)
        let token = Token(recorder.census)
        let backoff: Backoff =
            switch note.backoff {
            case .immediately: .immediately
            case .constant(let delay): .constant(delay)
            case .exponential(let delay): .exponential(from: delay)
            case .honoring(let delay): .constant(.seconds(1)).honoring { _ in withExtendedLifetime(token) { delay } }
            }
        if note.asksAlone {
            operation.retryOnFailure { failures, _ in
                recorder.wasAsked(id, failures: failures)
                return failures + 1 < attempts ? try await consents(failures, note, id, token, recorder) : false
            }
        } else if case .always = note.consent, !note.asksSlowly {
            operation.retry(backoff, attempts: attempts, deadline: note.deadline)
        } else {
            operation.retry(backoff, attempts: attempts, deadline: note.deadline) { _ in
                let failures = recorder.wasAsked(id, failures: nil)
                return try await consents(failures, note, id, token, recorder)
            }
        }
    }

    private static func consents(
        _ failures: Int, _ note: AttemptNote, _ id: Int, _ token: Token, _ recorder: RunRecorder
    ) async throws -> Bool {
        if note.asksSlowly { for _ in 0...id % 3 { await Task.yield() } }
        recorder.check(recorder.nodes[id].isBetweenRuns, "G2: n\(id) runs while it is asked whether to run again")
        switch note.consent {
        case .always: return true
        case .no(let from): return failures < from
        case .throwing(failures): throw ConsentThrown(by: id, token: token)
        case .throwing: return true
        }
    }

    private static func repeats(
        _ operation: AsyncOperation<Value>, _ note: RepetitionNote, _ node: Node, at site: Site
    ) {
        let (recorder, id) = (site.recorder, node.id)
        let token = Token(recorder.census)
        operation.repeat(every: note.interval, count: note.count) { _ in
            if id.isMultiple(of: 3) { await Task.yield() }
            recorder.check(recorder.nodes[id].isBetweenRuns, "G2: n\(id) runs while it is asked whether it is done")
            let isDone = withExtendedLifetime(token) { recorder.nodes[id].attempts.runsDone() >= note.isDoneAfter }
            return isDone
        }
    }
}
