internal import Baton

/// Text of others, such as names and errors, made harmless, and measured in columns of a terminal.
enum PlainText {
    /// More of a text is never shown.
    private static let mostScalars = 400

    /// One line, without anything that a terminal would obey, that would turn the direction of what follows, or whose
    /// width nobody knows.
    static func line(_ text: String) -> String {
        if text.utf8.count <= mostScalars, text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
        var line = String.UnicodeScalarView()
        for scalar in String(text.unicodeScalars.prefix(mostScalars)).singleLine.unicodeScalars {
            switch scalar.properties.generalCategory {
            // The joiners of emoji and of many scripts are of this kind, too.
            case .format where scalar != "\u{200D}" && scalar != "\u{200C}": break
            case .surrogate, .privateUse, .unassigned: line.append("?")
            default: line.append(scalar)
            }
        }
        return String(line)
    }

    /// How many columns it takes, on a terminal that joins nothing: elsewhere it takes fewer, never more.
    static func columns(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        var columns = 0
        var before = 0
        for scalar in text.unicodeScalars {
            // This selector makes a picture, two columns wide, of the character before.
            let width = scalar == "\u{FE0F}" ? max(0, 2 - before) : self.width(scalar)
            columns += width
            before = width == 0 ? before : width
        }
        return columns
    }

    /// Says that something is missing, in one column.
    static func mark(hasUnicode: Bool) -> String { hasUnicode ? "…" : "~" }

    /// As much of it as fits, the last column being `mark` if something is missing.
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

    /// With spaces to its right, or to its left.
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

    /// Wide and full-width characters of Unicode's EastAsianWidth.txt, and the planes of emoji as a whole.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
        0x1AFF0...0x1B2FF, 0x1F000...0x1FAFF, 0x20000...0x3FFFD,
    ]
}
