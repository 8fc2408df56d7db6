extension OperationError: CustomStringConvertible {
    /// One line that says what happened, which other operation is to blame, and what to do about it.
    ///
    /// Line breaks and control characters of names and errors are replaced by spaces. The text stays readable, however
    /// much the error contains. It lists only the first few of many failures, and both ends of a long cycle. Of many
    /// nested errors it tells the outermost ones and the root.
    public var description: String {
        ErrorText.describing {
            let depth = ErrorNesting.depth(of: self)
            if depth <= ErrorText.toldDepth { return text }
            let left = depth - ErrorText.toldDepth
            return
                "\(ErrorNesting.truncated(self, to: ErrorText.toldDepth).text) (\(left) errors in between are left out)"
        }
    }

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
                + (via.readerRetriesOnlyItself
                    ? ". Its retry is for its own body, and does not run \(source) again" : "")
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
            "\(ErrorText.roots(of: failures).count) of the group failed: \(ErrorText.list(failures))"
        case .inputMissing:
            "has no input: none was given, and no dependency has one"
        case .callbackDropped:
            "dropped its callback without calling it. Call `finish` exactly once on every path"
        case .queueReleased:
            "its queue was released while suspended. Keep the queue until its work is done"
        case .queueShutDown:
            "its queue had been shut down. Add it before, or to another queue"
        case .exclusionDeadlock(let path):
            "waits for an exclusion whose holder waits for it: \(Self.chain(path)). "
                + "Run it with `context.run` from the body that holds that exclusion, or take all exclusions in one operation"
        case .misuse(let misuse):
            "misuse: \(misuse)"
        }
    }

    private static func chain(_ path: [OperationReference]) -> String {
        var names =
            (path.prefix(ErrorText.listed) + path.suffix(max(0, min(ErrorText.listed, path.count - ErrorText.listed))))
            .map(\.description)
        let more = path.count - names.count
        if more > 0 { names.insert("(\(more) more)", at: ErrorText.listed) }
        return (names + path.prefix(1).map(\.description)).joined(separator: " → ")
    }
}

/// Builds the descriptions of errors that contain other errors.
enum ErrorText {
    /// How many nested errors a description tells: the outermost ones and the root.
    static let toldDepth = 5

    /// How many failures a description lists, and how many operations at each end of a cycle.
    static let listed = 5

    /// How many descriptions may be nested. An error of the user's may contain one of Baton's, which contains one of
    /// the user's, and so on.
    private static let maxDepth = 20

    @TaskLocal private static var depth = 0

    static func describing(_ text: () -> String) -> String {
        if depth >= maxDepth { return "…" }
        return $depth.withValue(depth + 1) { text().singleLine }
    }

    /// Returns the failures that caused the others. It leaves out operations that did not run because another operation
    /// of the list has failed.
    static func roots(of failures: [OperationFailure]) -> [OperationFailure] {
        let failed = Set(failures.map(\.operation))
        return failures.filter { failure in
            switch failure.error {
            case .dependencyFailed(let source, _, _), .skipped(.edge(let source, _)):
                source == failure.operation || !failed.contains(source)
            case .failed, .cancelled, .timedOut, .conditionFailed, .dependencyCycle, .skipped(.condition),
                .skipped(.duplicate), .groupFailed, .inputMissing, .callbackDropped, .queueReleased, .queueShutDown,
                .exclusionDeadlock, .misuse:
                true
            }
        }
    }

    /// Lists the failures that caused the others, and counts the rest.
    static func list(_ failures: [OperationFailure]) -> String {
        let roots = roots(of: failures)
        var texts = roots.prefix(listed).map { "\($0.operation): \($0.error)" }
        if roots.count > listed { texts.append("and \(roots.count - listed) more") }
        let others = failures.count - roots.count
        if others > 0 { texts.append("\(others) did not run because of \(roots.count == 1 ? "it" : "them")") }
        return texts.joined(separator: "; ")
    }
}
