internal import Baton
internal import BatonNetwork
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension HTTPTransportConformance {
    /// The cases about repeated requests: a request that is not idempotent is never sent twice (RFC 9110, 9.2.2).
    static var repetitionCases: [Case] {
        [
            Case(
                "post-on-closing",
                "A POST sent while the server closes the connection ends within 5 s, and arrives at most once.",
                "RFC 9110, 9.2.2", limit: .seconds(60)
            ) { trial in
                try await sendOnClosing(trial, "POST", Data("x".utf8), once: true)
            },
            Case(
                "post-on-closing-empty",
                "An empty POST sent while the server closes the connection ends within 5 s, and arrives at most once.",
                "RFC 9110, 9.2.2", limit: .seconds(60)
            ) { trial in
                try await sendOnClosing(trial, "POST", Data(), once: true)
            },
            Case(
                "post-on-closing-large",
                "A POST of 1 MB sent while the server closes the connection ends within 5 s, and arrives at most once.",
                "RFC 9110, 9.2.2", limit: .seconds(60)
            ) { trial in
                try await sendOnClosing(trial, "POST", PatternBytes.data(1_000_000), once: true)
            },
            Case(
                "get-on-closing", "A GET sent while the server closes the connection ends within 5 s.",
                "RFC 9112, 9.3.1", limit: .seconds(60)
            ) { trial in
                try await sendOnClosing(trial, "GET", nil, once: false)
            },
            Case(
                "put-on-closing",
                "A PUT sent while the server closes the connection ends within 5 s, and arrives with its whole body.",
                "RFC 9112, 9.3.1", limit: .seconds(60)
            ) { trial in
                try await sendOnClosing(trial, "PUT", PatternBytes.data(100_000), once: false)
            },
            Case(
                "post-and-reset", "A POST is not sent again if the server reads it and resets the connection.",
                "RFC 9110, 9.2.2"
            ) { trial in
                try await requireOnce(trial, "POST", Data("hello".utf8), .reset)
                try await requireOnce(trial, "POST", Data(), .reset)
            },
            Case(
                "post-and-close", "A POST is not sent again if the server reads it and closes the connection.",
                "RFC 9110, 9.2.2"
            ) { trial in
                try await requireOnce(trial, "POST", Data("hello".utf8), .close)
                try await requireOnce(trial, "POST", Data(), .close)
            },
            Case(
                "patch-and-reset", "A PATCH is not sent again if the server reads it and resets the connection.",
                "RFC 9110, 9.2.2"
            ) { trial in
                try await requireOnce(trial, "PATCH", Data("hello".utf8), .reset)
            },
        ]
    }

    /// Sends requests while the server closes each connection, at once or a few milliseconds after its answer.
    private static func sendOnClosing(_ trial: Trial, _ method: String, _ body: Data?, once: Bool) async throws {
        trial.server.on("/") { request in
            let number = Int(request.values(of: "X-ID").first ?? "") ?? 0
            let answer = FaultStep.answer(200, body: "\(number)")
            return FaultScript(
                number % 5 == 0 ? [answer, .close] : [answer, .pause(.milliseconds(number % 5)), .close])
        }
        let answerCount = Locked(0)
        try await trial.forEach(0..<100, atOnce: 4) { number in
            var request = trial.request("/", method, ["X-ID": "\(number)"])
            request.timeoutInterval = 20
            let outcome = try await within(.seconds(5), "\(method) \(number)") { [request] in
                await trial.send(request, body.map { .data($0) })
            }
            if case .answer = outcome {
                try trial.requireAnswer(outcome, body: "\(number)", to: "\(method) \(number)")
                answerCount.withLock { $0 += 1 }
            } else {
                try trial.requireError(outcome, .broken, for: "\(method) \(number)")
            }
        }
        // The server answers each request that comes on a new connection.
        let answered = answerCount.withLock { $0 }
        try trial.require(answered >= 10, "only \(answered) of 100 requests were answered")
        let requests = trial.server.requests
        let isWhole = requests.allSatisfy { !$0.isBodyComplete || $0.body == body ?? Data() }
        try trial.require(isWhole, "the server received a body that differs from the one sent")
        if !once { return }
        let counts = Dictionary(requests.map { ($0.values(of: "X-ID").first ?? "", 1) }, uniquingKeysWith: +)
        let several = counts.filter { $0.value > 1 }.keys.sorted()
        try trial.requireEqual(several, [], "the requests that came more than once")
    }

    /// Requires that a request arrives once, on a connection that was used before and on a new one.
    private static func requireOnce(_ trial: Trial, _ method: String, _ body: Data, _ end: FaultStep) async throws {
        trial.server.on("/first", .answer())
        trial.server.on("/", end)
        for isKept in [true, false] {
            if isKept { try trial.requireAnswer(await trial.get("/first")) }
            let count = trial.server.requests.count
            let outcome = await trial.send(trial.request("/", method), .data(body))
            try trial.requireError(outcome, .broken)
            let what = "the number of requests on a \(isKept ? "kept" : "new") connection"
            try trial.requireEqual(trial.server.requests.count - count, 1, what)
        }
    }
}
