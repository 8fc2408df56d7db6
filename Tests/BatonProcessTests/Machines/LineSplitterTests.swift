import Testing

@testable import BatonProcess

@Suite struct LineSplitterTests {
    /// Returns all lines, with "…" for a line that is too long.
    private func lines(_ pieces: [String], longest: Int = 100) -> [String] {
        var splitter = LineSplitter(longest: longest)
        var lines: [String] = []
        for piece in pieces {
            let result = splitter.lines(of: Array(piece.utf8))
            lines += result.lines
            if result.isNextTooLong { return lines + ["…"] }
        }
        let last = splitter.lastLine()
        return lines + last.lines + (last.isNextTooLong ? ["…"] : [])
    }

    @Test(
        arguments: [
            ([], []), (["\n"], [""]), (["a"], ["a"]), (["a\nb\n"], ["a", "b"]), (["a\nb"], ["a", "b"]),
            (["a\r\nb\r", "\nc\r"], ["a", "b", "c\r"]), (["a", "b", "\n", "\n", "c"], ["ab", "", "c"]),
            (["\n\n", "x"], ["", "", "x"]),
        ] as [([String], [String])])
    func piecesBecomeLines(pieces: [String], expected: [String]) {
        #expect(lines(pieces) == expected)
    }

    /// A character whose bytes arrive in two pieces is not damaged.
    @Test func aCharacterInTwoPieces() {
        var splitter = LineSplitter(longest: 100)
        let bytes = Array("é\n".utf8)
        #expect(splitter.lines(of: [bytes[0]]).lines.isEmpty)
        #expect(splitter.lines(of: Array(bytes[1...])).lines == ["é"])
    }

    @Test(
        "The lines before a line that is too long are complete, however the bytes arrive",
        arguments: [
            (["abc\nabc"], ["abc", "abc"]), (["abcd\n"], ["…"]), (["ab", "cd"], ["…"]),
            (["a\nb\nabcd\nc\n"], ["a", "b", "…"]), (["a\nb\nabcd"], ["a", "b", "…"]), (["a\nab", "cd"], ["a", "…"]),
        ] as [([String], [String])])
    func linesBeforeTooLongOne(pieces: [String], expected: [String]) {
        #expect(lines(pieces, longest: 3) == expected)
    }

    @Test(
        "The carriage return of a line break does not count toward the length",
        arguments: [
            (["abc\r\nabc\r\n"], ["abc", "abc"]), (["abc\r", "\n"], ["abc"]),
            (["abc", "\r", "\n", "d"], ["abc", "d"]),
            (["abc\r"], ["…"]), (["abc\rd"], ["…"]), (["abcd\r\n"], ["…"]), (["abc\r\r\n"], ["…"]),
            (["ab\r"], ["ab\r"]),
        ] as [([String], [String])])
    func carriageReturnDoesNotCount(pieces: [String], expected: [String]) {
        #expect(lines(pieces, longest: 3) == expected)
    }
}

@Suite struct TailTests {
    @Test(arguments: [0, 1, 5, 100]) func theLastBytesStay(limit: Int) {
        var tail = Tail(limit: limit)
        var all: [UInt8] = []
        for size in [0, 1, 2, 50, 3, 7] {
            let piece = (0..<size).map { UInt8($0 + size) }
            tail.append(piece)
            all += piece
            #expect(Array(tail.content) == Array(all.suffix(limit)))
        }
    }
}
