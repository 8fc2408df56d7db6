internal import BatonNetwork
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension HTTPTransportConformance {
    /// A request that is not idempotent is never made twice: RFC 9110, 9.2.2.
    static var repetitionCases: [Case] {
        [
            Case(
                "post-on-closing",
                "A POST on a connection that closes at that moment ends soon, and arrives at most once.",
                "RFC 9110, 9.2.2", limit: .seconds(60)
            ) { trial in
                try await postOnClosing(trial, Data("x".utf8))
            },
            Case(
                "post-on-closing-empty",
                "An empty POST on a connection that closes ends soon, and arrives at most once.",
                "RFC 9110, 9.2.2", limit: .seconds(60)
            ) { trial in
                try await postOnClosing(trial, Data())
            },
            Case(
                "post-on-closing-large",
                "A POST of 1 MB on a connection that closes ends soon, and arrives at most once.",
                "RFC 9110, 9.2.2", limit: .seconds(60)
            ) { trial in
                try await postOnClosing(trial, PatternBytes.data(1_000_000))
            },
            Case(
                "post-and-reset", "A POST that the server reads and resets is received once.", "RFC 9110, 9.2.2"
            ) { trial in
                try await requireOnce(trial, "POST", Data("hello".utf8), .reset)
                try await requireOnce(trial, "POST", Data(), .reset)
            },
            Case(
                "post-and-close", "A POST that the server reads and closes is received once.", "RFC 9110, 9.2.2"
            ) { trial in
                try await requireOnce(trial, "POST", Data("hello".utf8), .close)
                try await requireOnce(trial, "POST", Data(), .close)
            },
            Case(
                "patch-and-reset", "A PATCH that the server reads and resets is received once.", "RFC 9110, 9.2.2"
            ) { trial in
                try await requireOnce(trial, "PATCH", Data("hello".utf8), .reset)
            },
        ]
    }

    private static func postOnClosing(_ trial: Trial, _ body: Data) async throws {
        trial.server.on("/") { request in
            let number = Int(request.values(of: "X-ID").first ?? "") ?? 0
            let pause = number % 5
            return FaultScript(
                [.answer(200, body: "hello")] + (pause > 0 ? [.pause(.milliseconds(pause))] : []) + [.close])
        }
        try await trial.forEach(0..<100, atOnce: 4) { number in
            var request = trial.request("/", "POST", ["X-ID": "\(number)"])
            request.timeoutInterval = 20
            let outcome = try await within(.seconds(5), "POST \(number)") { [request] in
                await trial.send(request, .data(body))
            }
            if case .answer = outcome {
                try trial.requireAnswer(outcome, body: "hello", to: "POST \(number)")
            } else {
                try trial.requireError(outcome, .broken, for: "POST \(number)")
            }
        }
        var counts: [String: Int] = [:]
        for request in trial.server.requests { counts[request.values(of: "X-ID").first ?? "", default: 0] += 1 }
        let several = counts.filter { $0.value > 1 }.keys.sorted()
        try trial.requireEqual(several, [], "the requests that came more than once")
    }

    /// On a connection that was used before, and on a new one.
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
