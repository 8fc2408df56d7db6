import Baton
import BatonNetwork
import BatonNetworkTesting
import BatonTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct ResumingTests {
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
