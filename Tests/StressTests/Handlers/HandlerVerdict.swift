import Baton
import Synchronization

/// Checks that every handler and hook was called as often as it should have been.
extension Verdict {
    func checkHandlers(_ node: Node, _ end: Round.End) {
        let record = recorder.nodes[node.id].handlers
        let (lastSteps, calls) = (
            record.lastStepsAdded.load(ordering: .relaxed), record.lastStepsCalled.load(ordering: .relaxed)
        )
        recorder.check(
            lastSteps == calls, "G28: \(calls) of \(lastSteps) willFinish handlers of n\(node.id) were called")
        let decided = record.decided.withLock { $0 }
        recorder.check(
            decided == nil || decided == end.outcome, "G1: n\(node.id) was \(decided!), and is \(end.outcome)")

        let tellers = record.tellersAdded.load(ordering: .relaxed)
        let cancels = record.cancelsTold.load(ordering: .relaxed)
        let isTold = end.isCancelled ? tellers : 0
        // A limit may have cancelled the operation although it ended with another outcome.
        let isSure = end.history != nil || node.shortLimits.isEmpty
        recorder.check(
            cancels == isTold || !isSure, "G28: \(cancels) of \(isTold) didCancel handlers of n\(node.id) were called")
        let starts = record.startsTold.load(ordering: .relaxed)
        let hooked = record.hooked.load(ordering: .relaxed)
        if let hasRun = hasRun(node, end) {
            let due = hasRun ? tellers : 0
            recorder.check(starts == due, "G28: \(starts) of \(due) didStart handlers of n\(node.id) were called")
            let runs = node.isBodyless ? 1 : recorder.nodes[node.id].starts.load(ordering: .relaxed)
            let hooks = hasRun && graph.hasHooks ? runs : 0
            recorder.check(hooked == hooks, "the hook around n\(node.id) was called \(hooked) times, not \(hooks)")
        }

        let (received, produced) = (
            record.productsTold.load(ordering: .relaxed), record.produced.load(ordering: .relaxed)
        )
        let isCounted = graph.isExact || recorder.isSeeded
        recorder.check(
            isCounted ? received == produced : received <= produced,
            "n\(node.id) received \(received) of \(produced) products")
    }

    /// Returns nil if it is not known, because the node has no body of its own and was cancelled.
    private func hasRun(_ node: Node, _ end: Round.End) -> Bool? {
        if !node.isBodyless { return recorder.nodes[node.id].starts.load(ordering: .relaxed) > 0 }
        switch end.outcome {
        case .value, .threw, .threwOn, .conditionThrew, .consentThrew, .groupFailed: return true
        case .dependencyFailed, .queueReleased, .queueShutDown, .skipped, .skippedByCondition, .conditionFailed,
            .exclusionDeadlock, .duplicate, .cycle:
            return false
        case .cancelled, .timedOut, .other: return nil
        }
    }
}
