internal import Baton

extension Graph {
    /// The number of Unicode scalars after which a text is cut. Graphviz refuses a text of 16 kilobytes.
    static let longestText = 1000

    /// Returns the text with replacements for the characters that have a meaning in a graph language.
    ///
    /// The text is processed by Unicode scalars, as the readers of these languages do: to Swift a quote and an accent
    /// that follows it are one character. A character that begins a new line is passed to `replacement` as `\n`.
    /// Characters that change the direction of the text are removed. Characters that no picture can show, and that XML
    /// does not allow, become spaces.
    ///
    /// - Parameters:
    ///   - text: The text, such as the name of an operation.
    ///   - replacement: Returns the replacement for a scalar, or nil to keep it.
    static func escaped(_ text: String, _ replacement: (Unicode.Scalar) -> String?) -> String {
        let scalars = text.cleanLines.unicodeScalars
        let limit = scalars.index(scalars.startIndex, offsetBy: longestText, limitedBy: scalars.endIndex)
        let end = limit ?? scalars.endIndex
        var escaped = ""
        var isAfterReturn = false
        for scalar in scalars[..<end] {
            let isPair = isAfterReturn && scalar == "\n"
            isAfterReturn = scalar == "\r"
            if isPair { continue }
            let shown = scalar.shown
            if let other = replacement(shown) { escaped += other } else { escaped.unicodeScalars.append(shown) }
        }
        return end < scalars.endIndex ? escaped + "…" : escaped
    }
}

extension Unicode.Scalar {
    fileprivate var shown: Unicode.Scalar {
        if Character(self).isNewline { return "\n" }
        let isUnprintable = value < 0x20 || (0x7f..<0xa0).contains(value) || value & 0xfffe == 0xfffe
        return isUnprintable ? " " : self
    }
}
