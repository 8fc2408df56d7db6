import Foundation
import Testing

@testable import BatonNetworkTesting

@Suite struct ReceivedRequestTests {
    private func request(_ fields: String...) -> ReceivedRequest? {
        let lines = ["POST /upload?a=b HTTP/1.1"] + fields
        return ReceivedRequest(head: Data(lines.joined(separator: "\r\n").utf8), connection: 3)
    }

    @Test("A head is split into the request line and its fields")
    func head() throws {
        let found = try #require(request("Host: a:80", "X-A:", "x-a:\t b c \t"))
        #expect([found.method, found.target, found.path] == ["POST", "/upload?a=b", "/upload"])
        #expect(found.version == "HTTP/1.1")
        #expect(found.fields.map(\.name) == ["Host", "X-A", "x-a"])
        #expect(found.values(of: "X-A") == ["", "b c"])
        #expect(found.connection == 3)
    }

    @Test(
        "A request line without three parts is malformed",
        arguments: ["GET /", " / HTTP/1.1", "GET  HTTP/1.1", "GET / x"])
    func malformedLine(_ line: String) {
        #expect(ReceivedRequest(head: Data(line.utf8), connection: 0) == nil)
    }

    @Test("The colon of a field counts even if a combining character follows it")
    func combiningCharacter() {
        #expect(request("X:\u{301}a")?.values(of: "X") == ["\u{301}a"])
    }

    @Test("The name of a field is a token", arguments: ["no colon", ": a", "X : a", " folded: a", "X\u{e9}: a"])
    func malformedName(_ field: String) {
        #expect(request("X-A: 1", field) == nil)
    }

    @Test("The value of a field contains no line break and no NUL", arguments: ["\n", "\r", "\0"])
    func malformedValue(_ character: String) {
        #expect(request("X: a\(character)b: c") == nil)
    }

    @Test("A body has the length that a single Content-Length declares, or is chunked")
    func framing() {
        #expect(request()?.framing == .counted(0))
        #expect(request("Content-Length: 5")?.framing == .counted(5))
        #expect(request("Transfer-Encoding: Chunked")?.framing == .chunked)
        #expect(request("Transfer-Encoding: gzip, chunked")?.framing == .chunked)
    }

    @Test(
        "A Content-Length that is not one number is malformed",
        arguments: ["", "abc", "-5", "+5", "5, 5", "5 5", "0x5", "99999999999999999999"])
    func malformedLength(_ length: String) {
        #expect(request("Content-Length: \(length)") == nil)
    }

    @Test("Two Content-Length fields are malformed, even if they agree")
    func twoLengths() {
        #expect(request("Content-Length: 5", "Content-Length: 5") == nil)
    }

    @Test(
        "A last transfer coding other than chunked is malformed", arguments: ["xchunked", "chunked, gzip", "gzip", ","])
    func malformedCoding(_ coding: String) {
        #expect(request("Transfer-Encoding: \(coding)") == nil)
    }
}
