import Baton
import Synchronization

extension Verdict {
    /// Checks the number of attempts, and their history.
    func checkAttempts(_ node: Node, _ end: Round.End, _ course: Model.Course?) {
        let record = recorder.nodes[node.id]
        let (runs, last) = (
            record.starts.load(ordering: .relaxed), record.attempts.last.load(ordering: .relaxed)
        )
        if let course, runs > 0, !end.isCancelled || graph.isExact {
            recorder.check(runs == course.runs, "G21: the body of n\(node.id) ran \(runs) times, not \(course.runs)")
        }
        guard let history = end.history, !node.isBodyless else { return }
        // The history starts again with each repetition. Acquiring exclusions for the next repetition, or the release
        // of the queue, may end the operation between two repetitions.
        let endsBetween =
            switch end.outcome {
            case .exclusionDeadlock, .queueReleased: true
            default: end.isCancelled
            }
        let isBetween = history.isEmpty && node.attempts?.repetition != nil && endsBetween
        recorder.check(
            history.count == last || isBetween, "G21: n\(node.id) tells of \(history.count) attempts, and \(last) began"
        )
        for (place, attempt) in history.enumerated() {
            recorder.check(attempt.number == place + 1, "G21: attempt \(attempt.number) of n\(node.id) is no. \(place)")
            let error = attempt.error
            if let delay = attempt.delay {
                let expected = node.attempts?.delay(after: place + 1)
                recorder.check(error != nil, "G21: n\(node.id) was retried without an error")
                recorder.check(delay == expected, "G21: n\(node.id) waited \(delay), and not \(expected ?? .zero)")
            } else {
                let isLast = place == history.count - 1 && (error == nil) == (end.outcome.number != nil)
                recorder.check(isLast, "G21: attempt \(place + 1) of n\(node.id) was not the last")
                let isOutcome = error == nil || error == end.outcome
                recorder.check(
                    isOutcome, "G1, G21: the last attempt of n\(node.id) is \(error!), and it is \(end.outcome)")
            }
        }
    }
}
