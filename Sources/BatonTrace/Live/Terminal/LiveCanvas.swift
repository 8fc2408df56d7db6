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

    /// Shows a picture. Returns false if the reader is gone or the terminal was restored, so that nothing more is to be
    /// written.
    mutating func show(_ picture: LivePicture) -> Bool {
        if isRedrawn { return redraw(picture) }
        return write(lines: report.lines(picture))
    }

    /// Writes the last state and a summary.
    mutating func end(_ picture: LivePicture) {
        if !isRedrawn {
            _ = write(lines: report.summary(picture))
        } else if redraw(picture) {
            let mark = TerminalText.mark(hasUnicode: output.ability.hasUnicode)
            let total = LiveReport.total(picture)
            _ = write(lines: [TerminalText.clip(total, to: max(1, output.size().columns - 1), mark: mark)])
        }
    }

    private mutating func redraw(_ picture: LivePicture) -> Bool {
        let size = output.size()
        // The last column is not used, because terminals do not agree on where the cursor is after it was written. The
        // last row is reserved for the cursor.
        let renderer = LiveRenderer(
            width: max(1, size.columns - 1), height: max(1, size.rows - 1), hasColour: output.ability.hasColour,
            hasUnicode: output.ability.hasUnicode, knowsTotals: knowsTotals)
        guard let text = frame.next(renderer.lines(picture), columns: size.columns) else {
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
