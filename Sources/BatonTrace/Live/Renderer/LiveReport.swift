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
    mutating func lines(_ picture: LivePicture) -> [String] {
        var lines: [String] = []
        if picture.isSuspended != toldSuspension {
            toldSuspension = picture.isSuspended
            lines.append(picture.isSuspended ? LiveFormatter.suspension : "the queue is resumed")
        }
        for (index, stage) in picture.stages.enumerated() where stage.begin != nil && !stage.isOver {
            if begun.insert(index).inserted { lines.append("\(stage.name): begins") }
        }
        for failure in picture.newFailures {
            lines.append("\(TerminalText.line(failure.operation)) failed: \(failure.text)")
        }
        if picture.unreportedFailures > 0 {
            let noun = picture.unreportedFailures == 1 ? "other" : "others"
            lines.append("\(picture.unreportedFailures) \(noun) failed")
        }
        if picture.newDependencyFailures > 0 {
            let isOne = picture.newDependencyFailures == 1
            lines.append(
                "\(picture.newDependencyFailures) \(isOne ? "operation" : "operations") failed because what "
                    + "\(isOne ? "it" : "they") needed had failed")
        }
        for (index, stage) in picture.stages.enumerated() where stage.isOver {
            if stage.finished < 2 * (toldAtEnd[index] ?? 0) { continue }
            if let line = end(stage, index) { lines.append(line) }
        }
        return lines
    }

    /// Returns lines for the stages whose last state has not been reported, and a total.
    mutating func summary(_ picture: LivePicture) -> [String] {
        var lines = lines(picture)
        var untold = 0
        for (index, stage) in picture.stages.enumerated() {
            if lines.count >= Self.maxStagesInSummary {
                if toldAtEnd[index] != stage.finished || !stage.isOver { untold += 1 }
            } else if let line = end(stage, index) {
                lines.append(line)
            }
        }
        if untold > 0 { lines.append("\(mark) and \(untold) more \(untold == 1 ? "stage" : "stages")") }
        lines.append(Self.total(picture))
        return lines
    }

    /// Returns one line for all stages together.
    static func total(_ picture: LivePicture) -> String {
        let whole = picture.whole
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
