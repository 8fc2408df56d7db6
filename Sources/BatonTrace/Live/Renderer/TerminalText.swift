internal import Baton

/// Functions that make names and errors safe to show in a terminal, and measure them in its columns.
enum TerminalText {
    /// The number of Unicode scalars of a text that are shown at most.
    private static let maxScalars = 400

    /// Returns the text as one line, without control characters, without characters that change the direction of text,
    /// and without characters of unknown width.
    static func line(_ text: String) -> String {
        if text.utf8.count <= maxScalars, text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
        var line = String.UnicodeScalarView()
        for scalar in String(text.unicodeScalars.prefix(maxScalars)).singleLine.unicodeScalars {
            switch scalar.properties.generalCategory {
            // The joiners of emoji and of many scripts belong to this category, too.
            case .format where scalar != "\u{200D}" && scalar != "\u{200C}": break
            case .surrogate, .privateUse, .unassigned: line.append("?")
            default: line.append(scalar)
            }
        }
        return String(line)
    }

    /// Returns the number of columns of the text on a terminal that does not join characters. Other terminals use fewer
    /// columns, never more.
    static func columns(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        var columns = 0
        var before = 0
        for scalar in text.unicodeScalars {
            // The variation selector turns the preceding character into an emoji, which is two columns wide.
            let width = scalar == "\u{FE0F}" ? max(0, 2 - before) : self.width(scalar)
            columns += width
            before = width == 0 ? before : width
        }
        return columns
    }

    /// Returns the one-column character that marks an omission.
    static func mark(hasUnicode: Bool) -> String { hasUnicode ? "…" : "~" }

    /// Returns the text, cut to fit `limit` columns. The last column of a text that was cut is `mark`.
    static func clip(_ text: String, to limit: Int, mark: String) -> String {
        if columns(text) <= limit { return text }
        if limit < 1 { return "" }
        var clipped = ""
        var left = limit - 1
        for character in text {
            left -= columns(String(character))
            if left < 0 { break }
            clipped.append(character)
        }
        return clipped + mark
    }

    /// Returns the text with spaces added on the right or on the left.
    static func pad(_ text: String, to width: Int, onLeft: Bool = false) -> String {
        let space = String(repeating: " ", count: max(0, width - columns(text)))
        return onLeft ? space + text : text + space
    }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        return scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// The wide and full-width characters of Unicode's EastAsianWidth.txt, and the whole planes of emoji.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
        0x1AFF0...0x1B2FF, 0x1F000...0x1FAFF, 0x20000...0x3FFFD,
    ]
}
