internal import BatonNetwork
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension HTTPTransportConformance {
    /// The cases about making and reusing connections.
    static var connectionCases: [Case] {
        [
            Case("refused", "A port on which nobody listens refuses the connection.") { trial in
                let port = try SilentPort(.refuses)
                for method in ["GET", "POST"] {
                    var request = URLRequest(url: URL(string: "http://127.0.0.1:\(port.number)/")!)
                    request.httpMethod = method
                    let body = method == "POST" ? HTTPRequestBody.data(Data("hello".utf8)) : nil
                    try trial.requireError(await trial.send(request, body), .refused, for: method)
                }
                withExtendedLifetime(port) {}
            },
            Case(
                "https-to-http", "Plain HTTP on an https URL is reported as an insecure connection.",
                "RFC 8446, 6"
            ) { trial in
                let plain = try FaultServer(greeting: [
                    .answer(400, ["Connection: close"], body: "plain"), .closeAfterReading,
                ])
                defer { plain.stop() }
                let url = URL(string: "https://127.0.0.1:\(plain.port)/")!
                let outcome = await trial.send(URLRequest(url: url))
                guard case .error(.insecureConnection) = outcome else {
                    throw trial.failure("expected the error .insecureConnection, but got \(outcome)")
                }
            },
            Case("unknown-host", "A host name that does not resolve is reported.", "RFC 6761, 6.4") { trial in
                let request = URLRequest(url: URL(string: "http://nobody.invalid/")!)
                try trial.requireError(await trial.send(request), .noHost)
            },
            Case("ipv6", "An IPv6 address in brackets is a host.", "RFC 3986, 3.2.2") { trial in
                guard let server = try? FaultServer(on: .ipv6) else { return }
                defer { server.stop() }
                server.on("/", .answer(200, body: "hello"))
                try trial.requireAnswer(await trial.send(URLRequest(url: server.url())), body: "hello")
                try trial.requireEqual(
                    server.requests.first?.values(of: "Host"), ["[::1]:\(server.port)"], "the field Host")
            },
            Case("scheme-in-upper-case", "The scheme is the same in upper and lower case.", "RFC 3986, 3.1") { trial in
                trial.server.on("/", .answer(200, body: "hello"))
                for scheme in ["HTTP", "Http"] {
                    let url = URL(string: "\(scheme)://127.0.0.1:\(trial.server.port)/")!
                    try trial.requireAnswer(await trial.send(URLRequest(url: url)), body: "hello", to: scheme)
                }
            },
            Case(
                "localhost", "A host with several addresses is reached at the one that answers.", "RFC 8305, 5"
            ) { trial in
                trial.server.on("/", .answer(200, body: "hello"))
                let url = URL(string: "http://localhost:\(trial.server.port)/")!
                try trial.requireAnswer(await trial.send(URLRequest(url: url)), body: "hello")
            },
            Case("kept", "A connection is kept for the next request.", "RFC 9112, 9.3") { trial in
                try await requireOneConnection(trial) { _ in [.answer(200, body: "hello")] }
            },
            Case(
                "kept-after-each-kind", "A connection is kept after answers with each kind of framing.", "RFC 9112, 9.3"
            ) { trial in
                try await requireOneConnection(trial) { number in
                    switch number % 5 {
                    case 0: [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")]
                    case 1: [.answerHead(204)]
                    case 2: [.answer(404, body: "gone")]
                    case 3: [.answerHead(304, ["Content-Length: 5"])]
                    default: [.answer()]
                    }
                }
            },
            Case("kept-for-post", "A connection is kept after requests with a body.", "RFC 9112, 9.3") { trial in
                trial.server.on("/", .answer(200, body: "hello"))
                for _ in 0..<10 {
                    let outcome = await trial.send(trial.request("/", "POST"), .data(Data("hello".utf8)))
                    try trial.requireAnswer(outcome, body: "hello")
                }
                try trial.requireEqual(trial.server.connectionCount, 1, "the number of connections")
            },
            Case(
                "connection-close", "After ‘Connection: close’ the next request has a new connection.", "RFC 9112, 9.6"
            ) { trial in
                trial.server.on("/", .answer(200, ["Connection: close"], body: "hello"), .close)
                for _ in 0..<5 { try trial.requireAnswer(await trial.get(), body: "hello") }
                try trial.requireEqual(trial.server.connectionCount, 5, "the number of connections")
            },
            Case(
                "kept-with-more", "Unsolicited data is not taken for an answer.", "RFC 9112, 9.2"
            ) { trial in
                let answers = ["hello", "evil"].map { "HTTP/1.1 200 OK\r\nContent-Length: \($0.count)\r\n\r\n\($0)" }
                trial.server.on("/", .send(answers.joined()))
                for _ in 0..<10 { try trial.requireAnswer(await trial.get(), body: "hello") }
            },
            Case(
                "kept-and-closed", "A kept connection that the server closed fails no request.", "RFC 9112, 9.3.1"
            ) { trial in
                trial.server.on("/", .answer(200, body: "hello"), .close)
                for number in 0..<5 {
                    try trial.requireAnswer(await trial.get(), body: "hello")
                    try await trial.server.waitForEnd(ofConnection: number)
                }
            },
            Case("many", "1,000 requests, 50 at a time, all get their own answers.", limit: .seconds(60)) { trial in
                trial.server.on("*") { request in FaultScript([.answer(200, body: request.target)]) }
                try await trial.forEach(0..<1000, atOnce: 50) { number in
                    try trial.requireAnswer(await trial.get("/\(number)"), body: "/\(number)")
                }
                try trial.requireEqual(trial.server.requests.count, 1000, "the number of requests")
            },
            Case("many-kinds", "Requests that fail do not affect concurrent ones.", limit: .seconds(60)) { trial in
                trial.server.on("/cut", .answerHead(200, ["Content-Length: 5"]), .send("hel"), .close)
                trial.server.on("/reset", .reset)
                trial.server.on("*") { request in FaultScript([.answer(200, body: request.target)]) }
                try await trial.forEach(0..<300, atOnce: 20) { number in
                    switch number % 3 {
                    case 0: try trial.requireBroken(await trial.get("/cut"))
                    case 1: try trial.requireBroken(await trial.get("/reset"))
                    default: try trial.requireAnswer(await trial.get("/\(number)"), body: "/\(number)")
                    }
                }
            },
        ]
    }

    private static func requireOneConnection(
        _ trial: Trial, _ steps: @escaping @Sendable (Int) -> [FaultStep]
    ) async throws {
        for number in 0..<10 {
            let answer = FaultScript(steps(number))
            trial.server.on("/") { _ in answer }
            guard case .answer = await trial.get() else { throw trial.failure("there was no answer") }
        }
        try trial.requireEqual(trial.server.connectionCount, 1, "the number of connections")
    }
}

extension Trial {
    /// Calls a closure for each number, for at most `width` numbers at a time.
    func forEach(
        _ numbers: Range<Int>, atOnce width: Int, _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in numbers {
                if number - numbers.lowerBound >= width { try await group.next() }
                group.addTask { try await body(number) }
            }
            try await group.waitForAll()
        }
    }
}
