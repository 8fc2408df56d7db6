extension OperationError: CustomStringConvertible {
    /// One line that says what happened, which other operation is to blame, and what to do about it.
    ///
    /// Line breaks and control characters of names and errors are replaced by spaces. The text stays readable, however
    /// much the error contains. It lists only the first few of many failures, and both ends of a long cycle. Of many
    /// nested errors it tells the outermost ones and the root.
    public var description: String {
        ErrorText.describing {
            let depth = NestedErrors.depth(of: self)
            if depth <= ErrorText.toldDepth { return text }
            let left = depth - ErrorText.toldDepth
            let rest = left == 1 ? "1 error in between is" : "\(left) errors in between are"
            return "\(NestedErrors.truncated(self, to: ErrorText.toldDepth).text) (\(rest) left out)"
        }
    }

    private var text: String {
        switch self {
        case .failed(let error):
            "\(error)"
        case .cancelled(let reason):
            "cancelled \(reason)"
        case .timedOut(let limit, let wait):
            "timed out after \(limit)\(wait.map { ", while it waited for \($0)" } ?? "")"
        case .conditionFailed(let condition, let cause):
            "the condition ‘\(condition)’ failed: \(cause)"
        case .dependencyFailed(let source, let via, let cause):
            "needs the output of \(via)\(source == via ? "" : ", which needs that of \(source)"), which has none: "
                + "\(cause)"
                + (via.readerRetriesOnlyItself
                    ? ". Its retry is for its own body, and does not run \(source) again" : "")
        case .dependencyCycle(let path):
            "waits for itself: \(Self.chain(path)). \(CycleAdvice.text(for: path))"
        case .skipped(let reason):
            "\(reason)"
        case .groupFailed(let failures) where failures.isEmpty:
            "has no child that could succeed"
        case .groupFailed(let failures):
            "\(ErrorText.roots(of: failures).count) of the group failed: \(ErrorText.list(failures))"
        case .inputMissing:
            "has no input: none was given, or the output that was to be unwrapped is nil"
        case .callbackDropped:
            "dropped its callback without calling it. Call `finish` exactly once on every path"
        case .queueReleased:
            "its queue was released while suspended. Keep the queue until its work is done"
        case .queueShutDown:
            "its queue had been shut down. Add it before, or to another queue"
        case .exclusionDeadlock(let path):
            DeadlockText.text(for: path)
        case .misuse(let misuse):
            "misuse: \(misuse)"
        }
    }

    /// The names of the members of a cycle, which ends with the first one.
    static func chain(_ path: [OperationReference]) -> String {
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

    /// How many descriptions may be nested. A user's error may contain one of Baton's, which contains one of the
    /// user's, and so on.
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

/// Advice on how to remove a cycle.
private enum CycleAdvice {
    static func text(for path: [OperationReference]) -> String {
        func first(where isWanted: (CycleLink) -> Bool) -> Int? { path.firstIndex { isWanted($0.cycleLink) } }
        func next(_ place: Int) -> OperationReference { path[place + 1 == path.count ? 0 : place + 1] }
        // A key is named first: another key removes the cycle whatever the other links are.
        let isOther = { (link: CycleLink) in link != .dependency && link != .order }
        guard
            let place = first(where: { $0 == .key }) ?? first(where: { $0 == .peer }) ?? first(where: isOther)
                ?? first(where: { $0 == .order })
        else { return "Remove one of these dependencies" }
        let (member, awaited) = (path[place], next(place))
        switch member.cycleLink {
        // Only deadlocks of exclusions go through the width of a group.
        case .dependency, .width: return "Remove one of these dependencies"
        case .order: return "Remove one of these dependencies, or change the order of the group"
        case .key: return "\(member) has the same key as \(awaited), and waits for it: give one of them another key"
        case .child: return "Take \(awaited) out of the group \(member), or remove a dependency"
        case .body: return wait(in: "body", of: member, for: awaited)
        case .peer: return "\(awaited) has to begin before \(member) ends: remove what makes it wait for that end"
        case .condition: return "Let no condition of \(member) await or bring along \(awaited)"
        case .handler: return wait(in: "handler", of: member, for: awaited)
        case .barrier:
            // The barrier waits behind a fence, too. The operation before it on the path was added after it.
            let isFirst = { (place: Int) in
                path[place].cycleLink == .barrier && path[place == 0 ? path.count - 1 : place - 1].cycleLink != .barrier
            }
            let late = path.indices.first(where: isFirst).map { path[$0] } ?? member
            return "A barrier waits for everything that was added before it: add \(late) before the barrier, "
                + "or remove a dependency"
        }
    }

    private static func wait(
        in code: String, of member: OperationReference, for awaited: OperationReference
    ) -> String {
        if member == awaited { return "Do not await \(awaited) in its own \(code)" }
        return "Do not await \(awaited) in the \(code) of \(member): "
            + "an operation that depends on both can use its output"
    }
}

/// The description of a deadlock, with advice on how to avoid it.
private enum DeadlockText {
    static func text(for path: [OperationReference]) -> String {
        let chain = OperationError.chain(path)
        if let first = path.first, case .width(let group, let width) = first.cycleLink {
            let holder = path.count > 1 ? path[1] : first
            return "waits for its turn in the group \(group), which runs \(ExclusionText.children(width)) at a time, "
                + "and what runs there waits for it: \(chain). Let \(holder) depend on what it awaits, so that it "
                + "starts later, or raise the `maxConcurrentOperationCount` of the group"
        }
        let text =
            "waits for an exclusion whose holder waits for it: \(chain). Run it with `context.run` from the "
            + "body that holds that exclusion, or take all exclusions in one operation"
        for member in path {
            guard case .width(let group, let width) = member.cycleLink else { continue }
            return text + ". \(member) waits for its turn in the group \(group), which runs "
                + "\(ExclusionText.children(width)) at a time: a greater `maxConcurrentOperationCount` helps, too"
        }
        return text
    }
}

// MARK: - Texts on one line

extension String {
    /// The text on one line, without characters that control a terminal. Applied to names, errors and other text of the
    /// user's in lines that Baton writes.
    ///
    /// Line breaks and control characters become spaces. Characters that change the direction of the text after them
    /// are left out, because they would also reverse Baton's own words. All other characters stay, including the
    /// joiners of emoji.
    ///
    /// - Complexity: O(*n*), where *n* is the length of the text. A text without such characters is returned unchanged.
    package var singleLine: String {
        if unicodeScalars.allSatisfy({ $0.effect == .none }) { return self }
        var line = String.UnicodeScalarView()
        var isAfterReturn = false
        for scalar in unicodeScalars {
            switch scalar.effect {
            case .none: line.append(scalar)
            // A carriage return and the line feed after it are one line break.
            case .control where !(isAfterReturn && scalar == "\n"): line.append(" ")
            case .control, .direction: break
            }
            isAfterReturn = scalar == "\r"
        }
        return String(line)
    }
}

extension String {
    /// The text with each of its lines as ``singleLine``. Applied to texts of several lines, such as the output of a
    /// program.
    package var cleanLines: String {
        if !unicodeScalars.contains(where: { $0.effect != .none }) { return self }
        return split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { String($0).singleLine }
            .joined(separator: "\n")
    }
}

extension Unicode.Scalar {
    fileprivate enum Effect {
        case none, control, direction
    }

    /// The effect, by ranges that Unicode guarantees never to change: the general categories Cc, Zl and Zp, and the
    /// property Bidi_Control.
    fileprivate var effect: Effect {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F, 0x2028, 0x2029: .control
        case 0x61C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: .direction
        default: .none
        }
    }
}
