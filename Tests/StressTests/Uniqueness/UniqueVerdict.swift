import Baton
import Synchronization

extension UniqueRound {
    /// Compares the end of the round with the permitted outcomes.
    func judge(seed: UInt64) async throws {
        let outcomes = outcomes.withLock { $0 }
        for node in plan.nodes {
            guard let outcome = outcomes[node.id] else {
                recorder.check(node.isNested, "G25: n\(node.id) has no outcome")
                continue
            }
            if recorder.runs(node.id) > 0 {
                judge(runner: node, outcome, as: node)
            } else {
                judge(node, outcome, outcomes)
            }
            judge(node, outcome, entrance: outcomes)
        }
        letGo()
        let deadline = ContinuousClock.now + .seconds(30)
        while recorder.census.living > 0, ContinuousClock.now < deadline {
            try await Task.sleep(for: .microseconds(200))
        }
        recorder.check(recorder.census.living == 0, "G31: \(recorder.census.living) tokens are left")
        if !recorder.faults.isEmpty { throw StressFailure(seed: seed, faults: recorder.faults) }
    }

    /// Releases all operations. This is a separate function, because a debug build releases local values at the end of
    /// a function.
    private func letGo() {
        let all = sources.withLock { sources in
            defer { sources = [:] }
            return sources
        }
        withExtendedLifetime(all) {}
        recorder.letGo()
    }

    /// Judges the outcome of an operation whose body has run. `other` is that operation, or one that has joined it.
    private func judge(runner node: UniqueNode, _ outcome: Outcome, as other: UniqueNode) {
        switch outcome {
        case .value(UInt64(node.id)):
            recorder.check(
                recorder.runs(node.id) == node.failures + 1, "G21: n\(node.id) has a value after too few attempts")
        case .threw(node.id):
            recorder.check(node.throwsAtTheEnd, "n\(other.id) threw what n\(node.id) does not throw")
            recorder.check(recorder.runs(node.id) == node.failures + 1, "G21: n\(node.id) threw after too few attempts")
        case .cancelled(let reason): judge(node, cancelled: reason)
        default: recorder.check(false, "n\(other.id) is \(outcome), and n\(node.id) has run")
        }
    }

    /// Judges the outcome of an operation whose body has not run.
    private func judge(_ node: UniqueNode, _ outcome: Outcome, _ outcomes: [Outcome?]) {
        switch outcome {
        case .value(let number): joined(node, Int(number), outcome)
        case .threw(let number): joined(node, number, outcome)
        case .duplicate(let other):
            let isDue = node.policy == .reject && node.key != nil && node.key == plan.nodes[other].key
            recorder.check(isDue && other != node.id, "n\(node.id) is not a duplicate of n\(other)")
        case .cancelled(let reason): judge(node, cancelled: reason)
        case .dependencyFailed(_, let via, _):
            let isDue = kin(of: node).contains { $0.input == via && outcomes[via]?.number == nil }
            recorder.check(isDue, "G6: n\(node.id) did not need n\(via)")
        case .timedOut(let limit):
            let isDue = kin(of: node).contains { $0.waitingLimit == limit }
            recorder.check(isDue, "G20: n\(node.id) had no limit of \(limit)")
        case .cycle: recorder.check(plan.mayBeInCycle(node.id), "G8: n\(node.id) is in no cycle")
        default: recorder.check(false, "n\(node.id) is \(outcome)")
        }
    }

    private func joined(_ node: UniqueNode, _ other: Int, _ outcome: Outcome) {
        let original = plan.nodes[other]
        let hasJoined = node.policy == .join && node.key != nil && node.key == original.key && other != node.id
        recorder.check(hasJoined, "n\(node.id) has not run, and ended as n\(other)")
        if hasJoined { judge(runner: original, outcome, as: node) }
    }

    private func judge(_ node: UniqueNode, cancelled reason: Outcome.Reason) {
        switch reason {
        case .replaced(let newer):
            // The operation itself was replaced, or an operation that brought it along.
            let key = plan.nodes[newer].key
            let isDue =
                key != nil && plan.nodes[newer].policy == .replace
                && plan.nodes.contains { former in
                    former.key == key && kin(of: node).contains { former.id == $0.id || plan.needs(former.id, $0.id) }
                }
            recorder.check(isDue && newer != node.id, "n\(node.id) cannot have been replaced by n\(newer)")
        case .parent(let parent):
            let isDue = kin(of: node).contains { child in
                plan.nodes[parent].steps.contains {
                    if case .run(let run) = $0 { plan.needs(run, child.id) } else { false }
                }
            }
            recorder.check(isDue, "n\(node.id) was not run by n\(parent)")
        case .caller:
            // A cancelled `run` cancels everything that it has added.
            let callers = plan.nodes.filter { recorder.reasons($0.id).contains(.caller) }
            let isDue = kin(of: node).contains { kin in callers.contains { plan.needs($0.id, kin.id) } }
            recorder.check(isDue, "G16: n\(node.id) was taken back by nobody")
        default:
            let isDue = kin(of: node).contains { recorder.reasons($0.id).contains(reason) }
            recorder.check(isDue, "G16: n\(node.id) was cancelled \(reason) by nobody")
        }
    }

    /// The node itself, and the nodes that it may have joined.
    private func kin(of node: UniqueNode) -> [UniqueNode] {
        if node.key == nil || node.policy != .join { return [node] }
        return plan.nodes.filter { $0.id == node.id || $0.key == node.key }
    }

    /// Judges an outcome for which the effect of the add is known.
    private func judge(_ node: UniqueNode, _ outcome: Outcome, entrance outcomes: [Outcome?]) {
        guard let entrance = recorder.entrance(node.id) else { return }
        let source = sources.withLock { $0[node.id] }
        switch entrance {
        case .enters, .replaces: break
        case .isRejected:
            recorder.check(source?.state ?? .created == .created, "n\(node.id) was rejected, and its source was added")
        case .joins(let original):
            recorder.check(source?.state ?? .created == .created, "n\(node.id) has joined, and its source was added")
            recorder.check(recorder.runs(node.id) == 0, "n\(node.id) has joined n\(original), and ran")
            if outcome == outcomes[original] || outcome == .cycle { return }
            let isOwn = if case .cancelled(let reason) = outcome { mayBeOwn(reason, node) } else { false }
            recorder.check(isOwn, "n\(node.id) is \(outcome), and has joined n\(original): \(outcomes[original]!)")
        }
    }

    private func mayBeOwn(_ reason: Outcome.Reason, _ node: UniqueNode) -> Bool {
        if case .parent = reason { return true }
        return recorder.reasons(node.id).contains(reason)
    }
}
