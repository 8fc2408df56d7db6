internal import CBatonProcess

/// Makes lines of pieces.
struct LineSplitter {
    struct TooLong: Error {}

    private let longest: Int
    /// What came after the last newline.
    private var rest: [UInt8] = []

    init(longest: Int) { self.longest = longest }

    /// The lines that this piece ends.
    mutating func lines(of piece: [UInt8]) throws(TooLong) -> [String] {
        var lines: [String] = []
        var start = 0
        while let newline = Self.newline(in: piece, from: start) {
            rest.append(contentsOf: piece[start..<newline])
            lines.append(try takeLine())
            start = newline + 1
        }
        rest.append(contentsOf: piece[start...])
        if rest.count > longest { throw TooLong() }
        return lines
    }

    /// What is left at the end.
    mutating func lastLine() -> String? {
        defer { rest = [] }
        return rest.isEmpty ? nil : String(decoding: rest, as: UTF8.self)
    }

    private mutating func takeLine() throws(TooLong) -> String {
        defer { rest.removeAll(keepingCapacity: true) }
        if rest.count > longest { throw TooLong() }
        if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
        return String(decoding: rest, as: UTF8.self)
    }

    private static func newline(in piece: [UInt8], from start: Int) -> Int? {
        piece.withUnsafeBytes { bytes in
            guard let address = bytes.baseAddress else { return nil }
            let found = baton_find_newline(address + start, bytes.count - start)
            return found < 0 ? nil : start + found
        }
    }
}
