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
