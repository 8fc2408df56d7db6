extension String {
    /// The text on one line, without characters that control a terminal. Applied to names, errors and other text of the
    /// user's in lines that Baton writes.
    ///
    /// Line breaks and control characters become spaces. Characters that change the direction of the text after them
    /// are left out, because they would also reverse Baton's own words. All other characters stay, including the
    /// joiners of emoji.
    ///
    /// - Complexity: O(*n*), where *n* is the length of the text. A text without such characters is returned unchanged.
    package var singleLine: String {
        if unicodeScalars.allSatisfy({ $0.effect == .none }) { return self }
        var line = String.UnicodeScalarView()
        var isAfterReturn = false
        for scalar in unicodeScalars {
            switch scalar.effect {
            case .none: line.append(scalar)
            // A carriage return and the line feed after it are one line break.
            case .control where !(isAfterReturn && scalar == "\n"): line.append(" ")
            case .control, .direction: break
            }
            isAfterReturn = scalar == "\r"
        }
        return String(line)
    }
}

extension String {
    /// The text with each of its lines as ``singleLine``. Applied to texts of several lines, such as the output of a
    /// program.
    package var cleanLines: String {
        if !unicodeScalars.contains(where: { $0.effect != .none }) { return self }
        return split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { String($0).singleLine }
            .joined(separator: "\n")
    }
}

extension Unicode.Scalar {
    fileprivate enum Effect {
        case none, control, direction
    }

    /// The effect, by ranges that Unicode guarantees never to change: the general categories Cc, Zl and Zp, and the
    /// property Bidi_Control.
    fileprivate var effect: Effect {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F, 0x2028, 0x2029: .control
        case 0x61C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: .direction
        default: .none
        }
    }
}
