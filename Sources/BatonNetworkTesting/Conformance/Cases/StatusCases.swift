internal import BatonNetwork
internal import Foundation

extension HTTPTransportConformance {
    /// The cases about statuses that ask the client to act. The transport returns such a response as it is.
    static var statusCases: [Case] {
        [
            Case(
                "status-any", "A response is returned with its body, whatever its status: 16 samples from 200 to 599.",
                "RFC 9110, 15"
            ) { trial in
                for status in [200, 201, 206, 226, 299, 300, 400, 404, 408, 410, 418, 426, 429, 500, 503, 599] {
                    trial.server.on("/", .answer(status, body: "hello"))
                    try trial.requireAnswer(await trial.get(), status, body: "hello", to: "\(status)")
                }
            },
            Case(
                "no-redirects", "A redirect is returned with its body; the transport does not follow it."
            ) { trial in
                trial.server.on("/next", .answer(200, body: "followed"))
                for location in ["/next", trial.server.url("/next").absoluteString, "file:///etc/passwd", ""] {
                    for status in [301, 302, 303, 307, 308] {
                        trial.server.on("/", .answer(status, ["Location: \(location)"], body: "moved"))
                        let outcome = await trial.get()
                        let head = try trial.requireAnswer(
                            outcome, status, body: "moved", to: "\(status) to ‘\(location)’")
                        try trial.requireEqual(head.headers["Location"], location, "Location")
                    }
                }
                try trial.requireEqual(Set(trial.server.requests.map(\.target)), ["/"], "the targets")
            },
            Case("no-redirects-of-post", "A redirect is also returned for a request with a body.") { trial in
                trial.server.on("/next", .answer(200, body: "followed"))
                for status in [301, 302, 303, 307, 308] {
                    trial.server.on("/", .answer(status, ["Location: /next"], body: "moved"))
                    let outcome = await trial.send(trial.request("/", "POST"), .data(Data("hello".utf8)))
                    try trial.requireAnswer(outcome, status, body: "moved", to: "\(status)")
                }
                try trial.requireEqual(Set(trial.server.requests.map(\.target)), ["/"], "the targets")
            },
            Case(
                "redirect-without-location", "A redirect without a Location is returned.", "RFC 9110, 15.4"
            ) { trial in
                for status in [300, 301, 302, 303, 305, 307, 308] {
                    trial.server.on("/", .answer(status, body: "nowhere"))
                    try trial.requireAnswer(await trial.get(), status, body: "nowhere", to: "\(status)")
                }
            },
            Case(
                "401-basic", "A 401 response with a Basic challenge is returned without a retry.", "RFC 9110, 15.5.2"
            ) { trial in
                try await requireReturnedOnce(trial, 401, ["WWW-Authenticate: Basic realm=\"r\""])
            },
            Case(
                "401-bearer", "A 401 response with a Bearer challenge is returned without a retry.", "RFC 9110, 15.5.2"
            ) { trial in
                try await requireReturnedOnce(
                    trial, 401, ["WWW-Authenticate: Bearer realm=\"r\", error=\"invalid_token\""])
            },
            Case(
                "401-digest", "A 401 response with a Digest challenge is returned without a retry.", "RFC 9110, 15.5.2"
            ) { trial in
                try await requireReturnedOnce(
                    trial, 401, ["WWW-Authenticate: Digest realm=\"r\", qop=\"auth\", nonce=\"n\", opaque=\"o\""])
            },
            Case(
                "401-several", "A 401 response with several challenges, or without any, is returned without a retry.",
                "RFC 9110, 11.6.1"
            ) { trial in
                try await requireReturnedOnce(trial, 401, ["WWW-Authenticate: Bearer realm=\"r\", Basic realm=\"r\""])
                try await requireReturnedOnce(
                    trial, 401, ["WWW-Authenticate: Negotiate", "WWW-Authenticate: Basic realm=\"r\""])
                try await requireReturnedOnce(trial, 401, ["WWW-Authenticate: Basic"])
                try await requireReturnedOnce(trial, 401, [])
            },
            Case(
                "401-with-credentials", "A 401 response to a request with credentials is returned without a retry.",
                "RFC 9110, 15.5.2"
            ) { trial in
                trial.server.on("/", .answer(401, ["WWW-Authenticate: Basic realm=\"r\""], body: "no"))
                let request = trial.request("/", "GET", ["Authorization": "Basic dTpw"])
                try trial.requireAnswer(
                    await within(.seconds(5), "the answer 401") { await trial.send(request) }, 401, body: "no")
                let sent = trial.server.requests.map { $0.values(of: "Authorization") }
                try trial.requireEqual(sent, [["Basic dTpw"]], "the credentials that came")
            },
            Case("407", "A 407 response is returned without a retry.", "RFC 9110, 15.5.8") { trial in
                try await requireReturnedOnce(trial, 407, ["Proxy-Authenticate: Basic realm=\"r\""])
                try await requireReturnedOnce(trial, 407, [])
            },
        ]
    }

    /// Requires that a response with the status is returned for a GET and for a POST, and that each request is sent
    /// once.
    private static func requireReturnedOnce(_ trial: Trial, _ status: Int, _ fields: [String]) async throws {
        trial.server.on("/") { _ in FaultScript([.answer(status, fields, body: "no")]) }
        for method in ["GET", "POST"] {
            let count = trial.server.requests.count
            let outcome = try await within(.seconds(5), "\(method) with \(fields)") {
                await trial.send(trial.request("/", method), method == "POST" ? .data(Data("hello".utf8)) : nil)
            }
            let head = try trial.requireAnswer(outcome, status, body: "no", to: "\(method) with \(fields)")
            if let field = fields.first {
                let name = String(field.prefix { $0 != ":" })
                try trial.require(head.headers[name] != nil, "\(name) is missing")
            }
            try trial.requireEqual(trial.server.requests.count - count, 1, "the number of requests")
        }
    }
}
