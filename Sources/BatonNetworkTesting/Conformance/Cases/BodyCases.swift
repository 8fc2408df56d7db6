internal import BatonNetwork
internal import Foundation

extension HTTPTransportConformance {
    /// The cases about reading a body.
    static var bodyCases: [Case] {
        [
            Case("head-before-body", "The head is returned before the body has come.") { trial in
                trial.server.on(
                    "/", .answerHead(200, ["Content-Length: 5"]), .waitForRelease("body"), .send("hello"))
                let answer = try await trial.transport.send(trial.request(), body: nil) { _ in }
                try trial.requireEqual(answer.head.status, 200, "the status")
                trial.server.release("body")
                var data = Data()
                for try await piece in answer.body { data.append(piece) }
                try trial.requireEqual(data, Data("hello".utf8), "the body")
            },
            Case("pieces-as-they-come", "A piece of the body can be read before the rest has arrived.") { trial in
                trial.server.on(
                    "/", .answerHead(200, ["Content-Length: 10"]), .send("hello"), .waitForRelease("rest"),
                    .send("again"))
                let answer = try await trial.transport.send(trial.request(), body: nil) { _ in }
                var iterator = answer.body.makeAsyncIterator()
                var data = Data()
                while data.count < 5, let piece = try await iterator.next() { data.append(piece) }
                try trial.requireEqual(data, Data("hello".utf8), "the first piece")
                trial.server.release("rest")
                while let piece = try await iterator.next() {
                    try trial.require(!piece.isEmpty, "a piece is empty")
                    data.append(piece)
                }
                try trial.requireEqual(data, Data("helloagain".utf8), "the body")
                try trial.requireEqual(try await iterator.next(), nil, "what follows the end")
            },
            Case("large", "30 MB come in the right order.", limit: .seconds(60)) { trial in
                for isChunked in [false, true] {
                    trial.server.on(
                        "/", .answerHead(200, [isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(large)"]),
                        .sendPattern(count: large, chunked: isChunked))
                    let answer = try await trial.transport.send(trial.request(), body: nil) { _ in }
                    try await readLarge(trial, answer)
                }
            },
            Case("large-slowly", "A slow reader of 30 MB costs a few MB of memory.", limit: .seconds(60)) { trial in
                trial.server.on(
                    "/", .answerHead(200, ["Content-Length: \(large)"]), .sendPattern(count: large))
                // Fills the static buffer of the pattern before the memory is measured.
                _ = PatternBytes.data(1)
                let before = ResidentMemory.bytes
                let answer = try await trial.transport.send(trial.request(), body: nil) { _ in }
                var most = 0
                var pieces = 0
                try await ContinuousClock().sleep(for: .milliseconds(500))
                try await readLarge(trial, answer) {
                    pieces += 1
                    if pieces % 10 == 0, pieces < 300 { try await ContinuousClock().sleep(for: .milliseconds(10)) }
                    if pieces % 10 == 1 { most = max(most, ResidentMemory.bytes - before) }
                }
                try trial.require(most < 12 << 20, "the process grew by \(most >> 10) KB while it read slowly")
            },
            Case(
                "large-unread", "A body that nobody reads yet costs a few MB of memory.", limit: .seconds(60)
            ) { trial in
                trial.server.on(
                    "/", .answerHead(200, ["Content-Length: \(large)"]), .sendPattern(count: large))
                trial.server.on("/small", .answer(200, body: "hello"))
                // Fills the static buffer of the pattern before the memory is measured.
                _ = PatternBytes.data(1)
                let before = ResidentMemory.bytes
                let answers = try await withThrowingTaskGroup(of: HTTPAnswer.self) { group in
                    for _ in 0..<3 {
                        group.addTask { try await trial.transport.send(trial.request(), body: nil) { _ in } }
                    }
                    return try await group.reduce(into: [HTTPAnswer]()) { $0.append($1) }
                }
                try await ContinuousClock().sleep(for: .milliseconds(1000))
                let grown = ResidentMemory.bytes - before
                try trial.require(grown < 16 << 20, "the process grew by \(grown >> 10) KB for three bodies")
                // A body that is not read must not delay other requests.
                try trial.requireAnswer(await trial.get("/small"), body: "hello")
                for answer in answers { try await readLarge(trial, answer) }
            },
            Case(
                "large-when-unpacked", "Reading a highly compressed body takes a few MB of memory.",
                limit: .seconds(60)
            ) { trial in
                let bytes = CompressedSamples.zeros(groups: 31_000)
                trial.server.on(
                    "/", .answerHead(200, ["Content-Encoding: deflate", "Content-Length: \(bytes.data.count)"]),
                    .send(bytes.data))
                let before = ResidentMemory.bytes
                var (count, most) = (0, 0)
                do {
                    let answer = try await trial.transport.send(trial.request(), body: nil) { _ in }
                    try await ContinuousClock().sleep(for: .milliseconds(500))
                    for try await piece in answer.body {
                        count += piece.count
                        most = max(most, ResidentMemory.bytes - before)
                    }
                    try trial.requireEqual(count, bytes.unpackedCount, "the number of bytes")
                } catch let error as HTTPError {
                    // A transport may also refuse such a body.
                    try trial.requireError(.error(error.reason), .invalid)
                }
                try trial.require(most < 16 << 20, "the process grew by \(most >> 10) KB")
            },
            Case("reader-asks", "A reader may make another request while it reads.", limit: .seconds(60)) { trial in
                trial.server.on("/", .answerHead(200, ["Content-Length: 3000000"]), .sendPattern(count: 3_000_000))
                trial.server.on("/small", .answer(200, body: "hello"))
                let answer = try await trial.transport.send(trial.request(), body: nil) { _ in }
                var (count, pieces) = (0, 0)
                for try await piece in answer.body {
                    if pieces < 50 { try trial.requireAnswer(await trial.get("/small"), body: "hello") }
                    try trial.require(PatternBytes.matches(piece, from: count), "the bytes are not right at \(count)")
                    count += piece.count
                    pieces += 1
                }
                try trial.requireEqual(count, 3_000_000, "the number of bytes")
            },
            Case("unread", "The connection of a response that is released unread is closed.") { trial in
                trial.server.on("/") { _ in allButTheLastByte }
                trial.server.on("/held", .answerHead(200, ["Content-Length: 5"]), .waitForRelease("never"))
                for (number, target) in ["/", "/held"].enumerated() {
                    // The answer is released at once.
                    let head = try await trial.transport.send(trial.request(target), body: nil) { _ in }.head
                    try trial.requireEqual(head.status, 200, "the status")
                    try await within(.seconds(5), "the end of the connection of \(target)") {
                        _ = try await trial.server.waitForEnd(ofConnection: number)
                    }
                }
            },
            Case("unread-rest", "The connection of a response that is released half read is closed.") { trial in
                trial.server.on("/") { _ in allButTheLastByte }
                try await readOnePiece(trial)
                try await within(.seconds(5), "the end of the connection") {
                    _ = try await trial.server.waitForEnd(ofConnection: 0)
                }
            },
            Case("unread-of-an-error", "Answers whose bodies nobody reads do not keep others waiting.") { trial in
                trial.server.on("/", .answer(500, body: "no"))
                for _ in 0..<200 {
                    let head = try await trial.transport.send(trial.request(), body: nil) { _ in }.head
                    try trial.requireEqual(head.status, 500, "the status")
                }
            },
        ]
    }

    private static let large = 30_000_000

    /// The script never sends the last byte: if a transport that reads ahead reached the end, it could rightly keep the
    /// connection. A computed property, because LeakSanitizer reports the buffer of a `Data` in a static variable as
    /// leaked.
    private static var allButTheLastByte: FaultScript {
        FaultScript([
            .answerHead(200, ["Content-Length: \(large + 1)"]), .sendPattern(count: large), .waitForRelease("never"),
        ])
    }

    private static func readLarge(
        _ trial: Trial, _ answer: HTTPAnswer, _ afterEach: () async throws -> Void = {}
    ) async throws {
        var count = 0
        for try await piece in answer.body {
            try trial.require(PatternBytes.matches(piece, from: count), "the bytes are not right at \(count)")
            count += piece.count
            try await afterEach()
        }
        try trial.requireEqual(count, large, "the number of bytes")
    }

    private static func readOnePiece(_ trial: Trial) async throws {
        let answer = try await trial.transport.send(trial.request(), body: nil) { _ in }
        var iterator = answer.body.makeAsyncIterator()
        try trial.require(try await iterator.next() != nil, "there is no first piece")
    }
}

/// The resident memory of the process.
private enum ResidentMemory {
    /// The size in bytes. It is 0 on systems without `/proc`, so that memory is not checked there.
    static var bytes: Int {
        #if BATON_SANITIZED
            // The memory of the sanitizer itself would count as well.
            return 0
        #else
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
            let kilobytes = line?.split { " \t".contains($0) }.dropFirst().first.flatMap { Int($0) }
            return (kilobytes ?? 0) * 1024
        #endif
    }
}
