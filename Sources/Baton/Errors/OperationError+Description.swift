extension OperationError: CustomStringConvertible {
    /// What happened, to which operation where another one is to blame, and what to do where something can be done. On one line: line
    /// breaks and control characters of names and errors are spaces.
    public var description: String { text.singleLine }

    private var text: String {
        switch self {
        case .failed(let error):
            "\(error)"
        case .cancelled(let reason):
            "cancelled \(reason)"
        case .timedOut(let limit):
            "timed out after \(limit)"
        case .conditionFailed(let condition, let cause):
            "the condition ‘\(condition)’ failed: \(cause)"
        case .dependencyFailed(let source, let via, let cause):
            "needs the output of \(via)\(source == via ? "" : ", which needs that of \(source)"), which has none: \(cause)"
        case .dependencyCycle(let path):
            "waits for itself: \(Self.chain(path)). Remove one of these dependencies"
        case .skipped(.edge(let source, let outcome)):
            "skipped, because \(source) ended with \(outcome)"
        case .skipped(.condition(let text)):
            "skipped by a condition: \(text)"
        case .skipped(.duplicate(let other)):
            "skipped, because \(other) does the same already"
        case .groupFailed(let failures) where failures.isEmpty:
            "has no child that could succeed"
        case .groupFailed(let failures):
            "\(failures.count) of the group failed: "
                + failures.map { "\($0.operation): \($0.error)" }.joined(separator: "; ")
        case .inputMissing:
            "has no input: none was given, and no dependency has one"
        case .callbackDropped:
            "dropped its callback without calling it. Call `finish` exactly once on every path"
        case .queueReleased:
            "its queue was released while suspended. Keep the queue until its work is done"
        case .queueShutDown:
            "its queue had been shut down. Add it before, or to another queue"
        case .exclusionDeadlock(let path):
            "waits for an exclusion whose holder waits for it: \(Self.chain(path)). Let what runs it hold that exclusion, too"
        case .misuse(let misuse):
            "misuse: \(misuse)"
        }
    }

    private static func chain(_ path: [OperationReference]) -> String {
        (path + path.prefix(1)).map(\.description).joined(separator: " → ")
    }
}
