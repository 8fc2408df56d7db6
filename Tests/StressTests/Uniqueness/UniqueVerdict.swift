import Baton
import Synchronization

extension UniqueRound {
    /// Compares the end of the round with the permitted outcomes.
    func judge(seed: UInt64) async throws {
        let outcomes = outcomes.withLock { $0 }
        for node in plan.nodes {
            guard let outcome = outcomes[node.id] else {
                ledger.check(node.isNested, "G25: n\(node.id) has no outcome")
                continue
            }
            if ledger.runs(node.id) > 0 {
                judge(runner: node, outcome, as: node)
            } else {
                judge(node, outcome, outcomes)
            }
            judge(node, outcome, entrance: outcomes)
        }
        letGo()
        let deadline = ContinuousClock.now + .seconds(30)
        while ledger.census.living > 0, ContinuousClock.now < deadline { try await Task.sleep(for: .microseconds(200)) }
        ledger.check(ledger.census.living == 0, "G31: \(ledger.census.living) tokens are left")
        if !ledger.faults.isEmpty { throw StressFailure(seed: seed, faults: ledger.faults) }
    }

    /// Releases all operations. This is a separate function, because a debug build releases local values at the end of
    /// a function.
    private func letGo() {
        let all = sources.withLock { sources in
            defer { sources = [:] }
            return sources
        }
        withExtendedLifetime(all) {}
        ledger.letGo()
    }

    /// Judges the outcome of an operation whose body has run. `other` is that operation, or one that has joined it.
    private func judge(runner node: UniqueNode, _ outcome: Outcome, as other: UniqueNode) {
        switch outcome {
        case .value(UInt64(node.id)):
            ledger.check(
                ledger.runs(node.id) == node.failures + 1, "G21: n\(node.id) has a value after too few attempts")
        case .threw(node.id):
            ledger.check(node.throwsAtTheEnd, "n\(other.id) threw what n\(node.id) does not throw")
            ledger.check(ledger.runs(node.id) == node.failures + 1, "G21: n\(node.id) threw after too few attempts")
        case .cancelled(let reason): judge(node, cancelled: reason)
        default: ledger.check(false, "n\(other.id) is \(outcome), and n\(node.id) has run")
        }
    }

    /// Judges the outcome of an operation whose body has not run.
    private func judge(_ node: UniqueNode, _ outcome: Outcome, _ outcomes: [Outcome?]) {
        switch outcome {
        case .value(let number): joined(node, Int(number), outcome)
        case .threw(let number): joined(node, number, outcome)
        case .duplicate(let other):
            let isDue = node.policy == .reject && node.key != nil && node.key == plan.nodes[other].key
            ledger.check(isDue && other != node.id, "n\(node.id) is not a duplicate of n\(other)")
        case .cancelled(let reason): judge(node, cancelled: reason)
        case .dependencyFailed(_, let via, _):
            let isDue = kin(of: node).contains { $0.input == via && outcomes[via]?.number == nil }
            ledger.check(isDue, "G6: n\(node.id) did not need n\(via)")
        case .timedOut(let limit):
            let isDue = kin(of: node).contains { $0.waitingLimit == limit }
            ledger.check(isDue, "G20: n\(node.id) had no limit of \(limit)")
        case .cycle: ledger.check(plan.mayBeInCycle(node.id), "G8: n\(node.id) is in no cycle")
        default: ledger.check(false, "n\(node.id) is \(outcome)")
        }
    }

    private func joined(_ node: UniqueNode, _ other: Int, _ outcome: Outcome) {
        let original = plan.nodes[other]
        let hasJoined = node.policy == .join && node.key != nil && node.key == original.key && other != node.id
        ledger.check(hasJoined, "n\(node.id) has not run, and ended as n\(other)")
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
            ledger.check(isDue && newer != node.id, "n\(node.id) cannot have been replaced by n\(newer)")
        case .parent(let parent):
            let isDue = kin(of: node).contains { child in
                plan.nodes[parent].steps.contains {
                    if case .run(let run) = $0 { plan.needs(run, child.id) } else { false }
                }
            }
            ledger.check(isDue, "n\(node.id) was not run by n\(parent)")
        case .caller:
            // A cancelled `run` cancels everything that it has added.
            let callers = plan.nodes.filter { ledger.reasons($0.id).contains(.caller) }
            let isDue = kin(of: node).contains { kin in callers.contains { plan.needs($0.id, kin.id) } }
            ledger.check(isDue, "G16: n\(node.id) was taken back by nobody")
        default:
            let isDue = kin(of: node).contains { ledger.reasons($0.id).contains(reason) }
            ledger.check(isDue, "G16: n\(node.id) was cancelled \(reason) by nobody")
        }
    }

    /// The node itself, and the nodes that it may have joined.
    private func kin(of node: UniqueNode) -> [UniqueNode] {
        if node.key == nil || node.policy != .join { return [node] }
        return plan.nodes.filter { $0.id == node.id || $0.key == node.key }
    }

    /// Judges an outcome for which the effect of the add is known.
    private func judge(_ node: UniqueNode, _ outcome: Outcome, entrance outcomes: [Outcome?]) {
        guard let entrance = ledger.entrance(node.id) else { return }
        let source = sources.withLock { $0[node.id] }
        switch entrance {
        case .enters, .replaces: break
        case .isRejected:
            ledger.check(source?.state ?? .created == .created, "n\(node.id) was rejected, and its source was added")
        case .joins(let original):
            ledger.check(source?.state ?? .created == .created, "n\(node.id) has joined, and its source was added")
            ledger.check(ledger.runs(node.id) == 0, "n\(node.id) has joined n\(original), and ran")
            if outcome == outcomes[original] || outcome == .cycle { return }
            let isOwn = if case .cancelled(let reason) = outcome { mayBeOwn(reason, node) } else { false }
            ledger.check(isOwn, "n\(node.id) is \(outcome), and has joined n\(original): \(outcomes[original]!)")
        }
    }

    private func mayBeOwn(_ reason: Outcome.Reason, _ node: UniqueNode) -> Bool {
        if case .parent = reason { return true }
        return ledger.reasons(node.id).contains(reason)
    }
}
