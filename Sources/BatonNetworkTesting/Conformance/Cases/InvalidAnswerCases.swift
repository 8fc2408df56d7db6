internal import BatonNetwork
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension HTTPTransportConformance {
    /// The cases in which an answer is not HTTP, or contradicts itself.
    static var invalidAnswerCases: [Case] {
        [
            Case("no-http-ssh", "The greeting of an SSH server is not a valid answer.", "RFC 9112, 4") { trial in
                try await requireInvalid(trial, Data("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n".utf8))
            },
            Case("no-http-icy", "A response of ICY is not a valid response.", "RFC 9112, 4") { trial in
                try await requireInvalid(trial, Data("ICY 200 OK\r\nicy-name: radio\r\n\r\nhello".utf8))
            },
            Case("no-http-tls", "An alert of TLS is not a valid answer.", "RFC 9112, 4") { trial in
                try await requireInvalid(trial, Data([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46]))
            },
            Case("no-http-garbage", "Bytes without a meaning are not a valid answer.", "RFC 9112, 4") { trial in
                for bytes in [
                    Data("000\r\n\r\n".utf8), Data(0...255), Data(count: 1000), Data("\r\n\r\n\r\n!\r\n".utf8),
                ] {
                    try await requireInvalid(trial, bytes)
                }
            },
            Case(
                "no-http-0.9", "A body without a head, as in HTTP/0.9, is not a valid answer.", "RFC 9110, 2.5"
            ) { trial in
                try await requireInvalid(trial, Data("<html><body>hello</body></html>\n".utf8))
            },
            Case(
                "no-http-status", "A status that is not a number of three digits is not a valid answer.", "RFC 9112, 4"
            ) { trial in
                for status in ["abc", "20", "2000", "-200", ""] {
                    try await requireInvalid(
                        trial, Data("HTTP/1.1 \(status) OK\r\nContent-Length: 5\r\n\r\nhello".utf8))
                }
            },
            Case(
                "no-http-greeting", "A server that speaks before the request is not an HTTP server.", "RFC 9112, 4"
            ) { trial in
                let greeter = try FaultServer(greeting: [
                    .send("220 mail.example ESMTP\r\n"), .pause(.milliseconds(200)), .close,
                ])
                defer { greeter.stop() }
                for _ in 0..<3 {
                    let outcome = await trial.send(URLRequest(url: greeter.url()))
                    try trial.requireError(outcome, .invalid)
                }
            },
            Case(
                "encoding-unknown", "An answer with an unknown Content-Encoding is not valid.", "RFC 9110, 8.4"
            ) { trial in
                try await requireInvalid(trial, encoding: "foo", Data("hello".utf8))
            },
            Case(
                "encoding-bad", "A body that is not packed as its head says is not a valid answer.", "RFC 9110, 8.4"
            ) { trial in
                try await requireInvalid(trial, encoding: "gzip", Data("this is not gzip".utf8))
                try await requireInvalid(trial, encoding: "deflate", Data("this is not deflate".utf8))
            },
            Case("lengths-differ", "Two different Content-Lengths make no valid answer.", "RFC 9112, 6.3") { trial in
                for fields in ["Content-Length: 5\r\nContent-Length: 7", "Content-Length: 5, 7"] {
                    try await requireInvalid(trial, Data("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\nhello!!".utf8))
                }
            },
            Case("length-overflows", "A Content-Length beyond 64 bits is never a success.", "RFC 9110, 8.6") { trial in
                for length in ["9223372036854775808", "18446744073709551621", "99999999999999999999999999"] {
                    let outcome = await trial.reply("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nhello")
                    try trial.requireError(outcome, .invalid, .tooShort, .broken, for: length)
                }
            },
            Case(
                "length-no-number", "A Content-Length that is not a number is an error.", "RFC 9112, 6.3"
            ) { trial in
                for length in ["-5", "five", "0x5", "5x"] {
                    try await requireInvalid(
                        trial, Data("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nhello".utf8))
                }
            },
            Case("chunk-size-bad", "A chunk size that is not a number is an error.", "RFC 9112, 7.1") { trial in
                for size in ["zz", "", "-5", "FFFFFFFFFFFFFFFFFFFF"] {
                    let bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\nhello\r\n0\r\n\r\n"
                    try await requireInvalid(trial, Data(bytes.utf8), for: "the size ‘\(size)’")
                }
            },
            Case(
                "chunk-line-without-end", "A line of a chunk that never ends is refused with a typed error."
            ) { trial in
                for line in ["0", "5;name=value", "0\r\nX-Trailer: value"] {
                    trial.server.on(
                        "/", .answerHead(200, ["Transfer-Encoding: chunked"]), .send(line),
                        .sendRepeatedly("0", count: 100_000_000), .close)
                    let outcome = try await within(.seconds(15), line) { await trial.get() }
                    guard case .error = outcome else {
                        throw trial.failure("\(line): expected an HTTPError, but got \(outcome)")
                    }
                }
            },
            Case(
                "any-bytes", "Whatever a server sends, there is an answer or an HTTPError.", limit: .seconds(60)
            ) { trial in
                let answers = [
                    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello",
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n5\r\nhello\r\n0\r\nX-T: "
                        + "1\r\n\r\n",
                    "HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\nHTTP/1.0 404 Gone\r\nSet-Cookie: a=b; Path=/x\r\n\r\n"
                        + "hello",
                    "HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1/\r\nConnection: close\r\nContent-Length: "
                        + "0\r\n\r\n",
                    "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\nContent-Encoding: "
                        + "gzip\r\n\r\n",
                ]
                var random = RepeatableGenerator(seed: 1)
                for _ in 0..<600 {
                    let bytes = mutated(Data(answers.randomElement(using: &random)!.utf8), using: &random)
                    trial.server.on("/", .send(bytes), Bool.random(using: &random) ? .close : .closeAfterReading)
                    let outcome = try await within(.seconds(10), "\(String(reflecting: text(bytes)))") {
                        await trial.get()
                    }
                    switch outcome {
                    case .answer, .error: break
                    case .cancelled, .other:
                        throw trial.failure("\(String(reflecting: text(bytes))): there was \(outcome)")
                    }
                }
            },
        ]
    }

    private static func text(_ bytes: Data) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Returns the bytes with up to four changes: cut off, removed, repeated, or overwritten.
    private static func mutated(_ bytes: Data, using random: inout RepeatableGenerator) -> Data {
        var bytes = Array(bytes)
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            let end = min(bytes.count, place + Int.random(in: 1...8, using: &random))
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes.removeSubrange(place...)
            case 1: bytes.removeSubrange(place..<end)
            case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
            case 3: bytes[place] = Array("\r\n :;,=0-9f\"".utf8).randomElement(using: &random)!
            default: bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
        }
        return Data(bytes)
    }

    /// Requires that the bytes are an invalid answer, and that this error does not cause a retry.
    private static func requireInvalid(_ trial: Trial, _ bytes: Data, for what: String? = nil) async throws {
        try trial.requireError(await trial.reply(bytes), .invalid, for: what ?? String(decoding: bytes, as: UTF8.self))
        try trial.requireEqual(HTTPError(.invalidAnswer(""), trial.request()).isTransient, false, "isTransient")
    }

    private static func requireInvalid(_ trial: Trial, encoding: String, _ body: Data) async throws {
        trial.server.on(
            "/", .answerHead(200, ["Content-Encoding: \(encoding)", "Content-Length: \(body.count)"]), .send(body))
        try trial.requireError(await trial.get(), .invalid, for: encoding)
    }
}

/// A generator that returns the same numbers each time: SplitMix64.
private struct RepeatableGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
