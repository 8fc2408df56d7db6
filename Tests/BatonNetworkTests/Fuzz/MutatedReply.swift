import BatonTesting
import Foundation

/// The bytes of a valid or damaged response, which are derived from a number.
struct MutatedReply: CustomStringConvertible {
    let bytes: [UInt8]
    /// The positions at which the server pauses briefly, so that the client receives the bytes in parts.
    let cuts: [Int]

    init(number: UInt64) {
        var generator = SeededGenerator(seed: number)
        var bytes = Self.templates.randomElement(using: &generator)!
        for _ in 0..<Int.random(in: 0...4, using: &generator) { Self.damage(&bytes, &generator) }
        self.bytes = bytes
        cuts = (0..<Int.random(in: 0...2, using: &generator)).map { _ in
            Int.random(in: 0...bytes.count, using: &generator)
        }
        .sorted()
    }

    var description: String { "\(String(decoding: bytes, as: UTF8.self).debugDescription), in parts at \(cuts)" }

    // MARK: Damage

    private static let words = [
        "\r\n", "\n", "\r", "\r\n\r\n", "\0", ":", " ", "\t", ";", "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", "HTTP/2 200\r\n", "HTTP/1.0 200 OK\r\n", "HTTP/9.9 999 ?\r\n",
        "Content-Length: 5\r\n", "Content-Length: 7\r\n", "Content-Length: -1\r\n",
        "Content-Length: 18446744073709551616\r\n",
        "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip\r\n", "Transfer-Encoding: identity\r\n",
        "Content-Encoding: gzip\r\n", "Content-Encoding: br\r\n", "Content-Encoding: zstd\r\n",
        "Content-Encoding: foo\r\n",
        "Connection: close\r\n", "Connection: upgrade\r\nUpgrade: h2c\r\n", "Set-Cookie: a=b\r\n", "Set-Cookie: =\r\n",
        "WWW-Authenticate: Basic realm=\"r\"\r\n", "Proxy-Authenticate: Basic\r\n", "Location: /x\r\n",
        "Location: \u{e9}\r\n",
        "Retry-After: 99999999999999999999\r\n", "Alt-Svc: h2=\":1\"\r\n", "Strict-Transport-Security: max-age=1\r\n",
        "Content-Range: bytes 5-/x\r\n", "0\r\n\r\n", "5\r\nhello\r\n", "FFFFFFFFFFFFFFFFFF\r\n", "-5\r\n",
        "5;x=y\r\nhello\r\n", "Trailer: x\r\n",
    ].map { Array($0.utf8) }

    private static func damage(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        let place = Int.random(in: 0...bytes.count, using: &generator)
        let rest = bytes.count - place
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: bytes.removeLast(rest)
        case 1 where rest > 0: bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
        case 2 where rest > 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 3: bytes.removeSubrange(place..<place + Int.random(in: 0...min(rest, 12), using: &generator))
        case 4: bytes.insert(contentsOf: bytes[place..<place + min(rest, 40)], at: place)
        case 5: bytes.insert(contentsOf: words.randomElement(using: &generator)!, at: place)
        case 6:
            // Insert at the beginning of a line, where most of the words have a meaning.
            let starts = bytes.indices.filter { $0 == 0 || bytes[$0 - 1] == UInt8(ascii: "\n") }
            bytes.insert(
                contentsOf: words.randomElement(using: &generator)!, at: starts.randomElement(using: &generator) ?? 0)
        default: bytes += templates.randomElement(using: &generator)!.suffix(rest)
        }
    }

    // MARK: Valid responses

    private static let templates: [[UInt8]] = [
        answer("Content-Length: 5\r\n", "hello"),
        answer("Content-Length: 0\r\n", ""),
        answer("Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n"),
        answer("Transfer-Encoding: chunked\r\nTrailer: X-T\r\n", "5\r\nhello\r\n0\r\nX-T: yes\r\n\r\n"),
        answer("Connection: close\r\n", "until the connection ends"),
        answer(
            "Content-Type: text/plain; charset=utf-8\r\nX-A: 1\r\nX-A: 2\r\nX-Fold: a\r\n b\r\nContent-Length: 3\r\n",
            "abc"),
        Array("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".utf8) + answer("Content-Length: 2\r\n", "ok"),
        Array("HTTP/1.0 200 OK\r\n\r\nold".utf8),
        Array("HTTP/1.1 204 No Content\r\n\r\n".utf8),
        Array("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n".utf8),
        Array("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 4\r\n\r\nmove".utf8),
        Array("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 2\r\n\r\nno".utf8),
        Array("HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-4/10\r\nContent-Length: 5\r\n\r\nhello".utf8),
        answer("Content-Encoding: gzip\r\nContent-Length: \(gzip.count)\r\n", "") + gzip,
        answer("Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", "\(String(gzip.count, radix: 16))\r\n")
            + gzip
            + Array("\r\n0\r\n\r\n".utf8),
    ]

    private static func answer(_ fields: String, _ body: String) -> [UInt8] {
        Array("HTTP/1.1 200 OK\r\n\(fields)\r\n\(body)".utf8)
    }

    /// "hello hello hello hello", compressed with gzip.
    private static let gzip: [UInt8] = [
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8,
        0x40, 0x27, 0x01, 0xe3, 0x51, 0x3d, 0x8d, 0x17, 0x00, 0x00, 0x00,
    ]
}
