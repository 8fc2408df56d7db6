import Testing

@testable import BatonProcess

@Suite struct LineSplitterTests {
    private func lines(_ pieces: [String], longest: Int = 100) throws -> [String] {
        var splitter = LineSplitter(longest: longest)
        let lines = try pieces.flatMap { try splitter.lines(of: Array($0.utf8)) }
        return lines + [splitter.lastLine()].compactMap { $0 }
    }

    @Test(
        arguments: [
            ([], []), (["\n"], [""]), (["a"], ["a"]), (["a\nb\n"], ["a", "b"]), (["a\nb"], ["a", "b"]),
            (["a\r\nb\r", "\nc\r"], ["a", "b", "c\r"]), (["a", "b", "\n", "\n", "c"], ["ab", "", "c"]),
            (["\n\n", "x"], ["", "", "x"]),
        ] as [([String], [String])])
    func piecesBecomeLines(pieces: [String], expected: [String]) throws {
        #expect(try lines(pieces) == expected)
    }

    /// Of a character that comes in two pieces, nothing is lost.
    @Test func aCharacterInTwoPieces() throws {
        var splitter = LineSplitter(longest: 100)
        let bytes = Array("é\n".utf8)
        #expect(try splitter.lines(of: [bytes[0]]).isEmpty)
        #expect(try splitter.lines(of: Array(bytes[1...])) == ["é"])
    }

    @Test func theLongestLineIsOne() throws {
        #expect(try lines(["abc\nabc"], longest: 3) == ["abc", "abc"])
        #expect(throws: LineSplitter.TooLong.self) { try lines(["abcd\n"], longest: 3) }
        #expect(throws: LineSplitter.TooLong.self) { try lines(["ab", "cd"], longest: 3) }
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
