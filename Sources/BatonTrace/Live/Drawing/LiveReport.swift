/// Tells in plain lines what is worth saying, for files, pipes and terminals that cannot redraw; and sums up in the
/// end. Pure.
struct LiveReport: Sendable {
    private static let mostStagesInSummary = 20

    private let mark: String
    private var begun: Set<Int> = []
    /// How many had finished when it was last said that a stage is over.
    private var toldAtEnd: [Int: Int] = [:]
    private var toldSuspension = false

    /// `hasUnicode` false: of what the report itself adds, everything is ASCII.
    init(hasUnicode: Bool = true) { mark = PlainText.mark(hasUnicode: hasUnicode) }

    /// What has changed since the last call: suspensions, stages that begin, failures, stages that are over.
    ///
    /// Every failure has a line, but for those of operations that needed one that had failed: these are counted.
    ///
    /// A stage that is over again and again, because its operations come one by one, is told of whenever it has
    /// doubled.
    mutating func lines(_ picture: LivePicture) -> [String] {
        var lines: [String] = []
        if picture.isSuspended != toldSuspension {
            toldSuspension = picture.isSuspended
            lines.append(picture.isSuspended ? LiveWording.suspension : "the queue is resumed")
        }
        for (index, stage) in picture.stages.enumerated() where stage.begin != nil && !stage.isOver {
            if begun.insert(index).inserted { lines.append("\(stage.name): begins") }
        }
        for failure in picture.newFailures {
            lines.append("\(PlainText.line(failure.operation)) failed: \(failure.text)")
        }
        if picture.untoldFailures > 0 { lines.append("\(picture.untoldFailures) others failed") }
        if picture.newDependents > 0 {
            let isOne = picture.newDependents == 1
            lines.append(
                "\(picture.newDependents) \(isOne ? "operation" : "operations") failed because what "
                    + "\(isOne ? "it" : "they") needed had failed")
        }
        for (index, stage) in picture.stages.enumerated() where stage.isOver {
            if stage.finished < 2 * (toldAtEnd[index] ?? 0) { continue }
            if let line = end(stage, index) { lines.append(line) }
        }
        return lines
    }

    /// Stages whose last state has not been told, and one line for all.
    mutating func summary(_ picture: LivePicture) -> [String] {
        var lines = lines(picture)
        var untold = 0
        for (index, stage) in picture.stages.enumerated() {
            if lines.count >= Self.mostStagesInSummary {
                if toldAtEnd[index] != stage.finished || !stage.isOver { untold += 1 }
            } else if let line = end(stage, index) {
                lines.append(line)
            }
        }
        if untold > 0 { lines.append("\(mark) and \(untold) more stages") }
        lines.append(Self.total(picture))
        return lines
    }

    /// One line for all.
    static func total(_ picture: LivePicture) -> String {
        let whole = picture.whole
        let noun = whole.total == 1 ? "operation" : "operations"
        let counts = whole.total == 0 ? "" : ": \(LiveWording.counts(whole))"
        return "\(whole.total) \(noun)\(counts)" + (LiveWording.span(whole).map { " in \($0)" } ?? "")
    }

    private mutating func end(_ stage: LiveStage, _ index: Int) -> String? {
        if stage.isOver, toldAtEnd[index] == stage.finished { return nil }
        begun.insert(index)
        toldAtEnd[index] = stage.finished
        return "\(stage.name): \(LiveWording.counts(stage))" + (LiveWording.span(stage).map { " in \($0)" } ?? "")
    }
}
