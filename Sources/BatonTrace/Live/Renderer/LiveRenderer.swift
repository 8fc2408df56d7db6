/// Draws a snapshot as lines of text. A pure function of the snapshot and the size of the terminal.
struct LiveRenderer: Sendable {
    /// The largest number of columns of a line.
    var width: Int
    /// The largest number of lines. There is always at least one.
    var height: Int
    var hasColour = false
    /// False if the characters that the view itself adds are to be ASCII.
    var hasUnicode = true
    /// False if more operations will be added, so that totals are not known.
    var knowsTotals = true

    private static let widestBar = 30
    private static let narrowestBar = 6
    private static let narrowestName = 3

    private var mark: String { TerminalText.mark(hasUnicode: hasUnicode) }

    func lines(_ snapshot: LiveSnapshot) -> [String] {
        if snapshot.stages.isEmpty { return [TerminalText.clip("no operations yet", to: width, mark: mark)] }
        let failures = snapshot.failures.suffix(max(0, min(snapshot.failures.count, height / 4)))
        // A terminal with few rows needs them for the counts.
        let showsSuspension = snapshot.isSuspended && height - failures.count > 2
        let room = max(1, height - failures.count - (showsSuspension ? 1 : 0))
        var shown = snapshot.stages
        var more: String?
        // The sum takes a line, and so does the number of stages that are not shown.
        if shown.count > 1, shown.count + 1 > room {
            let fitting = max(0, room - 2)
            more = "\(mark) and \(shown.count - fitting) more stages"
            shown = mostTelling(fitting, of: snapshot.stages)
        }
        var lines = table(snapshot.stages.count > 1 ? shown + [snapshot.whole] : shown)
        // The number stands before the sum. If there is room for one line only, that line is the sum.
        if let more, room > 1 { lines.insert(TerminalText.clip(more, to: width, mark: mark), at: lines.count - 1) }
        if showsSuspension { lines.append(TerminalText.clip(LiveFormatter.suspension, to: width, mark: mark)) }
        let cross = hasUnicode ? "✗" : "x"
        lines += failures.map { failure in
            let name = TerminalText.line(failure.operation)
            return paint(TerminalText.clip("\(cross) \(name): \(failure.text)", to: width, mark: mark), .red)
        }
        return lines
    }

    /// Returns the most informative stages, in their order. Stages that run operations are preferred, then those with
    /// failures, then unfinished ones.
    private func mostTelling(_ count: Int, of stages: [LiveStage]) -> [LiveStage] {
        func rank(_ stage: LiveStage) -> Int {
            if stage.running > 0 { return 0 }
            if stage.failed > 0 { return 1 }
            return stage.unfinished > 0 ? 2 : 3
        }
        let ranks = stages.map(rank)
        let order = stages.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }
        return order.prefix(count).sorted().map { stages[$0] }
    }

    // MARK: Table

    private enum Column: CaseIterable {
        case name, bar, count, running, waiting, obstacles, failed, rate, timeLeft

        /// The columns in the order in which they are added, as long as there is room.
        static let byUse: [Self] = [
            .count, .failed, .bar, .timeLeft, .rate, .running, .waiting, .obstacles,
        ]
    }

    private func table(_ stages: [LiveStage]) -> [String] {
        let cells = Dictionary(
            uniqueKeysWithValues: Column.allCases.map { column in (column, stages.map { text($0, column) }) })
        var widths: [Column: Int] = [:]
        let longestName = cells[.name, default: []].map(TerminalText.columns).max() ?? 0
        var left = width - min(longestName, max(Self.narrowestName, width / 4))
        for column in Column.byUse {
            if column == .bar, !knowsTotals { continue }
            let wanted = cells[column, default: []].map(TerminalText.columns).max() ?? 0
            let needed = column == .bar ? Self.narrowestBar : wanted
            if needed == 0 || needed + 1 > left { continue }
            widths[column] = needed
            left -= needed + 1
        }
        if let bar = widths[.bar], left > 0 {
            widths[.bar] = min(Self.widestBar, bar + left)
            left -= min(Self.widestBar - bar, left)
        }
        // If no other column fits, the name may take the whole line.
        let used = widths.values.reduce(0) { $0 + $1 + 1 }
        widths[.name] = max(0, min(longestName, width - used))
        return stages.indices.map { row in
            Column.allCases.compactMap { column in
                guard let width = widths[column], width > 0 else { return nil }
                return cell(stages[row], column, cells[column]?[row] ?? "", width)
            }.joined(separator: " ")
        }
    }

    private func text(_ stage: LiveStage, _ column: Column) -> String {
        switch column {
        case .name: stage.name
        case .bar: ""
        case .count: LiveFormatter.count(stage, knowsTotal: knowsTotals)
        case .running: stage.running > 0 ? "\(stage.running) running" : ""
        case .waiting: stage.waiting > 0 ? "\(stage.waiting) waiting" : ""
        case .obstacles: LiveFormatter.obstacles(stage)
        case .failed: stage.failed > 0 ? "\(stage.failed) failed" : ""
        case .rate: LiveFormatter.rate(stage.rate.perSecond)
        case .timeLeft: LiveFormatter.timeLeft(stage, knowsTotal: knowsTotals)
        }
    }

    private func cell(_ stage: LiveStage, _ column: Column, _ text: String, _ width: Int) -> String {
        switch column {
        case .name: TerminalText.pad(TerminalText.clip(text, to: width, mark: mark), to: width)
        case .bar: bar(stage, width)
        case .count, .rate, .timeLeft: TerminalText.pad(text, to: width, onLeft: true)
        case .failed: paint(TerminalText.pad(text, to: width, onLeft: true), .red)
        case .running, .waiting: TerminalText.pad(text, to: width, onLeft: true)
        case .obstacles: TerminalText.pad(text, to: width)
        }
    }

    // MARK: Bar

    private func bar(_ stage: LiveStage, _ width: Int) -> String {
        let parts: [(Int, String, Colour)] = [
            (stage.done, hasUnicode ? "█" : "#", .green), (stage.failed, "x", .red),
            (stage.cancelled + stage.skipped, "-", .dim), (stage.running, hasUnicode ? "▒" : ">", .cyan),
        ]
        var bar = ""
        var passed = 0
        var drawn = 0
        for (count, sign, colour) in parts {
            passed += count
            let end = stage.total > 0 ? Int(Double(passed) / Double(stage.total) * Double(width)) : 0
            bar += paint(String(repeating: sign, count: end - drawn), colour)
            drawn = end
        }
        return bar + paint(String(repeating: hasUnicode ? "░" : ".", count: width - drawn), .dim)
    }

    private enum Colour: Int {
        case red = 31
        case green = 32
        case cyan = 36
        case dim = 2
    }

    private func paint(_ text: String, _ colour: Colour) -> String {
        hasColour && !text.isEmpty ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }
}
