internal import CBatonProcess

/// Makes lines of pieces.
///
/// A newline ends a line, and so does a carriage return with a newline: neither is part of it, and neither counts for
/// its length.
struct LineSplitter {
    /// What a piece, or the end of the output, brings.
    struct Result: Equatable {
        /// The lines that are complete now.
        var lines: [String] = []
        /// The line after these is longer than lines may be. Nothing that follows is of use.
        var isNextTooLong = false
    }

    private let longest: Int
    /// What came after the last newline.
    private var rest: [UInt8] = []

    init(longest: Int) { self.longest = longest }

    /// The lines that this piece ends.
    mutating func lines(of piece: [UInt8]) -> Result {
        var result = Result()
        var start = 0
        while let newline = Self.newline(in: piece, from: start) {
            rest.append(contentsOf: piece[start..<newline])
            if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
            takeLine(into: &result)
            if result.isNextTooLong { return result }
            start = newline + 1
        }
        rest.append(contentsOf: piece[start...])
        // A carriage return at the end of the piece may be the first half of an end of line.
        result.isNextTooLong = rest.count - (rest.last == UInt8(ascii: "\r") ? 1 : 0) > longest
        return result
    }

    /// The line that no newline ends, if there is one.
    mutating func lastLine() -> Result {
        var result = Result()
        if !rest.isEmpty { takeLine(into: &result) }
        return result
    }

    private mutating func takeLine(into result: inout Result) {
        result.isNextTooLong = rest.count > longest
        if !result.isNextTooLong { result.lines.append(String(decoding: rest, as: UTF8.self)) }
        rest.removeAll(keepingCapacity: true)
    }

    private static func newline(in piece: [UInt8], from start: Int) -> Int? {
        piece.withUnsafeBytes { bytes in
            guard let address = bytes.baseAddress else { return nil }
            let found = baton_find_newline(address + start, bytes.count - start)
            return found < 0 ? nil : start + found
        }
    }
}
