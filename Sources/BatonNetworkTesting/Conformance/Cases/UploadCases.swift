internal import BatonNetwork
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension HTTPTransportConformance {
    /// The cases about requests with a body.
    static var uploadCases: [Case] {
        [
            Case("upload-data", "Bytes in memory arrive, with their length.", "RFC 9110, 8.6") { trial in
                for method in ["POST", "PUT", "PATCH", "DELETE"] {
                    let request = try await upload(trial, .data(Data("hello".utf8)), method)
                    try trial.requireEqual(request.method, method, "the method")
                    try trial.requireEqual(request.body, Data("hello".utf8), "the body")
                    try trial.requireEqual(request.values(of: "Content-Length"), ["5"], "Content-Length")
                }
            },
            Case("upload-empty", "A body of 0 bytes arrives as such.", "RFC 9110, 8.6") { trial in
                let request = try await upload(trial, .data(Data()))
                try trial.requireEqual(request.bodyCount, 0, "the number of bytes")
                let length = request.values(of: "Content-Length")
                try trial.require(
                    length == ["0"] || request.values(of: "Transfer-Encoding") == ["chunked"],
                    "Content-Length should be 0, but was \(length)")
                let file = try TemporaryFile(Data())
                let second = try await upload(trial, .file(file.url))
                try trial.requireEqual(second.bodyCount, 0, "the number of bytes of an empty file")
            },
            Case("upload-file", "The content of a file arrives.") { trial in
                let file = try TemporaryFile(PatternBytes.data(300_000))
                let request = try await upload(trial, .file(file.url))
                try trial.requirePattern(request, 300_000)
            },
            Case(
                "upload-file-missing", "A file that cannot be read is an error, and nothing of the server's."
            ) { trial in
                trial.server.on("/", .answer())
                let url = FileManager.default.temporaryDirectory.appendingPathComponent("missing-\(UUID().uuidString)")
                let outcome = await trial.send(trial.request("/", "POST"), .file(url))
                guard case .error(.file(.notFound, path: _)) = outcome else {
                    throw trial.failure("expected the error .file(.notFound), but got \(outcome)")
                }
            },
            Case("upload-of-no-file", "A folder, a pipe or a device is not a file and fails at once.") { trial in
                trial.server.on("/", .answer())
                let pipe = FileManager.default.temporaryDirectory.appendingPathComponent("pipe-\(UUID().uuidString)")
                try trial.require(mkfifo(pipe.path, 0o600) == 0, "there is no pipe")
                defer { try? FileManager.default.removeItem(at: pipe) }
                for url in [pipe, FileManager.default.temporaryDirectory, URL(fileURLWithPath: "/dev/zero")] {
                    let outcome = try await within(.seconds(5), "the upload of \(url.path)") {
                        await trial.send(trial.request("/", "POST"), .file(url))
                    }
                    guard case .error(.file) = outcome else {
                        throw trial.failure("\(url.path): expected the error .file, but got \(outcome)")
                    }
                }
            },
            Case("upload-of-shrinking-file", "A file that gets shorter while it is sent is an error, soon.") { trial in
                trial.server.on(
                    "/", readsBodyFirst: false, .readBodySlowly(200_000, every: .milliseconds(2)), .answer())
                let file = try TemporaryFile(zeros: 256 << 20)
                let task = Task { await trial.send(trial.request("/", "POST"), .file(file.url)) }
                try await trial.server.waitForBody(1_000_000, ofRequest: 0)
                try file.truncate(to: 1_000_000)
                let outcome = try await within(.seconds(10), "the error") { await task.value }
                guard case .error(.file) = outcome else {
                    throw trial.failure("expected the error .file, but got \(outcome)")
                }
            },
            Case("upload-5-MB", "5 MB arrive in the right order, from memory and from a file.") { trial in
                let bytes = PatternBytes.data(5_000_000)
                try trial.requirePattern(await upload(trial, .data(bytes)), bytes.count)
                let file = try TemporaryFile(bytes)
                try trial.requirePattern(await upload(trial, .file(file.url)), bytes.count)
            },
            Case("upload-in-place-of-httpBody", "The body takes the place of the request's own.") { trial in
                trial.server.on("/", .answer())
                var request = trial.request("/", "POST")
                request.httpBody = Data("own".utf8)
                try trial.requireAnswer(await trial.send(request))
                try trial.requireAnswer(await trial.send(request, .data(Data("other".utf8))))
                let bodies = trial.server.requests.map { String(decoding: $0.body, as: UTF8.self) }
                try trial.requireEqual(bodies, ["own", "other"], "the bodies")
            },
            Case("upload-slow-server", "A server that reads slowly gets everything.") { trial in
                trial.server.on(
                    "/", readsBodyFirst: false, .readBodySlowly(500_000, every: .milliseconds(20)),
                    .answer(200, body: "hello"))
                let outcome = await trial.send(trial.request("/", "POST"), .data(PatternBytes.data(5_000_000)))
                try trial.requireAnswer(outcome, body: "hello")
                try trial.requirePattern(trial.requireRequest(), 5_000_000)
            },
            Case(
                "upload-without-continue", "A server that never says ‘100 Continue’ gets the body.", "RFC 9110, 10.1.1"
            ) { trial in
                trial.server.on("/") { _ in FaultScript(saysContinue: false, [.answer(200, body: "hello")]) }
                for fields in [[:], ["Expect": "100-continue"]] {
                    let request = trial.request("/", "POST", fields)
                    try trial.requireAnswer(
                        await trial.send(request, .data(PatternBytes.data(2_000_000))), body: "hello")
                }
            },
            Case(
                "early-answer", "A response that comes before the body was read is returned.", "RFC 9112, 9.3"
            ) { trial in
                trial.server.on(
                    "/", readsBodyFirst: false, .answer(413, ["Connection: close"], body: "too large"),
                    .closeAfterReading)
                try await withBodies(of: 5_000_000) { body in
                    try trial.requireAnswer(await trial.send(trial.request("/", "POST"), body), 413, body: "too large")
                }
            },
            Case(
                "early-answer-and-reset", "A reset after an early answer leaves the answer or a broken connection."
            ) { trial in
                trial.server.on(
                    "/", readsBodyFirst: false, .answer(413, ["Connection: close"], body: "too large"), .close)
                try await withBodies(of: 5_000_000) { body in
                    let outcome = await trial.send(trial.request("/", "POST"), body)
                    if case .answer = outcome {
                        try trial.requireAnswer(outcome, 413, body: "too large")
                    } else {
                        try trial.requireBroken(outcome)
                    }
                }
            },
            Case("sent-counts", "The counts of sent bytes grow, up to all of them.") { trial in
                trial.server.on("/", .answer())
                try await withBodies(of: 2_000_000) { body in
                    let counts = Shared<[Int64]>([])
                    let answer = try await trial.transport.send(trial.request("/", "POST"), body: body) { count in
                        counts.change { $0.append(count) }
                    }
                    for try await _ in answer.body {}
                    let found = counts.value
                    try trial.requireEqual(found.last, 2_000_000, "the last count")
                    try trial.require(found == found.sorted(), "the counts do not grow: \(found)")
                    try trial.require(found.count > 2, "there are only these counts: \(found)")
                }
            },
        ]
    }

    private static func upload(
        _ trial: Trial, _ body: HTTPRequestBody, _ method: String = "POST"
    ) async throws -> ReceivedRequest {
        trial.server.on("/", .answer(200, body: "hello"))
        try trial.requireAnswer(await trial.send(trial.request("/", method), body), body: "hello", to: method)
        guard let request = trial.server.requests.last, request.isBodyComplete else {
            throw trial.failure("the body is not complete")
        }
        return request
    }

    /// Calls a closure with a body in memory, and with one in a file.
    private static func withBodies(of count: Int, _ body: (HTTPRequestBody) async throws -> Void) async throws {
        let bytes = PatternBytes.data(count)
        try await body(.data(bytes))
        let file = try TemporaryFile(bytes)
        try await body(.file(file.url))
        withExtendedLifetime(file) {}
    }
}
