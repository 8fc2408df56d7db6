internal import BatonNetwork
internal import Foundation

extension HTTPTransportConformance {
    /// The cases in which the connection ends before the answer does: RFC 9112, 8.
    static var brokenAnswerCases: [Case] {
        [
            Case(
                "closed-at-once",
                "The transport reports a broken connection if the connection closes before the response.",
                "RFC 9112, 8"
            ) { trial in
                trial.server.on("/", .close)
                try trial.requireError(await trial.get(), .broken)
            },
            Case(
                "closed-in-status-line",
                "The transport reports a broken connection if the connection closes inside the status line.",
                "RFC 9112, 8"
            ) { trial in
                let line = Data("HTTP/1.1 200 OK\r\n".utf8)
                for count in 1..<line.count {
                    let text = String(decoding: line.prefix(count), as: UTF8.self)
                    try trial.requireBroken(await trial.reply(line.prefix(count)), for: "after ‘\(text)’")
                }
            },
            Case(
                "closed-in-head", "The transport reports a broken connection if the connection closes inside the head.",
                "RFC 9112, 8"
            ) { trial in
                try await requireBroken(trial, at: heads, then: .close)
            },
            Case(
                "closed-in-interim",
                "The transport reports a broken connection if only an interim response is complete.",
                "RFC 9110, 15.2"
            ) { trial in
                for bytes in [
                    "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nX-A: 1\r\n\r\nHTTP/1.1 200 O",
                ] {
                    try trial.requireBroken(await trial.reply(bytes), for: bytes)
                }
            },
            Case("closed-in-chunk", "A chunked body without its last chunk is incomplete.", "RFC 9112, 8") { trial in
                try await requireBroken(trial, at: [chunkedBody], then: .close)
            },
            Case(
                "closed-in-body", "A body that is shorter than its Content-Length is incomplete.", "RFC 9112, 8"
            ) { trial in
                for count in 0..<5 {
                    let bytes = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n" + "hello".prefix(count)
                    let outcome = await trial.reply(bytes)
                    guard case .error(.bodyTooShort(received: let received, promised: let promised)) = outcome else {
                        throw trial.failure("\(count) of 5 bytes: expected .bodyTooShort, but got \(outcome)")
                    }
                    try trial.requireEqual(Int(received), count, "the number of received bytes")
                    try trial.requireEqual(promised, 5, "the promised number of bytes")
                }
            },
            Case(
                "closed-in-head-of-post",
                "The transport reports a broken connection if the connection closes inside the response to a POST.",
                "RFC 9112, 8"
            ) { trial in
                for bytes in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nX-A: 1\r\n"] {
                    trial.server.on("/", .send(bytes), .close)
                    let outcome = await trial.send(trial.request("/", "POST"), .data(Data("hello".utf8)))
                    try trial.requireBroken(outcome, for: "after ‘\(bytes)’")
                }
            },
            Case(
                "reset-at-once",
                "The transport reports a broken connection if the connection is reset before the response.",
                "RFC 9112, 8"
            ) { trial in
                trial.server.on("/", .reset)
                try trial.requireError(await trial.get(), .broken)
            },
            Case(
                "reset-in-status-line",
                "The transport reports a broken connection if the connection is reset inside the status line.",
                "RFC 9112, 8"
            ) { trial in
                for bytes in ["H", "HTTP/1.1", "HTTP/1.1 200", "HTTP/1.1 200 OK\r"] {
                    try trial.requireBroken(await trial.reply(bytes, then: .reset), for: "after ‘\(bytes)’")
                }
            },
            Case(
                "reset-in-head",
                "The transport reports a broken connection if the connection is reset inside the head.",
                "RFC 9112, 8"
            ) { trial in
                try await requireBroken(trial, at: heads, then: .reset)
            },
            Case(
                "reset-in-chunk", "A chunked body is incomplete if the connection is reset before the last chunk.",
                "RFC 9112, 8"
            ) { trial in
                try await requireBroken(trial, at: [chunkedBody], then: .reset)
            },
            Case(
                "reset-in-body",
                "A body is incomplete if the connection is reset before Content-Length bytes have arrived.",
                "RFC 9112, 8"
            ) { trial in
                for count in 0..<5 {
                    let bytes = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n" + "hello".prefix(count)
                    try trial.requireBroken(await trial.reply(bytes, then: .reset), for: "\(count) of 5 bytes")
                }
            },
            Case(
                "reset-in-body-until-close", "If the body ends with the connection, a reset makes it incomplete.",
                "RFC 9112, 8"
            ) { trial in
                trial.server.on("/", .send("HTTP/1.1 200 OK\r\n\r\nhello"), .waitForRelease("read"), .reset)
                let answer = try await trial.transport.send(trial.request(), body: nil) { _ in }
                trial.server.release("read")
                do {
                    for try await _ in answer.body {}
                } catch {
                    return try trial.requireError(Trial.Outcome(error), .broken)
                }
                throw trial.failure("the body ended as if it were complete")
            },
            Case(
                "gzip-cut", "A truncated gzip body is an error even if its length matches Content-Length.",
                "RFC 9110, 8.4.1.3"
            ) { trial in
                let bytes = CompressedSamples.gzip.dropLast(10)
                trial.server.on(
                    "/", .answerHead(200, ["Content-Encoding: gzip", "Content-Length: \(bytes.count)"]), .send(bytes))
                try trial.requireError(await trial.get(), .invalid, .broken, .tooShort)
            },
        ]
    }

    private static let heads = [
        CutResponse("HTTP/1.1 200 OK\r\n", "X-A: 1\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n"),
        CutResponse(
            "HTTP/1.1 206 P\r\n", "Upgrade: h2c\r\nLocation: /x\r\nWWW-Authenticate: Basic realm=\"r\"\r\n"),
        CutResponse("HTTP/1.1 301 Moved\r\n", "Location: /next\r\nTransfer-Encoding: chunked\r\n"),
        CutResponse("HTTP/1.1 204 No Content\r\n", "X-A: 1\r\n"),
    ]

    private static let chunkedBody = CutResponse(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "5\r\nhello\r\n10\r\n0123456789abcdef\r\n")

    /// A response that is sent in part: always the beginning, and none, some or all bytes of the rest.
    private struct CutResponse {
        let beginning: String
        let rest: String

        init(_ beginning: String, _ rest: String) {
            self.beginning = beginning
            self.rest = rest
        }
    }

    /// Sends each response cut off at every position in its rest, and requires that the transport reports a broken
    /// connection.
    private static func requireBroken(_ trial: Trial, at responses: [CutResponse], then end: FaultStep) async throws {
        for response in responses {
            let bytes = Data((response.beginning + response.rest).utf8)
            for count in response.beginning.utf8.count...bytes.count {
                let begin = bytes.prefix(count)
                let what = "after ‘\(String(decoding: begin, as: UTF8.self))’"
                try trial.requireBroken(await trial.reply(begin, then: end), for: what)
            }
        }
    }
}
