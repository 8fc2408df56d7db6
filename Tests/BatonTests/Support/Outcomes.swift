@testable import Baton

extension AnyOperation {
    /// The outcome in a few words, for comparisons: "success", "failed: oops", "cancelled on request", "needs a via b:
    /// failed: oops", "cycle a b c", or the state if there is no outcome yet.
    var ending: String {
        guard hasFinished else { return "\(state)" }
        return failure?.inShort ?? "success"
    }
}

extension OperationError {
    var inShort: String {
        switch self {
        case .failed(let error): "failed: \(error)"
        case .cancelled(let reason): "cancelled \(reason)"
        case .dependencyFailed(let source, let via, let cause): "needs \(source.name) via \(via.name): \(cause.inShort)"
        case .dependencyCycle(let path): "cycle " + path.map(\.name).joined(separator: " ")
        case .conditionFailed(let condition, let cause):
            "condition \(condition): \(Self.inShort(cause))"
        case .skipped(.condition(let text)): "skipped: \(text)"
        case .exclusionDeadlock(let path): "deadlock " + path.map(\.name).joined(separator: " ")
        case .groupFailed(let failures):
            "group: " + failures.map { "\($0.operation.name) \($0.error.inShort)" }.joined(separator: "; ")
        case .queueReleased: "queueReleased"
        case .queueShutDown: "queueShutDown"
        case .misuse(let misuse): "misuse: \(misuse.kind)"
        default: "\(self)"
        }
    }

    private static func inShort(_ cause: any Error) -> String {
        guard let error = cause as? OperationError else { return "\(cause)" }
        return error.underlyingError.map { "\($0)" } ?? error.inShort
    }

    /// The names on the cycle, beginning with the smallest, so that the result does not depend on where the search
    /// began.
    var cycleNames: [String]? {
        guard case .dependencyCycle(let path) = self else { return nil }
        let names = path.map(\.name)
        guard let first = names.indices.min(by: { names[$0] < names[$1] }) else { return [] }
        return Array(names[first...] + names[..<first])
    }
}
