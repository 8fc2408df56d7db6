import Baton
import BatonNetwork
import BatonTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct HTTPBodyStreamTests {
    private let key = freshKey()

    private func pieces(_ texts: String...) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for text in texts { continuation.yield(Data(text.utf8)) }
            continuation.finish()
        }
    }

    private func seen(_ upload: HTTPUpload) async throws -> UploadSeen {
        try JSONDecoder().decode(UploadSeen.self, from: try await outcome(upload).get().data)
    }

    private static let helloDigest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

    @Test func aNegativeLengthIsRefused() async {
        let stream = HTTPBodyStream(length: -5) { AsyncStream<Data> { $0.finish() } }
        let error = await failure(HTTPUpload(stream, to: server.url("/echo")))
        #expect(error?.reason == .invalidRequest("the body has a length of -5"))
    }

    @Test func theAnswerOfAnUploadHasALimit() async {
        let upload = HTTPUpload(Data([1]), to: server.url("/upload")).sizeLimit(10)
        #expect(await failure(upload)?.reason == .bodyTooLarge(limit: 10))
    }

    @Test(
        "A stream without a length is sent in chunks, and one with a length as it is", arguments: Transports.forUploads)
    func aStreamIsSent(_ transport: any HTTPTransport) async throws {
        for length in [nil, 5] as [Int64?] {
            let stream = HTTPBodyStream(length: length) { pieces("he", "", "llo") }
            let seen = try await seen(HTTPUpload(stream, to: server.url("/upload")).transport(transport))
            #expect(seen.count == 5 && seen.sha256 == Self.helloDigest && seen.method == "POST")
            // URLSession uploads a file instead of a stream, so its framing differs.
            if transport is URLSessionTransport { continue }
            #expect(seen.framing == (length == nil ? "chunked" : "length"))
        }
    }

    @Test("Single bytes are sent", arguments: Transports.forUploads)
    func bytesAreSent(_ transport: any HTTPTransport) async throws {
        let data = TestServer.bytes(100_000)
        let stream = HTTPBodyStream(bytes: {
            AsyncStream { continuation in
                for byte in data { continuation.yield(byte) }
                continuation.finish()
            }
        })
        let seen = try await seen(HTTPUpload(stream, to: server.url("/upload")).transport(transport))
        let whole = try await self.seen(HTTPUpload(data, to: server.url("/upload")))
        #expect(seen.count == 100_000 && seen.sha256 == whole.sha256)
    }

    @Test("A stream without bytes is an empty body", arguments: Transports.forUploads)
    func nothingIsSent(_ transport: any HTTPTransport) async throws {
        for length in [nil, 0] as [Int64?] {
            let stream = HTTPBodyStream(length: length) { pieces() }
            #expect(try await seen(HTTPUpload(stream, to: server.url("/upload")).transport(transport)).count == 0)
        }
    }

    @Test("A body that is not as long as promised is an error", arguments: Transports.forUploads)
    func wrongLengths(_ transport: any HTTPTransport) async throws {
        for length in [4, 6] as [Int64] {
            let stream = HTTPBodyStream(length: length) { pieces("hel", "lo") }
            let error = await failure(HTTPUpload(stream, to: server.url("/upload")).transport(transport))
            guard case .invalidRequest(let problem)? = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(problem.contains("\(length)"))
        }
    }

    private struct NoMore: Error {}

    @Test("The request throws the error that the sequence throws", arguments: Transports.forUploads)
    func errorsOfTheSequence(_ transport: any HTTPTransport) async throws {
        let upload = HTTPUpload(
            HTTPBodyStream {
                AsyncThrowingStream { continuation in
                    continuation.yield(Data("hello".utf8))
                    continuation.finish(throwing: NoMore())
                }
            }, to: server.url("/upload"))
        guard case .failure(.failed(let error)) = await outcome(upload.transport(transport)) else {
            Issue.record("it was sent")
            return
        }
        #expect(error is NoMore)
    }

    @Test("Each attempt makes a sequence of its own", arguments: Transports.forUploads)
    func attemptsAndRedirects(_ transport: any HTTPTransport) async throws {
        let made = EventLog<String>()
        let stream = HTTPBodyStream {
            made.append("made")
            return pieces("hello")
        }
        let flaky = HTTPUpload(stream, to: server.url("/flaky/2", ["key": key])).transport(transport)
        let operation = AsyncOperation(flaky).retryHTTP(attempts: 3, .immediately, if: .anyMethod)
        #expect(try await outcome(of: operation).get().status == 200)
        #expect(made.count == 3)
        let target = server.url("/upload").absoluteString
        let redirect = server.url("/redirect", ["to": target, "code": "307"])
        #expect(try await seen(HTTPUpload(stream, to: redirect).transport(transport)).sha256 == Self.helloDigest)
        #expect(made.count == 5)
    }

    @Test("A sequence is asked for more only when there is room", arguments: Transports.forUploads)
    func theServerHoldsTheSequenceBack(_ transport: any HTTPTransport) async throws {
        // URLSession first copies the whole sequence to a file.
        if transport is URLSessionTransport { return }
        let made = EventLog<Int>()
        let piece = Data(count: 100_000)
        let stream = HTTPBodyStream {
            AsyncStream<Data>(unfolding: {
                made.append(1)
                return made.count > 2000 ? nil : piece
            })
        }
        let url = server.url("/upload", ["hold": "1", "key": key])
        let operation = AsyncOperation(HTTPUpload(stream, to: url).transport(transport)).add(to: AsyncOperationQueue())
        try await server.waitForRequests(key)
        for _ in 0..<50 { _ = try await server.log("nobody") }
        // The buffers of both sides hold only a small part of the 200 MB.
        #expect(made.count < 500)
        try await server.release(key)
        let seen = try JSONDecoder().decode(UploadSeen.self, from: try await operation.value.data)
        #expect(seen.count == 200_000_000)
    }

    @Test("A cancellation ends the sequence, and then the operation", arguments: Transports.forUploads)
    func cancelling(_ transport: any HTTPTransport) async throws {
        let log = EventLog<String>()
        let stream = HTTPBodyStream {
            AsyncThrowingStream<Data, any Error>(unfolding: {
                if log.count == 0 {
                    log.append("begun")
                    return Data(count: 1000)
                }
                log.append("waits")
                do { try await Gate().waitUnlessCancelled() } catch { log.append("cancelled") }
                return nil
            })
        }
        let url = server.url("/upload", ["key": key])
        let operation = AsyncOperation(HTTPUpload(stream, to: url).transport(transport)).add(to: AsyncOperationQueue())
        _ = await log.waitForCount(2)
        operation.cancel()
        await #expect(throws: OperationError.self) { try await operation.value }
        #expect(operation.result?.isCancelled == true)
        #expect(log.events == ["begun", "waits", "cancelled"])
    }

    @Test("A sequence that ends because of a cancellation is not sent as a whole body", arguments: Transports.all)
    func sequencesThatEndWithTheirTask(_ transport: any HTTPTransport) async throws {
        let log = EventLog<String>()
        let stream = HTTPBodyStream {
            AsyncStream<Data>(unfolding: {
                if log.count == 0 {
                    log.append("begun")
                    return Data("first".utf8)
                }
                log.append("waits")
                try? await Gate().waitUnlessCancelled()
                return nil
            })
        }
        let url = server.url("/upload", ["key": key])
        let operation = AsyncOperation(HTTPUpload(stream, to: url).transport(transport)).add(to: AsyncOperationQueue())
        _ = await log.waitForCount(2)
        operation.cancel()
        await #expect(throws: OperationError.self) { try await operation.value }
        #expect(operation.result?.isCancelled == true)
        if transport is URLSessionTransport { #expect(try await server.log(key).isEmpty) }
    }

    @Test("A response that refuses the body ends the sequence", arguments: Transports.forUploads)
    func earlyAnswers(_ transport: any HTTPTransport) async throws {
        if transport is URLSessionTransport { return }
        let reply = "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"
        let early = try RawServer(reply)
        defer { early.stop() }
        let stream = HTTPBodyStream {
            AsyncStream<Data>(unfolding: { Task.isCancelled ? nil : Data(count: 100_000) })
        }
        let error = await failure(HTTPUpload(stream, to: early.url).transport(transport))
        #expect(error?.reason == .refused(HTTPError.Refusal(status: 413, excerpt: "no")))
    }

    // MARK: Files that change

    @Test(
        "A file that gets shorter or longer while it is sent is an error at once", arguments: [1_000_000, 60_000_000])
    func aFileThatChanges(_ length: Int) async throws {
        let folder = try TestFolder()
        let file = folder.file("file")
        let form = MultipartForm().file("f", file)
        let url = server.url("/upload", ["hold": "1", "key": key])
        for (number, upload) in [HTTPUpload(file: file, to: url), HTTPUpload(form, to: url)].enumerated() {
            try Data(count: 50_000_000).write(to: file)
            let operation = AsyncOperation(upload).add(to: AsyncOperationQueue())
            try await server.waitForRequests(key, count: number + 1)
            #expect(truncate(file.path, length) == 0)
            if number == 0 { try await server.release(key) }
            _ = try? await operation.value
            #expect(operation.result?.httpError?.reason == .file(.changed, path: file.path))
            #expect(operation.result?.httpError?.isTransient == false)
        }
    }
}
