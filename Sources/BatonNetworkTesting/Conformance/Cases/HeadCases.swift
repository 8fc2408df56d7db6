internal import BatonNetwork
internal import Foundation

extension HTTPTransportConformance {
    /// The cases about the syntax of a head: RFC 9110, 5, and RFC 9112, 5.
    static var headCases: [Case] {
        [
            Case("head-byte-by-byte", "A head may come byte by byte.", "RFC 9112, 2.2") { trial in
                trial.server.on(
                    "/",
                    .sendSlowly("HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 5\r\n\r\nhello", every: .milliseconds(2)))
                let head = try trial.requireAnswer(await trial.get(), body: "hello")
                try trial.requireEqual(head.headers["X-A"], "1", "X-A")
            },
            Case("field-without-blank", "A blank after the colon of a field is optional.", "RFC 9112, 5.1") { trial in
                let head = try trial.requireAnswer(
                    await trial.reply("HTTP/1.1 200 OK\r\nX-A:b\r\nContent-Length:5\r\n\r\nhello"), body: "hello")
                try trial.requireEqual(head.headers["X-A"], "b", "X-A")
                try trial.requireEqual(head.contentLength, 5, "contentLength")
            },
            Case("field-blanks", "Blanks around a value are not part of it.", "RFC 9110, 5.6.3") { trial in
                let outcome = await trial.reply(
                    "HTTP/1.1 200 OK\r\nX-A: \t b c \t \r\nContent-Length:\t5  \r\n\r\nhello")
                let head = try trial.requireAnswer(outcome, body: "hello")
                try trial.requireEqual(head.headers["X-A"], "b c", "X-A")
                try trial.requireEqual(head.contentLength, 5, "contentLength")
            },
            Case("field-empty", "A value may be empty, or of blanks alone.", "RFC 9110, 5.5") { trial in
                let outcome = await trial.reply(
                    "HTTP/1.1 200 OK\r\nX-None:\r\nX-Blank: \r\nX-Blanks:   \t \r\nContent-Length: 5\r\n\r\nhello")
                let head = try trial.requireAnswer(outcome, body: "hello")
                for name in ["X-None", "X-Blank", "X-Blanks"] { try trial.requireEqual(head.headers[name], "", name) }
            },
            Case("field-obs-text", "Bytes of 0x80 and more in a value are accepted.", "RFC 9110, 5.5") { trial in
                for field in ["Content-Disposition: attachment; filename=caf?.txt", "X-A: ?", "Location: /x?"] {
                    var bytes = Data("HTTP/1.1 200 OK\r\n\(field)\r\nContent-Length: 5\r\n\r\nhello".utf8)
                    bytes[bytes.firstIndex(of: UInt8(ascii: "?"))!] = 0xE9
                    let head = try trial.requireAnswer(await trial.reply(bytes), body: "hello", to: field)
                    let name = String(field.prefix { $0 != ":" })
                    try trial.require(head.headers[name] != nil, "\(name) is missing")
                }
                let outcome = await trial.reply("HTTP/1.1 200 Très bien\r\nX-A: é\r\nContent-Length: 5\r\n\r\nhello")
                let head = try trial.requireAnswer(outcome, body: "hello", to: "UTF-8")
                try trial.requireEqual(head.headers["X-A"], "é", "a value in UTF-8")
            },
            Case(
                "field-folded", "A value on several lines is one with blanks between, or no valid answer.",
                "RFC 9112, 5.2"
            ) { trial in
                let outcome = await trial.reply(
                    "HTTP/1.1 200 OK\r\nX-A: b\r\n c\r\n\td\r\nContent-Length: 5\r\n\r\nhello")
                guard case .answer = outcome else { return try trial.requireError(outcome, .invalid) }
                let head = try trial.requireAnswer(outcome, body: "hello")
                let words = head.headers["X-A"]?.split { $0 == " " || $0 == "\t" }.map(String.init)
                try trial.requireEqual(words, ["b", "c", "d"], "the words of X-A")
            },
            Case(
                "field-names-in-any-case", "Names of fields are the same in upper and lower case.", "RFC 9110, 5.1"
            ) { trial in
                let outcome = await trial.reply(
                    "HTTP/1.1 200 OK\r\nx-lower: 1\r\nX-UPPER: 2\r\ncOnTeNt-LeNgTh: 5\r\n\r\nhello more")
                let head = try trial.requireAnswer(outcome, body: "hello")
                try trial.requireEqual(head.headers["X-Lower"], "1", "X-Lower")
                try trial.requireEqual(head.headers["x-upper"], "2", "x-upper")
                try trial.requireEqual(head.contentLength, 5, "contentLength")
            },
            Case(
                "fields-of-one-name", "Fields of one name keep their values apart, in their order.", "RFC 9110, 5.3"
            ) { trial in
                let outcome = await trial.reply(
                    "HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: 2, 3\r\nX-B: b\r\nX-A: 4\r\nContent-Length: 0\r\n\r\n")
                let head = try trial.requireAnswer(outcome)
                try trial.requireEqual(head.headers.values(of: "X-A"), ["1", "2, 3", "4"], "the values of X-A")
            },
            Case("fields-of-cookies", "Fields ‘Set-Cookie’ are never one field.", "RFC 9110, 5.3") { trial in
                let values = ["a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT", "b=2; Path=/"]
                trial.server.on("/") { _ in FaultScript([.answer(200, values.map { "Set-Cookie: " + $0 })]) }
                let head = try trial.requireAnswer(await trial.get())
                try trial.requireEqual(head.headers.values(of: "Set-Cookie"), values, "the values of Set-Cookie")
            },
            Case(
                "line-feeds", "Lines that end with a line feed alone are understood, or no valid answer.",
                "RFC 9112, 2.2"
            ) { trial in
                let outcome = await trial.reply("HTTP/1.1 200 OK\nX-A: b\nContent-Length: 5\n\nhello")
                guard case .answer = outcome else { return try trial.requireError(outcome, .invalid) }
                let head = try trial.requireAnswer(outcome, body: "hello")
                try trial.requireEqual(head.headers["X-A"], "b", "X-A")
            },
            Case("interim", "An interim answer is not the answer.", "RFC 9110, 15.2") { trial in
                try await requireFinal(
                    trial, after: ["HTTP/1.1 103 Early Hints\r\nLink: </s.css>\r\nX-Early: 1\r\n\r\n"])
                try await requireFinal(trial, after: ["HTTP/1.1 100 Continue\r\n\r\n"])
                try await requireFinal(trial, after: ["HTTP/1.1 102 Processing\r\n\r\n"])
            },
            Case("interim-three", "Several interim answers may come before the answer.", "RFC 9110, 15.2") { trial in
                let early = "HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n"
                try await requireFinal(trial, after: ["HTTP/1.1 100 Continue\r\n\r\n", early, early])
            },
            Case(
                "interim-hides-nothing", "The status after an interim answer is that of the answer.", "RFC 9110, 15.2"
            ) { trial in
                trial.server.on(
                    "/", .send("HTTP/1.1 103 Early Hints\r\n\r\n"), .pause(.milliseconds(20)),
                    .answer(404, body: "gone"))
                for _ in 0..<2 { try trial.requireAnswer(await trial.get(), 404, body: "gone") }
            },
            Case("head-without-end", "A head that never ends is refused with a typed error.") { trial in
                trial.server.on("/", .send("HTTP/1.1 200 OK\r\n"), .sendRepeatedly("X-A: 0123456789\r\n", count: .max))
                try trial.requireError(await trial.get(), .invalid)
                trial.server.on("/", .send("HTTP/1.1 200 OK\r\n"), .sendRepeatedly("v", count: .max))
                try trial.requireError(await trial.get(), .invalid, for: "one line")
            },
            Case("interim-without-end", "Interim answers that never end are refused with a typed error.") { trial in
                trial.server.on(
                    "/", .sendRepeatedly("HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n", count: 1_000_000))
                try trial.requireError(await trial.get(), .invalid)
            },
            Case("head-of-1-MB", "A head of 1 MB is answered or refused with a typed error.") { trial in
                let field = String(repeating: "v", count: 1000)
                let fields = (0..<1000).map { "X-\($0): \(field)" }
                try await requireAnswerOrError(trial, fields, expecting: ("X-999", field))
            },
            Case("line-of-200-KB", "A line of 200 KB in a head is answered or refused with a typed error.") { trial in
                let value = String(repeating: "v", count: 200_000)
                try await requireAnswerOrError(trial, ["X-A: \(value)"], expecting: ("X-A", value))
            },
            Case("fields-100000", "A head of 100,000 fields is answered or refused with a typed error.") { trial in
                let fields = (0..<100_000).map { "X-\($0): \($0)" }
                try await requireAnswerOrError(trial, fields, expecting: ("X-99999", "99999"))
            },
        ]
    }

    private static func requireFinal(_ trial: Trial, after interim: [String]) async throws {
        // The interim answers are sent with pauses, so that each is read on its own, and all at once.
        let steps = interim.flatMap { [FaultStep.send($0), .pause(.milliseconds(10))] }
        let answer = FaultStep.answer(200, ["X-Final: 2"], body: "hello")
        trial.server.on("/") { _ in FaultScript(steps + [answer]) }
        trial.server.on("/at-once") { _ in FaultScript([.send(interim.joined()), answer]) }
        for target in ["/", "/at-once", "/"] {
            let head = try trial.requireAnswer(await trial.get(target), body: "hello", to: target)
            try trial.requireEqual(head.headers["X-Final"], "2", "X-Final")
            try trial.requireEqual(head.headers["X-Early"], nil, "a field of the interim answer")
            // A transport need not report interim answers, but must not report wrong ones.
            if !head.interimHeads.isEmpty {
                let statuses = interim.compactMap { Int($0.split(separator: " ")[1]) }
                try trial.requireEqual(head.interimHeads.map(\.status), statuses, "the interim answers")
            }
        }
    }

    private static func requireAnswerOrError(
        _ trial: Trial, _ fields: [String], expecting expected: (name: String, value: String)
    ) async throws {
        trial.server.on("/") { _ in FaultScript([.answer(200, fields, body: "hello"), .closeAfterReading]) }
        let outcome = await trial.get()
        guard case .answer(let head, let body) = outcome else { return try trial.requireError(outcome, .invalid) }
        try trial.requireEqual(body, Data("hello".utf8), "the body")
        try trial.require(head.headers[expected.name] == expected.value, "the last field is not right")
    }
}
