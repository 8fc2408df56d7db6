/// Writes pictures to an output, one after another: redrawn in place, or as plain lines. Used by one task.
struct LiveCanvas {
    private let output: LiveOutput
    private let knowsTotals: Bool
    private var frame = LiveFrame()
    private var report: LiveReport

    init(_ output: LiveOutput, knowsTotals: Bool) {
        self.output = output
        self.knowsTotals = knowsTotals
        report = LiveReport(hasUnicode: output.ability.hasUnicode)
    }

    var isRedrawn: Bool { output.ability.isRedrawn }

    /// Shows a snapshot. Returns false if the reader is gone or the terminal was restored, so that nothing more is to
    /// be written.
    mutating func show(_ snapshot: LiveSnapshot) -> Bool {
        if isRedrawn { return redraw(snapshot) }
        return write(lines: report.lines(snapshot))
    }

    /// Writes the last state and a summary.
    mutating func end(_ snapshot: LiveSnapshot) {
        if !isRedrawn {
            _ = write(lines: report.summary(snapshot))
        } else if redraw(snapshot) {
            let mark = TerminalText.mark(hasUnicode: output.ability.hasUnicode)
            let total = LiveReport.total(snapshot)
            _ = write(lines: [TerminalText.clip(total, to: max(1, output.size().columns - 1), mark: mark)])
        }
    }

    private mutating func redraw(_ snapshot: LiveSnapshot) -> Bool {
        let size = output.size()
        // The last column is not used, because terminals do not agree on where the cursor is after it was written. The
        // last row is reserved for the cursor.
        let renderer = LiveRenderer(
            width: max(1, size.columns - 1), height: max(1, size.rows - 1), hasColour: output.ability.hasColour,
            hasUnicode: output.ability.hasUnicode, knowsTotals: knowsTotals)
        guard let text = frame.next(renderer.lines(snapshot), columns: size.columns) else {
            return !output.redrawGuard.isClosed
        }
        return output.redrawGuard.whileDrawing(on: output.descriptor) {
            DescriptorWriter.write(text, to: output.descriptor)
        }
    }

    private func write(lines: [String]) -> Bool {
        if output.redrawGuard.isClosed { return false }
        if lines.isEmpty { return true }
        return DescriptorWriter.write(lines.map { $0 + "\n" }.joined(), to: output.descriptor)
    }
}

// MARK: - Frames

/// Produces the text to write to a terminal so that new lines replace the lines written before. A pure value.
///
/// Before and after the text is written, the cursor is at the beginning of the row under the last line.
struct LiveFrame {
    private var lines: [String] = []
    private var widths: [Int] = []
    private var columns = 0

    /// Returns the text to write, or nil if nothing has changed.
    mutating func next(_ lines: [String], columns: Int) -> String? {
        if lines == self.lines, columns == self.columns { return nil }
        var text = "\r"
        // A terminal that has become narrower has wrapped the lines that do not fit any more.
        let rows = widths.reduce(0) { $0 + max(1, ($1 + columns - 1) / max(1, columns)) }
        if rows > 0 { text += "\u{1B}[\(rows)A" }
        for line in lines { text += line + "\u{1B}[K\r\n" }
        // Erases the rows that the earlier lines took in addition.
        if !widths.isEmpty { text += "\u{1B}[J" }
        self.lines = lines
        self.columns = columns
        widths = lines.map { TerminalText.columns(Self.withoutColour($0)) }
        return text
    }

    /// Returns the line without the escape codes of colours.
    static func withoutColour(_ line: String) -> String {
        if !line.utf8.contains(0x1B) { return line }
        var text = String.UnicodeScalarView()
        var isCode = false
        for scalar in line.unicodeScalars {
            if scalar == "\u{1B}" { isCode = true }
            if !isCode { text.append(scalar) }
            if scalar == "m" { isCode = false }
        }
        return String(text)
    }
}
