extension OperationError: CustomStringConvertible {
    /// One line that says what happened, which other operation is to blame, and what to do about it.
    ///
    /// Line breaks and control characters of names and errors are replaced by spaces. The text stays readable, however
    /// much the error contains. It lists only the first few of many failures, and both ends of a long cycle. Of many
    /// nested errors it lists the outermost ones and the root.
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
        case .failed(let error as OperationError):
            ErrorText.text(ofAwaited: error)
        case .failed(let error):
            ErrorText.text(of: error)
        case .cancelled(let reason):
            "cancelled \(reason)"
        case .timedOut(let limit, let wait):
            "timed out after \(limit)\(wait.map { $0.isBlank ? "" : ", while it waited for \($0)" } ?? "")"
        case .conditionFailed(let condition, let cause):
            "\(ConditionText.phrase(for: condition)) failed: \(ErrorText.text(of: cause))"
        case .dependencyFailed(let source, let via, let cause) where via.isOfCondition:
            "its operation \(via) \(source == via ? "" : "has no output, because \(source) ")\(cause.predicate)"
        case .dependencyFailed(let source, let via, let cause):
            "needs the output of \(via)\(source == via ? "" : ", which needs that of \(source)"), which has none: "
                + "\(cause)"
                + (via.readerRunsOnlyItselfAgain.map {
                    ". Its \($0.rawValue) is for its own body, and does not run \(source) again"
                } ?? "")
        case .dependencyCycle(let path):
            "waits for itself: \(Self.chain(path)). \(CycleAdvice.text(for: path))"
        case .skipped(let reason):
            "\(reason)"
        case .groupFailed(let failures) where failures.isEmpty:
            "has no child that could succeed"
        case .groupFailed(let failures)
        where !failures[0].isOfGroupItself && failures.allSatisfy { $0.error.outcome == .skipped }:
            "has no child that could succeed: \(ErrorText.list(failures))"
        case .groupFailed(let failures):
            ErrorText.text(ofGroup: failures)
        case .inputMissing:
            "has no input: none was given, or the output that was to be unwrapped is nil"
        case .callbackDropped:
            "dropped its callback without calling it. Call `finish` exactly once on every path"
        case .queueReleased:
            "its queue was released while suspended. Keep the queue until its work is done"
        case .queueShutDown(let operation, let queue):
            "\(queue.map { "the queue \($0.quoted)" } ?? "its queue") had been shut down"
                + (operation.map { " before \($0) was added. Add it earlier, or to another queue" }
                    ?? ", and takes no more operations. Use another queue")
        case .exclusionDeadlock(let path):
            DeadlockText.text(for: path)
        case .misuse(let misuse):
            "misuse: \(misuse)"
        }
    }

    /// The error as the predicate of a sentence about its operation, such as "failed: the server said no".
    private var predicate: String {
        switch self {
        case .cancelled, .skipped: "was \(self)"
        case .timedOut: "\(self)"
        case .failed, .conditionFailed, .dependencyFailed, .dependencyCycle, .groupFailed, .inputMissing,
            .callbackDropped, .queueReleased, .queueShutDown, .exclusionDeadlock, .misuse:
            "failed: \(self)"
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
    /// The number of nested errors that a description lists: the outermost ones and the root.
    static let toldDepth = 5

    /// The number of failures that a description lists, and of operations at each end of a cycle.
    static let listed = 5

    /// The number of descriptions that may be nested. A user's error may contain one of Baton's, which contains one of
    /// the user's, and so on.
    private static let maxDepth = 20

    @TaskLocal private static var depth = 0

    /// The description of an error, or the name of its type if the description is blank.
    static func text(of error: any Error) -> String {
        let text = "\(error)"
        return text.isBlank ? "\(type(of: error))" : text
    }

    /// The description of an error with which a body has failed because another operation had ended with it. It says so
    /// if the text would otherwise read as if the operation of the body had been skipped or cancelled itself.
    fileprivate static func text(ofAwaited error: OperationError) -> String {
        switch error {
        case .skipped, .cancelled: "an operation that it awaited was \(error)"
        case .timedOut: "an operation that it awaited \(error)"
        default: "\(error)"
        }
    }

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

    /// Returns the text for the failures of a group. There is at least one.
    fileprivate static func text(ofGroup failures: [OperationFailure]) -> String {
        guard failures[0].isOfGroupItself else {
            return "\(roots(of: failures).count) of the group failed: \(list(failures))"
        }
        let children = Array(failures.dropFirst())
        let own = "the group itself failed: \(failures[0].error)"
        if children.isEmpty { return own }
        return "\(own); \(roots(of: children).count) of its children failed as well: \(list(children))"
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
        let isBehindBarrier = { (place: Int) in path[place].cycleLink == .body && next(place).cycleLink == .barrier }
        if !path.contains(where: { $0.cycleLink == .key }), let place = path.indices.first(where: isBehindBarrier) {
            return waitBehindBarrier(of: path[place], for: next(place), behind: path[(place + 2) % path.count])
        }
        // A key is named first: another key removes the cycle whatever the other links are.
        let isOther = { (link: CycleLink) in link != .dependency && link != .order }
        guard
            let place = first(where: { $0 == .key }) ?? first(where: { $0 == .peer })
                ?? first(where: { $0 == .dependencyOnParent }) ?? first(where: isOther)
                ?? first(where: { $0 == .order })
        else { return path.count == 1 ? "Remove this dependency" : "Remove one of these dependencies" }
        let (member, awaited) = (path[place], next(place))
        switch member.cycleLink {
        // Only deadlocks go through exclusions and the width of a group.
        case .dependency, .width, .exclusion: return "Remove one of these dependencies"
        case .order: return "Remove one of these dependencies, or change the order of the group"
        case .key: return "\(member) has the same key as \(awaited), and waits for it: give one of them another key"
        case .child:
            return "A group waits for its children: take \(awaited) out of the group \(member), or remove a dependency"
        case .dependencyOnChild:
            return "A group starts its children, and waits for them: remove the dependency of \(member) on its child "
                + "\(awaited)"
        case .dependencyOnParent:
            return "A group waits for its children: remove the dependency of \(member) on its group \(awaited)"
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

    /// A body awaits an operation that was added behind a barrier, which waits for the body.
    private static func waitBehindBarrier(
        of member: OperationReference, for awaited: OperationReference, behind barrier: OperationReference
    ) -> String {
        let wait = barrier == member ? "whose body awaits it" : "which waits for \(member)"
        return "\(awaited) was added behind the barrier \(barrier), \(wait): do not add it, but run it with "
            + "`context.run` in the body of \(member), which goes before the barrier"
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
        let waits = path.indices.compactMap { place in
            Wait(of: path[place], before: path[place + 1 == path.count ? 0 : place + 1])
        }
        let text =
            "waits for an exclusion whose holder waits for it: \(chain). "
            + "\(sentence(about: waits))\(advice(for: waits, on: path))"
        for member in path {
            guard case .width(let group, let width) = member.cycleLink else { continue }
            return text + ". \(member) waits for its turn in the group \(group), which runs "
                + "\(ExclusionText.children(width)) at a time: a greater `maxConcurrentOperationCount` helps, too"
        }
        return text
    }

    /// The wait of a member for an exclusion.
    private struct Wait {
        let member: OperationReference
        let name: String
        /// The next member of the cycle, if it is known to hold the exclusion.
        let holder: OperationReference?
        let isHeldByBody: Bool

        init?(of member: OperationReference, before next: OperationReference) {
            guard case .exclusion(let name, let isHeldByNext, let isNextBody) = member.cycleLink else { return nil }
            self.member = member
            self.name = name
            holder = isHeldByNext ? next : nil
            isHeldByBody = isHeldByNext && isNextBody
        }
    }

    /// Says which member waits for which exclusion, and who holds it. Empty if that is not known.
    private static func sentence(about waits: [Wait]) -> String {
        if waits.isEmpty { return "" }
        var parts = waits.prefix(ErrorText.listed).map { wait in
            "\(wait.member) waits for the exclusion \(wait.name)"
                + (wait.holder.map { ", which \($0) holds" } ?? "")
        }
        if waits.count > parts.count { parts.append("and so do \(waits.count - parts.count) more for others") }
        return parts.joined(separator: "; ") + ". "
    }

    /// A child that is run with `context.run` shares the exclusions of its parent, and not those of others. So this
    /// advice is no help if operations wait for different exclusions.
    private static func advice(for waits: [Wait], on path: [OperationReference]) -> String {
        var names: [String] = []
        for wait in waits where !names.contains(wait.name) { names.append(wait.name) }
        if names.count > 1 {
            let all =
                names.count > ErrorText.listed
                ? "all exclusions" : names.dropLast().joined(separator: ", ") + " and " + names[names.count - 1]
            let holders = waits.compactMap(\.holder)
            return holders.count == waits.count && holders.count == 2
                ? "Take \(all) together, in \(holders[0]) and in \(holders[1])" : "Take \(all) in one operation"
        }
        if Set(waits.compactMap(\.holder)).count > 1 {
            return "Several operations share \(names[0]): let each take as much of it as the operations need that it "
                + "awaits, and run those with `context.run` from its body"
        }
        if waits.count == 1, path.count == 2, let holder = waits[0].holder {
            return waits[0].isHeldByBody
                ? "Run \(waits[0].member) with `context.run` from the body of \(holder), or take all exclusions in one "
                    + "operation"
                : "Take all exclusions in one operation, or let \(holder) not wait for \(waits[0].member)"
        }
        return "Run it with `context.run` from the body that holds that exclusion, or take all exclusions in one "
            + "operation"
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
    /// True if there is nothing to see: the text is empty, or consists of white space and control characters.
    package var isBlank: Bool { unicodeScalars.allSatisfy { $0.properties.isWhitespace || $0.effect != .none } }

    /// The text as ``singleLine`` in single typographic quotes. Quotes in it alternate, as in ‘dependencies of “a”’, so
    /// that the reader sees where the text ends.
    package var quoted: String { "‘\(singleLine.withAlternatingQuotes)’" }

    /// The text with its pairs of typographic quotes changed as they are inside single quotes.
    private var withAlternatingQuotes: String {
        if !unicodeScalars.contains(where: { $0 == "‘" || $0 == "“" }) { return self }
        var scalars = Array(unicodeScalars)
        func isLetter(_ place: Int) -> Bool {
            scalars.indices.contains(place) && scalars[place].properties.isAlphabetic
        }
        var open: [Int] = []
        for place in scalars.indices {
            switch scalars[place] {
            case "‘", "“": open.append(place)
            case "’", "”":
                // An apostrophe ends no quote.
                if isLetter(place - 1), isLetter(place + 1) { continue }
                guard let first = open.last, (scalars[first] == "‘") == (scalars[place] == "’") else { continue }
                open.removeLast()
                let isInDoubleQuotes = open.count % 2 == 1
                scalars[first] = isInDoubleQuotes ? "‘" : "“"
                scalars[place] = isInDoubleQuotes ? "’" : "”"
            default: break
            }
        }
        return String(String.UnicodeScalarView(scalars))
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
