import Foundation
import Testing

@testable import BatonNetworkTesting

@Suite struct BodyReaderTests {
    /// Returns the body that a reader takes, and the rest, if the bytes arrive in pieces of `pieces` bytes. Nil:
    /// invalid or incomplete.
    private func read(_ text: String, _ framing: ReceivedRequest.Framing, pieces: Int) -> (body: String, rest: Data)? {
        var reader = BodyReader(framing)
        var pending = Data()
        var body = Data()
        var bytes = Data(text.utf8)
        while !reader.isComplete {
            guard let piece = reader.take(upTo: 3, from: &pending) else { return nil }
            body.append(piece)
            if piece.isEmpty, !reader.isComplete {
                if bytes.isEmpty { return nil }
                pending.append(bytes.prefix(pieces))
                bytes = bytes.dropFirst(pieces)
            }
        }
        return (String(decoding: body, as: UTF8.self), pending + bytes)
    }

    @Test("A counted body ends after its bytes, however they arrive", arguments: 1...8)
    func counted(_ pieces: Int) throws {
        let found = try #require(read("helloGET", .counted(5), pieces: pieces))
        #expect(found.body == "hello")
        #expect(found.rest == Data("GET".utf8))
    }

    @Test("A chunked body ends after its trailers, however they arrive", arguments: 1...40)
    func chunked(_ pieces: Int) throws {
        let text = "2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nX-T: 1\r\n\r\nGET"
        let found = try #require(read(text, .chunked, pieces: pieces))
        #expect(found.body == "hello")
        #expect(found.rest == Data("GET".utf8))
    }

    @Test(
        "A chunk without a size, or too long, is refused",
        arguments: ["x\r\n", "\r\n", "-1\r\n", "+1\r\na\r\n", "2\r\nabc\r\n"])
    func invalid(_ text: String) {
        #expect(read(text + "0\r\n\r\n", .chunked, pieces: 100) == nil)
    }

    @Test("A body of 0 bytes is complete at once")
    func empty() {
        #expect(BodyReader(.counted(0)).isComplete)
        #expect(!BodyReader(.chunked).isComplete)
    }
}
