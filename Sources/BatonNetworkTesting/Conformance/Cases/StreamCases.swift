internal import BatonNetwork
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension HTTPTransportConformance {
    /// The cases about request bodies that are made while they are sent.
    static var streamCases: [Case] {
        [
            Case(
                "stream-of-known-length", "A stream whose length is known arrives, with its length.", "RFC 9110, 8.6"
            ) { trial in
                trial.server.on("/", .answer(200, body: "hello"))
                let body = HTTPRequestBody.stream(pattern(3_000_000, pieces: 100_000, length: 3_000_000))
                try trial.requireAnswer(await trial.send(trial.request("/", "PUT"), body), body: "hello")
                let request = try trial.requireRequest()
                try trial.requireEqual(request.values(of: "Content-Length"), ["3000000"], "Content-Length")
                try trial.requirePattern(request, 3_000_000)
            },
            Case(
                "stream-of-unknown-length", "A stream whose length is not known arrives in chunks.", "RFC 9112, 6.1"
            ) { trial in
                trial.server.on("/", .answer(200, body: "hello"))
                for count in [0, 1, 3_000_000] {
                    let body = HTTPRequestBody.stream(pattern(count, pieces: 77_777))
                    try trial.requireAnswer(
                        await trial.send(trial.request("/", "POST"), body), body: "hello", to: "\(count)")
                    guard let request = trial.server.requests.last else { return }
                    let length = request.values(of: "Content-Length")
                    // A transport may notice before it sends the head that the stream is empty.
                    if count > 0 || length != ["0"] {
                        let coding = request.values(of: "Transfer-Encoding").map { $0.lowercased() }
                        try trial.requireEqual(coding, ["chunked"], "Transfer-Encoding with \(count) bytes")
                        try trial.requireEqual(length, [], "Content-Length with \(count) bytes")
                    }
                    try trial.requirePattern(request, count)
                }
            },
            Case(
                "stream-that-throws", "What a stream throws is thrown, and its request is not complete.", "RFC 9112, 8"
            ) { trial in
                struct Torn: Error {}
                trial.server.on("/", .answer(200, body: "hello"))
                for length in [nil, 1_000_000] as [Int64?] {
                    let stream = HTTPBodyStream(length: length) {
                        AsyncThrowingStream<Data, any Error> { continuation in
                            continuation.yield(PatternBytes.data(1000))
                            continuation.finish(throwing: Torn())
                        }
                    }
                    let outcome = await trial.send(trial.request("/", "POST"), .stream(stream))
                    guard case .other(let error) = outcome, error is Torn else {
                        throw trial.failure("expected the error of the stream, but got \(outcome)")
                    }
                }
                try trial.require(
                    trial.server.requests.allSatisfy { !$0.isBodyComplete }, "the body arrived as complete")
            },
            Case(
                "stream-of-wrong-length", "A stream of more or fewer bytes than its length is an invalid request."
            ) { trial in
                trial.server.on("/", .answer(200, body: "hello"))
                for length in [999, 1001] as [Int64] {
                    let body = HTTPRequestBody.stream(pattern(1000, pieces: 100, length: length))
                    let outcome = await trial.send(trial.request("/", "POST"), body)
                    guard case .error(.invalidRequest) = outcome else {
                        throw trial.failure("\(length): expected .invalidRequest, but got \(outcome)")
                    }
                }
            },
            Case(
                "stream-waits", "A stream is asked for no more than a few MB while the server does not read."
            ) { trial in
                trial.server.on(
                    "/", readsBodyFirst: false, .waitForRelease("read"), .readBody, .answer(200, body: "hello"))
                let made = Shared(0)
                let body = HTTPRequestBody.stream(pattern(40_000_000, pieces: 100_000, made))
                async let outcome = trial.send(trial.request("/", "POST"), body)
                try await trial.server.waitForRequests(1)
                try await ContinuousClock().sleep(for: .milliseconds(500))
                // The system buffers several MB for a connection.
                try trial.require(made.value < 16_000_000, "the stream was asked for \(made.value) bytes")
                trial.server.release("read")
                try trial.requireAnswer(await outcome, body: "hello")
                try trial.requireEqual(trial.requireRequest().bodyCount, 40_000_000, "the number of bytes")
            },
            Case(
                "stream-slowly", "A stream that yields a piece every 150 ms stays within a limit of a second."
            ) { trial in
                trial.server.on("/", .answer(200, body: "hello"))
                let stream = HTTPBodyStream {
                    AsyncThrowingStream<Data, any Error> { continuation in
                        Task {
                            for number in 0..<10 {
                                try await ContinuousClock().sleep(for: .milliseconds(150))
                                continuation.yield(PatternBytes.data(10, from: number * 10))
                            }
                            continuation.finish()
                        }
                    }
                }
                var request = trial.request("/", "POST")
                request.timeoutInterval = 1
                try trial.requireAnswer(await trial.send(request, .stream(stream)), body: "hello")
                try trial.requirePattern(trial.requireRequest(), 100)
            },
            Case("stream-pieces-leave-at-once", "A piece of a stream is sent when it is there.") { trial in
                trial.server.on("/", .answer(200, body: "hello"))
                let (pieces, continuation) = AsyncStream.makeStream(of: Data.self)
                continuation.yield(Data("first".utf8))
                let stream = HTTPBodyStream { pieces }
                async let outcome = trial.send(trial.request("/", "POST"), .stream(stream))
                try await trial.server.waitForBody(5, ofRequest: 0)
                continuation.yield(Data("second".utf8))
                continuation.finish()
                try trial.requireAnswer(await outcome, body: "hello")
                try trial.requireEqual(trial.requireRequest().body, Data("firstsecond".utf8), "the body")
            },
            Case("stream-cancelled", "A cancellation ends a stream that waits for its next piece.") { trial in
                trial.server.on("/", .answer())
                let (pieces, continuation) = AsyncStream.makeStream(of: Data.self)
                let ended = Shared(false)
                continuation.onTermination = { _ in ended.change { $0 = true } }
                continuation.yield(Data("first".utf8))
                let (begins, begun) = AsyncStream.makeStream(of: Void.self)
                let stream = HTTPBodyStream {
                    begun.yield()
                    return pieces
                }
                let task = Task { await trial.send(trial.request("/", "POST"), .stream(stream)) }
                for await _ in begins { break }
                task.cancel()
                let outcome = try await within(.seconds(5), "the cancellation") { await task.value }
                guard case .cancelled = outcome else {
                    throw trial.failure("expected a CancellationError, but got \(outcome)")
                }
                try trial.require(ended.value, "the stream goes on after the request has ended")
                // The connection may not have been accepted yet.
                let isConnected = trial.server.connectionCount > 0
                try await within(.seconds(5), "the end of the connection") {
                    if isConnected { _ = try await trial.server.waitForEnd(ofConnection: 0) }
                }
            },
            Case(
                "stream-early-answer", "A response that comes before the end of a stream is returned.", "RFC 9112, 9.3"
            ) { trial in
                trial.server.on(
                    "/", readsBodyFirst: false, .answer(413, ["Connection: close"], body: "too large"),
                    .closeAfterReading)
                let body = HTTPRequestBody.stream(pattern(20_000_000, pieces: 100_000))
                try trial.requireAnswer(await trial.send(trial.request("/", "POST"), body), 413, body: "too large")
            },
        ]
    }

    private static func pattern(
        _ count: Int, pieces: Int, length: Int64? = nil, _ made: Shared<Int> = Shared(0)
    ) -> HTTPBodyStream {
        HTTPBodyStream(length: length) {
            AsyncStream<Data>(unfolding: {
                let offset = made.value
                if offset >= count { return nil }
                let piece = PatternBytes.data(min(pieces, count - offset), from: offset)
                made.change { $0 += piece.count }
                return piece
            })
        }
    }
}
