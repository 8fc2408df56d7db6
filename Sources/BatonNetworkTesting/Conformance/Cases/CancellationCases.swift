internal import BatonNetwork
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension HTTPTransportConformance {
    /// The cases about cancelling the task of a request.
    static var cancellationCases: [Case] {
        [
            Case("cancel-before", "A task that is cancelled already sends nothing.") { trial in
                trial.server.on("/", .answer())
                let task = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return await trial.get()
                }
                try requireCancelled(trial, await task.value)
                try trial.requireEqual(trial.server.requests.count, 0, "the number of requests")
            },
            Case("cancel-connecting", "A cancellation while the transport connects ends the request.") { trial in
                let port = try SilentPort(.staysSilent)
                let request = URLRequest(url: URL(string: "http://127.0.0.1:\(port.number)/")!)
                try await requireSoon(
                    trial, { _ in await trial.send(request) },
                    once: { _ in try await ContinuousClock().sleep(for: .milliseconds(50)) })
                withExtendedLifetime(port) {}
            },
            Case("cancel-before-head", "A cancellation before the head closes the connection.") { trial in
                trial.server.on("/", .waitForRelease("never"))
                try await requireSoon(
                    trial, { _ in await trial.get() },
                    once: { try await trial.server.waitForRequests($0 + 1) },
                    then: { try await trial.server.waitForEnd(ofConnection: $0) })
            },
            Case("cancel-in-body", "A cancellation inside the body closes the connection.") { trial in
                trial.server.on(
                    "/", .answerHead(200, ["Content-Length: 10"]), .send("hello"), .waitForRelease("never"))
                // One stream for each run, because the body may arrive in several pieces.
                let streams = (0..<cancelledRuns).map { _ in AsyncStream.makeStream(of: Void.self) }
                try await requireSoon(
                    trial, { number in await trial.send(trial.request()) { streams[number].continuation.yield() } },
                    once: { for await _ in streams[$0].stream { break } },
                    then: { try await trial.server.waitForEnd(ofConnection: $0) })
            },
            Case("cancel-in-fast-body", "A cancellation ends even a fast transfer soon.") { trial in
                trial.server.on("/", .answerHead(200, ["Content-Length: \(1 << 40)"]), .sendPattern(count: 1 << 40))
                try await requireSoon(
                    trial,
                    { _ in
                        do {
                            let answer = try await trial.transport.send(trial.request(), body: nil) { _ in }
                            for try await _ in answer.body {}
                            return .answer(answer.head, Data())
                        } catch {
                            return Trial.Outcome(error)
                        }
                    },
                    once: {
                        try await trial.server.waitForRequests($0 + 1)
                        try await ContinuousClock().sleep(for: .milliseconds(20))
                    },
                    then: { try await trial.server.waitForEnd(ofConnection: $0) })
            },
            Case("cancel-in-upload", "A cancellation during an upload closes the connection.") { trial in
                // The server has to keep reading: it sees that the client closed the connection only after it has read
                // the bytes that were sent before.
                trial.server.on("/", readsBodyFirst: false, .readBodySlowly(200_000, every: .milliseconds(2)))
                let file = try TemporaryFile(zeros: 512 << 20)
                try await requireSoon(
                    trial, { _ in await trial.send(trial.request("/", "POST"), .file(file.url)) },
                    once: { try await trial.server.waitForRequests($0 + 1) },
                    then: { try await trial.server.waitForEnd(ofConnection: $0) })
            },
            Case("cancel-one-of-many", "A cancellation disturbs no other request.") { trial in
                trial.server.on("/held", .waitForRelease("never"))
                trial.server.on("/", .waitForRelease("answer"), .answer(200, body: "hello"))
                let held = Task { await trial.get("/held") }
                defer { held.cancel() }
                try await trial.server.waitForRequests(1, at: "/held")
                async let other = trial.get("/")
                try await trial.server.waitForRequests(1, at: "/")
                held.cancel()
                try requireCancelled(trial, await held.value)
                trial.server.release("answer")
                try trial.requireAnswer(await other, body: "hello")
            },
            Case("cancel-half", "Half of many requests are cancelled, and the others get their answers.") { trial in
                trial.server.on("*") { request in
                    FaultScript([.waitForRelease("answer"), .answer(200, body: request.target)])
                }
                let tasks = (0..<100).map { number in Task { await trial.get("/\(number)") } }
                defer { for task in tasks { task.cancel() } }
                try await trial.server.waitForRequests(100)
                for (number, task) in tasks.enumerated() where number % 2 == 0 { task.cancel() }
                for (number, task) in tasks.enumerated() where number % 2 == 0 {
                    try requireCancelled(trial, await task.value)
                }
                trial.server.release("answer")
                for (number, task) in tasks.enumerated() where number % 2 == 1 {
                    try trial.requireAnswer(await task.value, body: "/\(number)")
                }
            },
        ]
    }

    /// The time that a cancellation may take.
    private static let soon = Duration.milliseconds(200)

    private static let cancelledRuns = 3

    /// Cancels a request several times, and requires that the fastest run ends soon after the cancellation. Other runs
    /// may be slow because the machine is busy.
    private static func requireSoon(
        _ trial: Trial, _ send: @escaping @Sendable (Int) async -> Trial.Outcome,
        once begun: @Sendable (Int) async throws -> Void,
        then check: @escaping @Sendable (Int) async throws -> Void = { _ in }
    ) async throws {
        var times: [Duration] = []
        for number in 0..<cancelledRuns {
            let task = Task { (await send(number), ContinuousClock.now) }
            defer { task.cancel() }
            try await begun(number)
            let start = ContinuousClock.now
            task.cancel()
            let (outcome, end) = await task.value
            try requireCancelled(trial, outcome)
            times.append(start.duration(to: end))
            try await within(.seconds(10), "the end of the cancelled connection") { try await check(number) }
        }
        if let fastest = times.min(), fastest > soon { throw trial.failure("the cancellation took \(fastest)") }
    }

    private static func requireCancelled(_ trial: Trial, _ outcome: Trial.Outcome) throws {
        if case .cancelled = outcome { return }
        throw trial.failure("expected a CancellationError, but got \(outcome)")
    }
}
