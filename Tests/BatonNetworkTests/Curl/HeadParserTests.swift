import Foundation
import Testing

@testable import BatonNetwork

@Suite struct HeadParserTests {
    /// Parses the lines, and returns the step after the last one.
    private func parse(_ lines: String...) -> HeadParser.Step { parse(lines.map { Array($0.utf8) }) }

    private func parse(_ lines: [[UInt8]]) -> HeadParser.Step {
        var parser = HeadParser(url: nil)
        var step = HeadParser.Step.more
        for line in lines { step = line.withUnsafeBytes { parser.line($0) } }
        return step
    }

    private func headOf(_ step: HeadParser.Step) -> HTTPHead? {
        if case .head(let head) = step { head } else { nil }
    }

    private func isInvalid(_ step: HeadParser.Step) -> Bool {
        if case .invalid = step { true } else { false }
    }

    @Test("Status and fields are parsed from the lines")
    func anOrdinaryHead() throws {
        let lines = ["HTTP/1.1 404 Not Found\r\n", "Content-Length: 5\r\n", "x-a:1\r\n", "X-A:\t 2 \r\n", "X-B:\r\n"]
        let head = try #require(headOf(parse((lines + ["\r\n"]).map { Array($0.utf8) })))
        #expect(head.status == 404)
        #expect(head.contentLength == 5)
        #expect(head.headers.values(of: "X-A") == ["1", "2"])
        #expect(head.headers["X-B"] == "")
        #expect(head.interimHeads.isEmpty)
    }

    @Test("A field with a space before its colon must not determine the body length", arguments: [" ", "\t"])
    func blanksBeforeColons(_ blank: String) throws {
        let head = try #require(headOf(parse("HTTP/1.1 200 OK\r\n", "X-A\(blank): 1\r\n", "\r\n")))
        #expect(head.headers["X-A"] == "1")
        #expect(isInvalid(parse("HTTP/1.1 200 OK\r\n", "Content-Length\(blank): 2\r\n", "\r\n")))
        #expect(isInvalid(parse("HTTP/1.1 200 OK\r\n", "transfer-encoding\(blank):chunked\r\n", "\r\n")))
    }

    @Test("A field that determines the length of the body cannot be folded")
    func foldedFraming() throws {
        for name in ["Content-Length", "transfer-encoding", "Content-Encoding"] {
            #expect(isInvalid(parse("HTTP/1.1 200 OK\r\n", "\(name):\r\n", " 2\r\n", "\r\n")))
        }
        let head = try #require(headOf(parse("HTTP/1.1 200 OK\r\n", "X-A:\r\n", " 2\r\n", "\r\n")))
        #expect(head.headers["X-A"] == "2")
    }

    @Test("Lines may end in a line feed alone, and may be folded")
    func lineEnds() throws {
        let lines = ["HTTP/2 200\n", "X-A: a\n", "  b\r\n", "\tc\n", "X-B:  größe ü \t\n", "X-C:é\n", "\n"]
        let head = try #require(headOf(parse(lines.map { Array($0.utf8) })))
        #expect(head.headers["X-A"] == "a b c")
        #expect(head.headers["X-B"] == "größe ü")
        #expect(head.headers["X-C"] == "é")
    }

    @Test("Bytes that are not UTF-8 are read as Latin-1, and null and carriage return as spaces")
    func oddBytes() throws {
        let line = Array("X-A: caf".utf8) + [0xe9, 0x0d, 0x00, 0x62, 0x0d, 0x0a]
        let head = try #require(headOf(parse([Array("HTTP/1.1 200 OK\r\n".utf8), line, Array("\r\n".utf8)])))
        #expect(head.headers["X-A"] == "café  b")
    }

    @Test("A combining accent after a colon or a space does not hide it")
    func accents() throws {
        let lines = ["HTTP/1.1 200 \u{301}\n", "X-A:\u{301}a\n", " \u{301}b\n", "X-B: \u{301}\n", "\n"]
        let head = try #require(headOf(parse(lines.map { Array($0.utf8) })))
        #expect(head.headers["X-A"] == "\u{301}a \u{301}b")
        #expect(head.headers["X-B"] == "\u{301}")
    }

    @Test("Bytes of a URL that are not UTF-8 are kept")
    func bytesOfAddresses() throws {
        let line = Array("LOCATION: /caf".utf8) + [0xe9, 0x2f, 0x0a, 0x0a].dropLast()
        let head = try #require(headOf(parse([Array("HTTP/1.1 302 Found\n".utf8), line, Array("\n".utf8)])))
        #expect(head.headers["Location"] == "/caf%E9/")
    }

    @Test("Interim heads are collected, and lines after the final head do not belong to it")
    func interimHeads() throws {
        var parser = HeadParser(url: nil)
        var heads: [HTTPHead] = []
        for line in [
            "HTTP/1.1 100 Continue\r\n", "\r\n", "HTTP/1.1 103 Early Hints\r\n", "Link: x\r\n", "\r\n",
            "HTTP/1.1 200 OK\r\n", "X: y\r\n", "\r\n", "X-Trailer: z\r\n", "\r\n",
        ] {
            if case .head(let head) = Array(line.utf8).withUnsafeBytes({ parser.line($0) }) { heads.append(head) }
        }
        #expect(heads.map(\.status) == [200])
        #expect(heads[0].headers.names == ["x"])
        #expect(heads[0].interimHeads.map(\.status) == [100, 103])
        #expect(parser.isComplete)
    }

    @Test("Each of many interim heads is kept once")
    func manyInterimHeads() {
        var parser = HeadParser(url: nil)
        for _ in 0..<20_000 {
            for line in ["HTTP/1.1 100 Continue\r\n", "\r\n"] {
                _ = Array(line.utf8).withUnsafeBytes { parser.line($0) }
            }
        }
        var head: HTTPHead?
        for line in ["HTTP/1.1 200 OK\r\n", "\r\n"] {
            if case .head(let last) = Array(line.utf8).withUnsafeBytes({ parser.line($0) }) { head = last }
        }
        #expect(head?.interimHeads.count == 20_000)
    }

    @Test(
        "Invalid status lines are refused",
        arguments: [
            "HTTP/1.1\r\n", "HTTP/1.1 099 X\r\n", "HTTP/2 000\r\n", "HTTP/1.1 1000 X\r\n", "HTTP/x.1 200 OK\r\n",
            "HTTP/1.1 20 OK\r\n", "HTTP/1.1 abc\r\n", "ICY 200 OK\r\n", "\r\n",
        ])
    func firstLines(_ line: String) { #expect(isInvalid(parse(line))) }

    @Test(
        "An ambiguous Content-Length is refused",
        arguments: [["5", "6"], ["5, 6"], ["-1"], ["99999999999999999999"], ["five"], [""], ["0x5"]])
    func lengths(_ values: [String]) {
        let fields = values.map { Array("Content-Length: \($0)\r\n".utf8) }
        let (first, end) = (Array("HTTP/1.1 200 OK\r\n".utf8), Array("\r\n".utf8))
        #expect(isInvalid(parse([first] + fields + [end])))
        // In a chunked response, Content-Length is ignored.
        let chunked = Array("Transfer-Encoding: chunked\r\n".utf8)
        #expect(headOf(parse([first, chunked] + fields + [end])) != nil)
    }

    @Test("Equal lengths count as one")
    func equalLengths() {
        let step = parse("HTTP/1.1 200 OK\r\n", "Content-Length: 5\r\n", "Content-Length: 5, 5\r\n", "\r\n")
        #expect(headOf(step)?.contentLength == 5)
    }

    @Test("A head that never ends is refused when it is too long, interim heads included")
    func longHeads() {
        let (first, end) = (Array("HTTP/1.1 103 Early Hints\r\n".utf8), Array("\r\n".utf8))
        let line = Array("X-A: \(String(repeating: "x", count: 1000))\r\n".utf8)
        var parser = HeadParser(url: nil)
        for _ in 0..<1100 {
            for line in [first, line, end] {
                if case .invalid = line.withUnsafeBytes({ parser.line($0) }) { return }
            }
        }
        Issue.record("it was taken")
    }
}
