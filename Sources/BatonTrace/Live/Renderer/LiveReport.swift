/// Reports changes in plain lines, for files, pipes and terminals that cannot redraw, and ends with a summary. A pure
/// value.
struct LiveReport: Sendable {
    private static let maxStagesInSummary = 20

    private let mark: String
    private var begun: Set<Int> = []
    /// The number of finished operations of a stage when its end was last reported, by the stage's index.
    private var toldAtEnd: [Int: Int] = [:]
    private var toldSuspension = false

    /// Makes a report. If `hasUnicode` is false, the characters that the report itself adds are ASCII.
    init(hasUnicode: Bool = true) { mark = TerminalText.mark(hasUnicode: hasUnicode) }

    /// Returns a line for each suspension, each beginning and end of a stage, and each failure since the last call.
    ///
    /// Failures of operations that needed a failed operation are only counted.
    ///
    /// A stage whose operations are added one by one ends again and again. Its end is reported again when the number of
    /// finished operations has doubled.
    mutating func lines(_ snapshot: LiveSnapshot) -> [String] {
        var lines: [String] = []
        if snapshot.isSuspended != toldSuspension {
            toldSuspension = snapshot.isSuspended
            lines.append(snapshot.isSuspended ? LiveFormatter.suspension : "the queue is resumed")
        }
        for (index, stage) in snapshot.stages.enumerated() where stage.begin != nil && !stage.isOver {
            if begun.insert(index).inserted { lines.append("\(stage.name): begins") }
        }
        for failure in snapshot.newFailures {
            lines.append("\(TerminalText.line(failure.operation)) failed: \(failure.text)")
        }
        if snapshot.unreportedFailures > 0 {
            let noun = snapshot.unreportedFailures == 1 ? "other" : "others"
            lines.append("\(snapshot.unreportedFailures) \(noun) failed")
        }
        if snapshot.newDependencyFailures > 0 {
            let isOne = snapshot.newDependencyFailures == 1
            lines.append(
                "\(snapshot.newDependencyFailures) \(isOne ? "operation" : "operations") failed because what "
                    + "\(isOne ? "it" : "they") needed had failed")
        }
        for (index, stage) in snapshot.stages.enumerated() where stage.isOver {
            if stage.finished < 2 * (toldAtEnd[index] ?? 0) { continue }
            if let line = end(stage, index) { lines.append(line) }
        }
        return lines
    }

    /// Returns lines for the stages whose last state has not been reported, and a total.
    mutating func summary(_ snapshot: LiveSnapshot) -> [String] {
        var lines = lines(snapshot)
        var untold = 0
        for (index, stage) in snapshot.stages.enumerated() {
            if lines.count >= Self.maxStagesInSummary {
                if toldAtEnd[index] != stage.finished || !stage.isOver { untold += 1 }
            } else if let line = end(stage, index) {
                lines.append(line)
            }
        }
        if untold > 0 { lines.append("\(mark) and \(untold) more \(untold == 1 ? "stage" : "stages")") }
        lines.append(Self.total(snapshot))
        return lines
    }

    /// Returns one line for all stages together.
    static func total(_ snapshot: LiveSnapshot) -> String {
        let whole = snapshot.whole
        let noun = whole.total == 1 ? "operation" : "operations"
        let counts = whole.total == 0 ? "" : ": \(LiveFormatter.counts(whole))"
        return "\(whole.total) \(noun)\(counts)" + (LiveFormatter.span(whole).map { " in \($0)" } ?? "")
    }

    private mutating func end(_ stage: LiveStage, _ index: Int) -> String? {
        if stage.isOver, toldAtEnd[index] == stage.finished { return nil }
        begun.insert(index)
        toldAtEnd[index] = stage.finished
        return "\(stage.name): \(LiveFormatter.counts(stage))" + (LiveFormatter.span(stage).map { " in \($0)" } ?? "")
    }
}
