import Baton
import Synchronization

/// Compares the end of a round with the model.
struct Verdict {
    let model: Model
    let recorder: RunRecorder
    let ends: [Round.End?]

    let planEnd: PlanEnd
    var graph: Graph { model.graph }

    func pronounce() {
        let predictions = graph.isExact ? model.predictions() : []
        let added = graph.isExact ? model.certainlyAdded(predictions) : []
        for node in graph.nodes {
            guard let end = ends[node.id] else {
                let mustBeThere = !node.isNested || added.contains(node.id)
                recorder.check(!mustBeThere, "G25: n\(node.id) has no outcome")
                recorder.check(starts(node.id) == 0, "G2: n\(node.id) was not added, and ran")
                continue
            }
            if graph.isExact {
                let expected = predictions[node.id]
                recorder.check(end.outcome == expected, "G6, G7: n\(node.id) is \(end.outcome), not \(expected)")
                let isCancelled = expected.kind == .cancelled
                let isAsExpected = end.isCancelled == isCancelled || !node.shortLimits.isEmpty
                recorder.check(isAsExpected, "G16: n\(node.id) was cancelled by nobody")
                // A time limit may have ended the repetitions early. If the operation was released, that is not known.
                let mayBeCut = !node.shortLimits.isEmpty && (end.isCancelled || end.history == nil)
                let isOpen = node.attempts?.repetition != nil && mayBeCut
                let course = isOpen ? nil : node.attempts.map { model.course(of: node, $0) { predictions[$0] } }
                checkAttempts(node, end, course)
                checkFresh(node)
            } else {
                judge(node, end)
            }
            checkNotes(node, end)
            checkHandlers(node, end)
        }
    }

    private func starts(_ id: Int) -> Int { recorder.nodes[id].starts.load(ordering: .relaxed) }

    private func checkNotes(_ node: Node, _ end: Round.End) {
        let record = recorder.nodes[node.id]
        recorder.saw(node.id, end.outcome)
        switch end.outcome {
        case .value, .threw, .threwOn, .consentThrew:
            recorder.check(
                node.isBodyless || starts(node.id) > 0, "G2: n\(node.id) ended without having run")
        // The operation waited for its next repetition, and its queue could not be resumed any more.
        case .queueReleased where node.attempts?.repetition != nil: break
        case .dependencyFailed, .queueReleased, .queueShutDown, .skipped:
            recorder.check(starts(node.id) == 0, "G6: n\(node.id) has run, and ended with \(end.outcome)")
        case .conditionFailed, .skippedByCondition:
            recorder.check(starts(node.id) == 0, "G11: n\(node.id) has run against its conditions")
        case .groupFailed: recorder.check(node.group != nil, "n\(node.id) is not a group")
        case .exclusionDeadlock(let first):
            recorder.check(first == node.id, "G13: the path of n\(node.id) begins with n\(first)")
            recorder.check(
                graph.holdersWait || graph.mayLackPermit(node.id),
                "G13: n\(node.id) ended because of a deadlock that there cannot be")
            // Each attempt acquires the exclusions again.
            let mayHaveRun = node.attempts != nil
            recorder.check(starts(node.id) == 0 || mayHaveRun, "G13: n\(node.id) has run, and waited for exclusions")
        case .timedOut:
            recorder.check(end.isCancelled, "G20: n\(node.id) has timed out, and was not cancelled")
        case .cancelled: recorder.check(end.isCancelled, "G16: n\(node.id) is cancelled and does not say so")
        case .duplicate, .cycle: recorder.violation("n\(node.id) ended with: \(end.outcome)")
        case .conditionThrew(let text), .other(let text): recorder.violation("n\(node.id) ended with: \(text)")
        }
        let calls = record.handlerCalls.load(ordering: .relaxed)
        let handlers = record.handlersAdded.load(ordering: .relaxed)
        recorder.check(calls == handlers, "G28: \(calls) of \(handlers) handlers of n\(node.id) were called")
        let phase = record.phase.load(ordering: .relaxed)
        recorder.check(phase == 0 || phase == 3, "G1: the last event of n\(node.id) is \(phase)")
    }

    /// Checks the outcomes of the operations that the node's conditions have brought along.
    private func checkFresh(_ node: Node) {
        let fresh = recorder.nodes[node.id].conditions.fresh.withLock { $0 }
        for leaf in node.conditions.flatMap(\.shape.leaves) {
            guard case .fresh(let note) = leaf.brought, let outcome = fresh[leaf.id] else { continue }
            let expected = model.prediction(note, of: leaf)
            recorder.check(outcome == expected, "G11: what \(leaf.name) brought along is \(outcome), not \(expected)")
        }
    }

    // MARK: With cancellation

    private func judge(_ node: Node, _ end: Round.End) {
        let reasons = end.isCancelled ? reasonsToCancel(node.id) : []
        recorder.check(!end.isCancelled || !reasons.isEmpty, "G16: n\(node.id) was cancelled by nobody")
        let known = { (id: Int) in ends[id]?.outcome ?? .other("nothing") }
        let fresh = recorder.nodes[node.id].conditions.fresh.withLock { $0 }
        let refusals = model.refusals(node, known) { leaf, _ in fresh[leaf.id] ?? .other("nothing") }
        let limited = model.obstacle(node, known) == nil ? model.outcomesWithLimits(node, known) : []
        let expected = model.expected(node, known, refusals: refusals, isAccepted) + limited
        let course = node.attempts.map { model.course(of: node, $0, known) }
        checkAttempts(node, end, node.mayBeCut || end.outcome.number == nil ? nil : course)
        if recorder.nodes[node.id].attempts.wasCancelled.load(ordering: .relaxed) {
            let isRight = end.outcome.number != nil || end.outcome.kind == .cancelled
            recorder.check(isRight, "G18: n\(node.id) was cancelled while it ran, and is \(end.outcome)")
        }
        switch end.outcome {
        case .cancelled(let reason):
            recorder.check(reasons.contains(reason), "G18: n\(node.id) was cancelled \(reason), not one of \(reasons)")
            if let decisive = recorder.nodes[node.id].decisiveReason.withLock({ $0 }) {
                recorder.check(reason == decisive, "G18: n\(node.id) was cancelled \(reason), not \(decisive)")
            }
        case .queueReleased:
            let queue = recorder.queue(of: node.id)
            let isReleased = graph.queues.indices.contains {
                graph.queues[$0].release == .suspended && (queue ?? $0) == $0
            }
            let isChild = recorder.nodes[node.id].isChild.load(ordering: .relaxed)
            recorder.check(!isChild, "G24: n\(node.id) is a child, and was not run because its queue was released")
            recorder.check(isReleased, "n\(node.id): its queue was not released while suspended")
        case .threw, .threwOn:
            // The body threw before the predicate was asked about another attempt, and the cancellation came
            // afterwards.
            let mayStand = !recorder.isSeeded || node.isAskedSlowly
            recorder.check(!end.isCancelled || mayStand, "G18: n\(node.id) threw after a cancellation: \(end.outcome)")
            recorder.check(expected.contains(end.outcome), "n\(node.id) is \(end.outcome), not one of \(expected)")
        case .queueShutDown: recorder.check(planEnd != .idle, "n\(node.id): its queue was not shut down")
        case .exclusionDeadlock: break
        case .timedOut(let limit):
            recorder.check(node.shortLimits.contains(limit), "G20: n\(node.id) has timed out after \(limit)")
        case .value, .dependencyFailed, .skipped, .skippedByCondition, .conditionFailed, .conditionThrew, .groupFailed,
            .consentThrew, .duplicate, .cycle, .other:
            recorder.check(expected.contains(end.outcome), "n\(node.id) is \(end.outcome), not one of \(expected)")
        }
    }

    /// Returns the reasons of all cancellations that can have reached the node.
    private func reasonsToCancel(_ id: Int) -> [Outcome.Reason] {
        var reasons = recorder.nodes[id].cancels.withLock { $0 }
        let queue = recorder.queue(of: id)
        for (index, record) in recorder.queues.enumerated() where record.isCancelled.load(ordering: .relaxed) {
            if (queue ?? index) == index { reasons.append(.queue) }
        }
        reasons += graph.nodes[id].shortLimits.map { .timeout($0) }
        if recorder.nodes[id].isGivenUp.load(ordering: .relaxed) { reasons.append(.caller) }
        reasons += parentCancellationReasons(id)
        for other in graph.nodes {
            if recorder.nodes[other.id].isTakenBack.load(ordering: .relaxed), model.upstream(of: other.id).contains(id)
            {
                reasons.append(.caller)
            }
            // A time limit may have cancelled an attempt that another attempt followed.
            let isCancelled = ends[other.id]?.isCancelled ?? false || other.limits.attempt != nil
            for condition in other.conditions where condition.shape.leaves.contains(where: { $0.broughtNode == id }) {
                // Two operations that are brought along together are children of a group that is not a node. That group
                // can end by itself when it requests exclusions.
                if condition.shape.isPair, isCancelled || graph.holdersWait { reasons.append(.parent(-1)) }
                if isCancelled { reasons.append(.parent(other.id)) }
            }
            for step in other.steps where isCancelled || hasFailed(step) {
                if !step.children.contains(where: { model.upstream(of: $0).contains(id) }) { continue }
                reasons.append(.parent(other.id))
                if case .run(_, let way, _) = step, way.isByTheQueue { reasons.append(.caller) }
            }
        }
        return reasons
    }

    /// Returns true if the step is a task group that cancels its other children because one has failed.
    private func hasFailed(_ step: Step) -> Bool {
        guard case .run(let children, .failingGroup, _) = step else { return false }
        return children.contains { ends[$0]?.outcome.number == nil }
    }
}
