import Baton

/// The dependency policies and inputs that are checked before a body runs.
extension Model {
    /// The table of G5, written out.
    private static func isMet(_ policy: DependencyPolicy, by outcome: OperationOutcome) -> Bool {
        let table: [DependencyPolicy: Set<OperationOutcome>] = [
            .success: [.success], .noFailure: [.success, .skipped], .failure: [.failure],
            .always: [.success, .failure, .cancelled, .skipped],
        ]
        return table[policy]!.contains(outcome)
    }

    /// Returns the outcome that prevents the body from running, if any. Policies come first, in the order in which
    /// they were added, then inputs.
    func obstacle(_ node: Node, _ known: (Int) -> Outcome) -> Outcome? {
        for edge in node.allOrder {
            let outcome = known(edge.source)
            if edge.policy == .noFailure, let first = outcome.earlierFailure { return first }
            if !Self.isMet(edge.policy, by: outcome.kind) { return .skipped(by: edge.source, outcome.kind) }
        }
        switch node.inputUse {
        case .outcomes, .withDefault, .recovering: return nil
        case .values, .combined, .delayed:
            let failed = node.inputs.first { known($0).number == nil }
            return failed.map { known($0).passedOn(by: $0) }
        }
    }

    /// Returns the numbers that the body mixes into its hash, one for each input in order.
    func inputNumbers(of node: Node, _ known: (Int) -> Outcome) -> [UInt64?] {
        node.inputs.map { known($0).number ?? (node.inputUse == .withDefault ? InputUse.defaultNumber : nil) }
    }
}

extension Outcome {
    /// The outcome without its values.
    var kind: OperationOutcome {
        switch self {
        case .value: .success
        case .threw, .threwOn, .dependencyFailed, .queueReleased, .queueShutDown, .conditionFailed, .conditionThrew,
            .groupFailed, .exclusionDeadlock, .timedOut, .consentThrew, .cycle, .other:
            .failure
        case .cancelled: .cancelled
        case .skipped, .skippedByCondition, .duplicate: .skipped
        }
    }
}

extension Outcome {
    /// The outcome that a dependent by `.noFailure` is skipped with, because an operation before this one had failed.
    fileprivate var earlierFailure: Outcome? {
        switch self {
        case .skipped(_, let kind): kind == .failure || kind == .cancelled ? self : nil
        case .dependencyFailed(let source, _, let cause): .skipped(by: source, cause.kind)
        default: nil
        }
    }
}
