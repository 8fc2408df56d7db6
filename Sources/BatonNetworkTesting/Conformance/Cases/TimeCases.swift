internal import BatonNetwork
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension HTTPTransportConformance {
    /// The cases about `timeoutInterval`, the longest time in which no byte is received or sent.
    static var timeCases: [Case] {
        [
            Case("idle-connecting", "The transport gives up on a host that does not accept the connection.") { trial in
                let port = try SilentPort(.staysSilent)
                var request = URLRequest(url: URL(string: "http://127.0.0.1:\(port.number)/")!)
                request.timeoutInterval = 0.3
                try await requireTimedOut(trial, request)
                withExtendedLifetime(port) {}
            },
            Case(
                "idle-before-head", "The transport gives up on a server that sends nothing, and disconnects."
            ) { trial in
                trial.server.on("/", .waitForRelease("never"))
                try await requireTimedOut(trial, limited(trial))
                try await within(.seconds(10), "the end of the connection") {
                    _ = try await trial.server.waitForEnd(ofConnection: 0)
                }
            },
            Case("idle-in-head", "The transport gives up on a server that stops inside the head.") { trial in
                trial.server.on("/", .send("HTTP/1.1 200 OK\r\nX-A: 1\r\n"), .waitForRelease("never"))
                try await requireTimedOut(trial, limited(trial))
            },
            Case("idle-in-body", "The transport gives up on a server that stops inside the body.") { trial in
                trial.server.on(
                    "/", .answerHead(200, ["Content-Length: 10"]), .send("hello"), .waitForRelease("never"))
                try await requireTimedOut(trial, limited(trial))
                trial.server.on(
                    "/", .answerHead(200, ["Transfer-Encoding: chunked"]), .send("5\r\nhello\r\n"),
                    .waitForRelease("never"))
                try await requireTimedOut(trial, limited(trial))
            },
            Case("idle-in-upload", "The transport gives up on a server that stops reading a body.") { trial in
                trial.server.on("/", readsBodyFirst: false, .waitForRelease("never"))
                let file = try TemporaryFile(zeros: 64 << 20)
                try await requireTimedOut(trial, limited(trial, "POST"), .file(file.url))
            },
            Case("slow-head", "A head that arrives one byte every 100 ms stays within a limit of a second.") { trial in
                trial.server.on(
                    "/", .sendSlowly("HTTP/1.1 200 OK\r\n", every: .milliseconds(100)),
                    .send("Content-Length: 5\r\n\r\nhello"))
                try trial.requireAnswer(await trial.send(limited(trial, to: 1)), body: "hello")
            },
            Case("slow-body", "A body that arrives one byte every 150 ms stays within a limit of a second.") { trial in
                trial.server.on(
                    "/", .answerHead(200, ["Content-Length: 10"]), .sendSlowly("helloagain", every: .milliseconds(150)))
                try trial.requireAnswer(await trial.send(limited(trial, to: 1)), body: "helloagain")
            },
            Case("slow-interim", "Interim responses every 150 ms stay within a limit of a second.") { trial in
                let interim = [FaultStep.send("HTTP/1.1 102 Processing\r\n\r\n"), .pause(.milliseconds(150))]
                let steps = (0..<10).flatMap { _ in interim } + [.answer(200, body: "hello")]
                trial.server.on("/") { _ in FaultScript(steps) }
                try trial.requireAnswer(await trial.send(limited(trial, to: 1)), body: "hello")
            },
            Case("limit-odd", "A limit that is not positive and finite does not fail a request.") { trial in
                trial.server.on("/", .pause(.milliseconds(50)), .answer(200, body: "hello"))
                for limit in [0, -1, .infinity, .nan, .greatestFiniteMagnitude, 1e12] as [Double] {
                    var request = trial.request()
                    request.timeoutInterval = limit
                    try trial.requireAnswer(await trial.send(request), body: "hello", to: "a limit of \(limit)")
                }
            },
            Case("slow-upload", "An upload to a server that reads slowly stays within the limit.") { trial in
                trial.server.on(
                    "/", readsBodyFirst: false, .readBodySlowly(1_000_000, every: .milliseconds(100)),
                    .answer(200, body: "hello"))
                let file = try TemporaryFile(zeros: 16_000_000)
                try trial.requireAnswer(
                    await trial.send(limited(trial, "POST", to: 1), .file(file.url)), body: "hello")
                try trial.requireEqual(trial.requireRequest().bodyCount, 16_000_000, "the number of bytes")
            },
            Case("slow-reader", "A reader that takes longer than the limit gets the whole body.") { trial in
                trial.server.on("/", .answerHead(200, ["Content-Length: 3000000"]), .sendPattern(count: 3_000_000))
                let answer = try await trial.transport.send(limited(trial, to: 1), body: nil) { _ in }
                try await ContinuousClock().sleep(for: .seconds(3))
                var count = 0
                for try await piece in answer.body { count += piece.count }
                try trial.requireEqual(count, 3_000_000, "the number of bytes")
            },
        ]
    }

    private static func limited(
        _ trial: Trial, _ method: String = "GET", to seconds: TimeInterval = 0.3
    ) -> URLRequest {
        var request = trial.request("/", method)
        request.timeoutInterval = seconds
        return request
    }

    /// Requires that a request with a limit of 300 ms times out, neither before the limit nor more than a few seconds
    /// after it.
    private static func requireTimedOut(
        _ trial: Trial, _ request: URLRequest, _ body: HTTPRequestBody? = nil
    ) async throws {
        let start = ContinuousClock.now
        let outcome = try await within(.seconds(5), "the time limit") { await trial.send(request, body) }
        let time = start.duration(to: .now)
        try trial.requireError(outcome, .timedOut)
        if case .error(.timedOut(let limit)) = outcome {
            try trial.requireEqual(limit, .milliseconds(300), "the limit in the error")
        }
        try trial.require(time >= .milliseconds(290), "the request timed out after only \(time)")
    }
}
