internal import Baton

extension Graph {
    /// More are cut. Graphviz refuses a text of 16 kilobytes.
    static let longestText = 1000

    /// A text with something else for what means something in a language of graphs; nil: it stays.
    ///
    /// By scalars, as the readers of these languages go: to Swift a quote and an accent that follows it are one
    /// character. What begins a new line is given as `\n`; what would turn the direction of the text behind it is left
    /// out; what no picture can show, and XML does not allow, is a space.
    static func spelled(_ text: String, _ spelling: (Unicode.Scalar) -> String?) -> String {
        let scalars = text.cleanLines.unicodeScalars
        let limit = scalars.index(scalars.startIndex, offsetBy: longestText, limitedBy: scalars.endIndex)
        let end = limit ?? scalars.endIndex
        var spelled = ""
        var isAfterReturn = false
        for scalar in scalars[..<end] {
            let isPair = isAfterReturn && scalar == "\n"
            isAfterReturn = scalar == "\r"
            if isPair { continue }
            let shown = scalar.shown
            if let other = spelling(shown) { spelled += other } else { spelled.unicodeScalars.append(shown) }
        }
        return end < scalars.endIndex ? spelled + "…" : spelled
    }
}

extension Unicode.Scalar {
    fileprivate var shown: Unicode.Scalar {
        if Character(self).isNewline { return "\n" }
        let isUnprintable = value < 0x20 || (0x7f..<0xa0).contains(value) || value & 0xfffe == 0xfffe
        return isUnprintable ? " " : self
    }
}
