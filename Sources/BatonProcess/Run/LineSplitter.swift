internal import CBatonProcess

/// Splits pieces of output into lines.
///
/// A line ends with a newline, or with a carriage return and a newline. These characters are not part of the line, and
/// do not count for its length.
struct LineSplitter {
    /// The lines that a piece, or the end of the output, completes.
    struct Result: Equatable {
        /// The completed lines.
        var lines: [String] = []
        /// True if the line after these is too long. Output that follows is of no use then.
        var isNextTooLong = false
    }

    private let longest: Int
    /// The bytes after the last newline.
    private var rest: [UInt8] = []

    init(longest: Int) { self.longest = longest }

    /// Returns the lines that this piece completes.
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
        // A carriage return at the end of the piece may belong to the end of a line, so it is not counted.
        result.isNextTooLong = rest.count - (rest.last == UInt8(ascii: "\r") ? 1 : 0) > longest
        return result
    }

    /// Returns the last line, if no newline ends it.
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
