import Baton
import BatonNetwork
import BatonNetworkTesting
import BatonTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct ResumedDownloadTests {
    private let folder: TestFolder
    private let key = freshKey()

    init() throws { folder = try TestFolder() }

    private func download(_ query: [String: String]) -> HTTPDownload {
        let query = ["key": key, "ranges": "1"].merging(query) { $1 }
        return HTTPDownload(server.url("/bytes/2000000", query), to: folder.file("file"))
    }

    private func expectWhole(_ file: DownloadedFile, resumedFrom: Int64) {
        #expect(file.resumedFrom == resumedFrom)
        #expect(file.byteCount == 2_000_000)
        #expect(folder.content("file") == TestServer.bytes(2_000_000))
        #expect(folder.names == ["file"])
    }

    @Test(arguments: [["etag": "tag"], ["modified": "Sun, 06 Nov 1994 08:49:37 GMT"]])
    func afterABrokenConnectionTheRestIsAskedFor(_ validator: [String: String]) async throws {
        let faults = ["short": "700000", "faults": "1"].merging(validator) { $1 }
        let operation = AsyncOperation(download(faults)).retryHTTP(attempts: 2, .immediately)
        expectWhole(try await outcome(of: operation).get(), resumedFrom: 700_000)
        let log = try await server.log(key)
        #expect(log.map { $0.headers["Range"] } == [nil, "bytes=700000-"])
        #expect(log.last?.headers["If-Range"] == validator["modified"] ?? "\"tag\"")
        #expect(operation.progress.completedUnitCount == 2_000_000)
    }

    @Test func aResetMayComeAgainAndAgain() async throws {
        let faults = ["drop": "300000", "etag": "tag", "faults": "20"]
        let operation = AsyncOperation(download(faults)).retryHTTP(attempts: 50, .immediately)
        _ = try await outcome(of: operation).get()
        #expect(folder.content("file") == TestServer.bytes(2_000_000))
        #expect(folder.names == ["file"])
    }

    @Test func afterACancelALaterOperationGoesOn() async throws {
        let held = ["hold": "700000", "etag": "tag", "faults": "1"]
        let first = AsyncOperation(download(held)).add(to: AsyncOperationQueue())
        for await progress in first.progressUpdates where progress.completedUnitCount == 700_000 { break }
        first.cancel()
        _ = try? await first.value
        #expect(folder.names == [".file.origin", ".file.partial"])
        let second = try await outcome(download(held)).get()
        expectWhole(second, resumedFrom: 700_000)
        try await server.release(key)
    }

    /// The cancellation arrives when all bytes are written, just before the rename.
    @Test func aCancelAtTheRenameLeavesTheRestToALaterOne() async throws {
        let context = OperationContext()
        let all = TestServer.bytes(2_000_000)
        let whole = download(["etag": "tag"])
        let url = server.url("/bytes/2000000", ["key": key, "ranges": "1", "etag": "tag"])
        let operations = EventLog<AsyncOperation<DownloadedFile>>()
        let stub = StubTransport { _ in
            HTTPAnswer(headers: ["ETag": "\"tag\"", "Content-Length": "2000000"], all) {
                operations.events[0].cancel()
                // If a worker has just started the operation, its task learns of the cancellation shortly afterwards.
                while !Task.isCancelled { await Task.yield() }
            }
        }
        let operation = AsyncOperation(HTTPDownload(url, to: folder.file("file")).transport(stub))
        operations(operation)
        #expect(await outcome(of: operation).isCancelled)
        #expect(folder.names == [".file.origin", ".file.partial"])
        expectWhole(try await whole.execute(in: context), resumedFrom: 2_000_000)
        #expect(try await server.log(key).map { $0.headers["Range"] } == ["bytes=2000000-"])
    }

    @Test func aFileThatHasChangedIsAskedForAnew() async throws {
        let operation = AsyncOperation(download(["short": "700000", "etag": "tag", "changes": "1", "faults": "1"]))
            .retryHTTP(attempts: 2, .immediately)
        expectWhole(try await outcome(of: operation).get(), resumedFrom: 0)
        #expect(try await server.log(key).count == 2)
    }

    @Test func aServerThatKnowsNoRangesSendsItAllAgain() async throws {
        let url = server.url("/bytes/2000000", ["key": key, "etag": "tag", "short": "700000", "faults": "1"])
        let operation = AsyncOperation(HTTPDownload(url, to: folder.file("file"))).retryHTTP(
            attempts: 2, .immediately)
        expectWhole(try await outcome(of: operation).get(), resumedFrom: 0)
    }

    @Test(arguments: [
        [:], ["etag": "W/\"weak\""], ["etag": "W/\"weak\"", "modified": "Sun, 06 Nov 1994 08:49:37 GMT"],
        ["modified": "Sun, 06 Nov 1994 08:49:37 GMT", "date": "Sun, 06 Nov 1994 08:49:37 GMT"],
    ])
    func withoutAValidatorItBeginsAnew(_ validator: [String: String]) async throws {
        let faults = ["short": "700000", "faults": "1"].merging(validator) { $1 }
        _ = await failure(download(faults))
        #expect(folder.names.isEmpty)
        expectWhole(try await outcome(download(faults)).get(), resumedFrom: 0)
        #expect(try await server.log(key).map { $0.headers["Range"] } == [nil, nil])
    }

    @Test func aPartThatWasNotAskedForIsNotTaken() async throws {
        let operation = AsyncOperation(
            download(["short": "700000", "etag": "tag", "wrongrange": "1", "faults": "1"])
        ).retryHTTP(attempts: 2, .immediately)
        expectWhole(try await outcome(of: operation).get(), resumedFrom: 0)
    }

    /// The bytes beyond the part could belong anywhere in the file.
    @Test(
        "A part that is longer than its Content-Range is an invalid answer, and the next run starts over",
        arguments: ["bytes 5-9/10", "bytes 5-7/10"])
    func overlongParts(_ range: String) async throws {
        let file = HTTPDownload("http://example.org/file", to: folder.file("file"))
        let short = StubTransport { _ in
            HTTPAnswer(headers: ["ETag": "\"a\"", "Content-Length": "10"], Data("01234".utf8))
        }
        #expect(await failure(file.transport(short))?.reason == .bodyTooShort(received: 5, promised: 10))
        let long = StubTransport { request in
            #expect(request.value(forHTTPHeaderField: "Range") == "bytes=5-")
            return HTTPAnswer(
                status: 206, headers: ["ETag": "\"a\"", "Content-Range": range], Data("56789more".utf8))
        }
        guard case .invalidAnswer(let problem)? = await failure(file.transport(long))?.reason else {
            Issue.record("it was taken")
            return
        }
        #expect(problem.contains("Content-Range"))
        #expect(folder.names.isEmpty)
    }

    @Test("A part that the request asks for and that is longer than its Content-Range is an invalid answer")
    func overlongRequestedParts() async throws {
        let stub = StubTransport { _ in
            HTTPAnswer(status: 206, headers: ["Content-Range": "bytes 0-2/10"], Data("0123".utf8))
        }
        let part = HTTPDownload("http://example.org/file", to: folder.file("part")).transport(stub)
            .header("Range", "bytes=0-2")
        guard case .invalidAnswer? = await failure(part)?.reason else {
            Issue.record("it was taken")
            return
        }
        #expect(folder.names.isEmpty)
    }

    /// The first request takes six of the ten seconds, so four are left for the second one.
    @Test("A download that starts over has one deadline for both requests")
    func deadlineOfBothRequests() async throws {
        let file = HTTPDownload("http://example.org/file", to: folder.file("file"))
        let short = StubTransport { _ in
            HTTPAnswer(headers: ["ETag": "\"a\"", "Content-Length": "10"], Data("01234".utf8))
        }
        #expect(await failure(file.transport(short))?.reason == .bodyTooShort(received: 5, promised: 10))
        let clock = TestClock()
        let ranges = EventLog<String?>()
        let changed = StubTransport { request in
            let range = request.value(forHTTPHeaderField: "Range")
            ranges.append(range)
            if range != nil {
                clock.advance(by: .seconds(6))
                return HTTPAnswer(
                    status: 206, headers: ["ETag": "\"b\"", "Content-Range": "bytes 5-9/10"], Data("56789".utf8))
            }
            return HTTPAnswer(headers: ["ETag": "\"b\"", "Content-Length": "10"], Data("0123456789".utf8)) {
                clock.advance(by: .seconds(4))
                try await Gate().waitUnlessCancelled()
            }
        }
        let error = await failure(file.transport(changed).deadline(.seconds(10), clock: clock))
        #expect(error?.reason == .deadlineExceeded(after: .seconds(10)))
        #expect(ranges.events == ["bytes=5-", nil])
    }

    /// The deadline passes while the operation waits for the excerpt of the body.
    @Test("A deadline does not hide the refusal of a download")
    func refusalAfterTheDeadline() async throws {
        let clock = TestClock()
        let stub = StubTransport { _ in
            HTTPAnswer(status: 403, Data("not you".utf8)) {
                clock.advance(by: .seconds(1))
                try await Gate().waitUnlessCancelled()
            }
        }
        let file = HTTPDownload("http://example.org/file", to: folder.file("file"))
        let error = await failure(file.transport(stub).deadline(.seconds(1), clock: clock))
        #expect(error?.reason == .refused(HTTPError.Refusal(status: 403, excerpt: "not you")))
    }

    @Test func aPartFromAnotherAddressIsNotContinued() async throws {
        _ = await failure(download(["short": "700000", "etag": "tag", "seed": "5"]))
        #expect(folder.names.count == 2)
        expectWhole(try await outcome(download(["etag": "tag"])).get(), resumedFrom: 0)
    }

    @Test func theNoteOfWhereItCameFromHasNoSecrets() async throws {
        let pieces = TestServer.bytes(2_000_000)
        let stub = StubTransport { request in
            let start = request.value(forHTTPHeaderField: "Range") == nil ? 0 : 700_000
            return HTTPAnswer(
                status: start == 0 ? 200 : 206,
                headers: [
                    "ETag": "\"tag\"", "Content-Length": "\(2_000_000 - start)",
                    "Content-Range": "bytes \(start)-1999999/2000000",
                ], start == 0 ? pieces.prefix(700_000) : pieces.suffix(from: start))
        }
        let address = "http://user:password@127.0.0.1/file?token=secret"
        _ = await failure(HTTPDownload(address, to: folder.file("file")).transport(stub))
        let note = String(decoding: try #require(folder.content(".file.origin")), as: UTF8.self)
        #expect(note.contains("127.0.0.1"))
        #expect(!["user", "password", "token", "secret"].contains { note.contains($0) })
        let resumed = try await outcome(HTTPDownload(address, to: folder.file("file")).transport(stub)).get()
        expectWhole(resumed, resumedFrom: 700_000)
    }

    @Test(arguments: [("403", 2), ("404", 0)]) func aRefusalLeavesWhatMayStillBeUsed(_ status: String, _ files: Int)
        async throws
    {
        _ = await failure(download(["short": "700000", "etag": "tag"]))
        let whole = download(["short": "700000", "etag": "tag"])
        let refusing = StubTransport { _ in HTTPAnswer(status: Int(status) ?? 0) }
        #expect(await failure(whole.transport(refusing))?.isTransient == false)
        #expect(folder.names.count == files)
    }

    @Test func aPartThatTheRequestAsksForIsTheFile() async throws {
        let part = download(["etag": "tag"]).header("Range", "bytes=1999990-")
        let file = try await outcome(part).get()
        #expect(file.byteCount == 10)
        #expect(folder.content("file") == TestServer.bytes(2_000_000).suffix(10))
    }

    @Test("A download may be configured not to resume")
    func itNeedNotResume() async throws {
        let faults = ["short": "700000", "etag": "tag", "faults": "1"]
        _ = await failure(download(faults).resuming(false))
        #expect(folder.names.isEmpty)
        expectWhole(try await outcome(download(faults).resuming(false)).get(), resumedFrom: 0)
    }

    @Test(arguments: ["", "{}", "nonsense"]) func aNoteThatMakesNoSenseIsNoTrap(_ note: String) async throws {
        try Data(note.utf8).write(to: folder.file(".file.origin"))
        try Data(count: 100).write(to: folder.file(".file.partial"))
        expectWhole(try await outcome(download(["etag": "tag"])).get(), resumedFrom: 0)
    }

    /// The partial file is longer than the file on the server, which answers 416.
    @Test func moreThanThereIsIsThrownAway() async throws {
        _ = await failure(download(["short": "700000", "etag": "tag", "faults": "1"]))
        try Data(count: 5_000_000).write(to: folder.file(".file.partial"))
        expectWhole(try await outcome(download(["etag": "tag", "short": "1", "faults": "0"])).get(), resumedFrom: 0)
    }

    /// The response to a POST may differ each time, and the request may have side effects.
    @Test func aRequestOtherThanGETStartsOver() async throws {
        let faults = try FaultServer()
        defer { faults.stop() }
        let fields = ["ETag: \"a\"", "Accept-Ranges: bytes", "Content-Length: 1000"]
        faults.on("/export", .answerHead(200, fields), .sendPattern(count: 500), .close)
        let folder = try TestFolder()
        var request = URLRequest(url: faults.url("/export"))
        request.httpMethod = "POST"
        request.httpBody = Data("what".utf8)
        let export = HTTPDownload(request, to: folder.file("export"))
        #expect(await failure(export)?.reason == .bodyTooShort(received: 500, promised: 1000))
        #expect(folder.names.isEmpty)
        // A partial file that a GET has left belongs to that GET.
        _ = await failure(HTTPDownload(faults.url("/export"), to: folder.file("export")))
        #expect(folder.names == [".export.origin", ".export.partial"])
        _ = await failure(export)
        #expect(faults.requests.map(\.method) == ["POST", "GET", "POST"])
        #expect(faults.requests.allSatisfy { $0.values(of: "Range").isEmpty && $0.values(of: "If-Range").isEmpty })
    }
}
