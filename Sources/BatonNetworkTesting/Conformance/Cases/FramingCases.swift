internal import BatonNetwork
internal import Foundation

extension HTTPTransportConformance {
    /// The cases about the length and the end of a body: RFC 9112, 6 and 7.
    static var framingCases: [Case] {
        [
            Case("length", "A body with a Content-Length has so many bytes.", "RFC 9112, 6.3") { trial in
                let head = try trial.requireAnswer(
                    await trial.reply("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), body: "hello")
                try trial.requireEqual(head.contentLength, 5, "contentLength")
                try trial.requireEqual(head.url, trial.server.url(), "the address in the head")
            },
            Case(
                "length-no-more", "What follows a body with a Content-Length is not part of it.", "RFC 9112, 6.3"
            ) { trial in
                try trial.requireAnswer(
                    await trial.reply("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more"), body: "hello")
            },
            Case("length-zero", "A body may be empty.", "RFC 9112, 6.3") { trial in
                try trial.requireAnswer(await trial.reply("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), body: "")
            },
            Case(
                "length-twice-the-same", "Two equal Content-Lengths are one, or no valid answer.", "RFC 9110, 8.6"
            ) { trial in
                let outcome = await trial.reply(
                    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello")
                if case .answer = outcome {
                    try trial.requireAnswer(outcome, body: "hello")
                } else {
                    try trial.requireError(outcome, .invalid)
                }
            },
            Case(
                "chunked", "The chunks of a body are put together, extensions are ignored.", "RFC 9112, 7.1"
            ) { trial in
                let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                try trial.requireAnswer(
                    await trial.reply(head + "2\r\nhe\r\n3;name=value;x=\"y\"\r\nllo\r\n0\r\n\r\n"), body: "hello")
                try trial.requireAnswer(await trial.reply(head + "0\r\n\r\n"), body: "", to: "no chunk")
                try trial.requireAnswer(
                    await trial.reply(head + "00A\r\n0123456789\r\n1\r\na\r\n00\r\n\r\n"), body: "0123456789a",
                    to: "zeros before the size")
            },
            Case(
                "chunked-in-upper-case", "The name of a transfer coding is the same in any case.", "RFC 9112, 7"
            ) { trial in
                try trial.requireAnswer(
                    await trial.reply("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
                    body: "hello")
            },
            Case("chunked-trailers", "Trailers after a chunked body do not disturb it.", "RFC 9112, 7.1.2") { trial in
                let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                let body = "\r\n5\r\nhello\r\n0\r\nX-T: yes\r\nServer-Timing: db;dur=5\r\n\r\n"
                for end in [FaultStep.close, .pause(.zero)] {
                    try trial.requireAnswer(await trial.reply(head + body, then: end), body: "hello")
                    try trial.requireAnswer(
                        await trial.reply(head + "Trailer: X-T\r\n" + body, then: end), body: "hello")
                }
            },
            Case(
                "chunked-wins", "With a Transfer-Encoding, a Content-Length does not count.", "RFC 9112, 6.3"
            ) { trial in
                let outcome = await trial.reply(
                    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
                try trial.requireAnswer(outcome, body: "hello")
            },
            Case("chunked-byte-by-byte", "A chunked body may come byte by byte.", "RFC 9112, 7.1") { trial in
                trial.server.on(
                    "/", .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
                    .sendSlowly("5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", every: .milliseconds(2)))
                try trial.requireAnswer(await trial.get(), body: "hello!")
            },
            Case(
                "until-close", "Without a length, a body goes on until the connection is closed.", "RFC 9112, 6.3"
            ) { trial in
                try trial.requireAnswer(await trial.reply("HTTP/1.1 200 OK\r\n\r\nhello"), body: "hello")
                try trial.requireAnswer(await trial.reply("HTTP/1.1 200 OK\r\n\r\n"), body: "", to: "an empty one")
            },
            Case(
                "http-1.0", "A response of HTTP/1.0 is understood, with and without a length.", "RFC 9112, 2.3"
            ) { trial in
                try trial.requireAnswer(await trial.reply("HTTP/1.0 200 OK\r\n\r\nhello"), body: "hello")
                try trial.requireAnswer(
                    await trial.reply("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"), body: "hello")
            },
            Case("no-reason-phrase", "A status line may have no reason phrase.", "RFC 9112, 4") { trial in
                for line in ["HTTP/1.1 200 ", "HTTP/1.1 200"] {
                    try trial.requireAnswer(
                        await trial.reply(line + "\r\nContent-Length: 5\r\n\r\nhello"), body: "hello", to: "‘\(line)’")
                }
            },
            Case(
                "no-body-204", "A 204 response has no body, whatever its Content-Length says.", "RFC 9112, 6.3"
            ) { trial in
                try await requireNoBody(trial, 204)
            },
            Case(
                "no-body-304", "A 304 response has no body, whatever its Content-Length says.", "RFC 9112, 6.3"
            ) { trial in
                try await requireNoBody(trial, 304)
            },
            Case("head", "The answer to a HEAD has no body, whatever its head says.", "RFC 9110, 9.3.2") { trial in
                for field in ["Content-Length: 5", "Transfer-Encoding: chunked", "Content-Encoding: gzip"] {
                    trial.server.on("/", .answerHead(200, [field]))
                    for _ in 0..<2 {
                        let request = trial.request("/", "HEAD")
                        let head = try trial.requireAnswer(await trial.send(request), body: "", to: field)
                        if field == "Content-Length: 5" {
                            try trial.requireEqual(head.contentLength, 5, "contentLength")
                        }
                    }
                }
                try trial.requireEqual(Set(trial.server.requests.map(\.method)), ["HEAD"], "the methods")
            },
            Case("gzip", "A body that is packed by gzip is unpacked.", "RFC 9110, 8.4.1.3") { trial in
                for name in ["gzip", "GZIP", "x-gzip"] {
                    try await requireUnpacked(trial, name, CompressedSamples.gzip)
                }
            },
            Case(
                "deflate", "A body that is packed by deflate, in the format of zlib, is unpacked.", "RFC 9110, 8.4.1.2"
            ) { trial in
                try await requireUnpacked(trial, "deflate", CompressedSamples.deflate)
            },
            Case(
                "deflate-raw", "What calls itself deflate without the format of zlib is unpacked or refused.",
                "RFC 9110, 8.4.1.2"
            ) { trial in
                try await requireUnpackedOrRefused(trial, "deflate", CompressedSamples.rawDeflate)
            },
            Case(
                "encodings-several", "A body that was packed twice is unpacked twice or refused.", "RFC 9110, 8.4"
            ) { trial in
                try await requireUnpackedOrRefused(trial, "deflate, gzip", CompressedSamples.deflateAndGzip)
            },
            Case(
                "gzip-members", "The members of a gzip body are one body, or it is refused.", "RFC 1952, 2.2"
            ) { trial in
                try await requireUnpackedOrRefused(
                    trial, "gzip", CompressedSamples.gzipOfHalf + CompressedSamples.gzipOfHalf)
            },
            Case("gzip-empty", "A body of 0 bytes may be called packed.", "RFC 9110, 8.4") { trial in
                for fields in [["Content-Length: 0"], ["Transfer-Encoding: chunked"]] {
                    let body = fields == ["Content-Length: 0"] ? "" : "0\r\n\r\n"
                    trial.server.on("/") { _ in
                        FaultScript([.answerHead(200, ["Content-Encoding: gzip"] + fields), .send(body)])
                    }
                    try trial.requireAnswer(await trial.get(), body: "", to: fields[0])
                }
                trial.server.on("/", .answerHead(304, ["Content-Encoding: gzip", "Content-Length: 100"]))
                try trial.requireAnswer(await trial.get(), 304, body: "")
            },
            Case("identity", "The Content-Encoding ‘identity’ changes nothing.", "RFC 9110, 8.4") { trial in
                trial.server.on("/", .answer(200, ["Content-Encoding: identity"], body: "hello"))
                try trial.requireAnswer(await trial.get(), body: "hello")
            },
        ]
    }

    /// Requires that an answer has no body. A second request uses the same connection, so that a surplus byte would be
    /// noticed.
    private static func requireNoBody(_ trial: Trial, _ status: Int) async throws {
        for field in ["Content-Length: 5", "Transfer-Encoding: chunked"] {
            trial.server.on("/", .answerHead(status, [field]))
            for _ in 0..<2 { try trial.requireAnswer(await trial.get(), status, body: "", to: field) }
        }
    }

    private static func requireUnpackedOrRefused(_ trial: Trial, _ name: String, _ bytes: Data) async throws {
        trial.server.on(
            "/", .answerHead(200, ["Content-Encoding: \(name)", "Content-Length: \(bytes.count)"]), .send(bytes))
        let outcome = await trial.get()
        guard case .answer = outcome else { return try trial.requireError(outcome, .invalid) }
        try trial.requireAnswer(outcome, body: CompressedSamples.text)
    }

    private static func requireUnpacked(_ trial: Trial, _ name: String, _ bytes: Data) async throws {
        for isChunked in [false, true] {
            let length = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(bytes.count)"
            let size = String(bytes.count, radix: 16)
            let body = isChunked ? Data("\(size)\r\n".utf8) + bytes + Data("\r\n0\r\n\r\n".utf8) : bytes
            trial.server.on("/", .answerHead(200, ["Content-Encoding: \(name)", length]), .send(body))
            let head = try trial.requireAnswer(await trial.get(), body: CompressedSamples.text, to: name)
            try trial.requireEqual(head.contentLength, nil, "contentLength of a packed body")
        }
    }
}
