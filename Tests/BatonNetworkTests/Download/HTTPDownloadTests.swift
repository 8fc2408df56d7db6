import Baton
import BatonNetwork
import BatonTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct HTTPDownloadTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test func theFileHasTheBytes() async throws {
        let operation = AsyncOperation(HTTPDownload(server.url("/bytes/1000000"), to: folder.file("file")))
        let file = try await outcome(of: operation).get()
        #expect(folder.content("file") == TestServer.bytes(1_000_000))
        #expect(file.byteCount == 1_000_000 && file.resumedFrom == 0)
        #expect(folder.names == ["file"])
        #expect(operation.progress.completedUnitCount == 1_000_000)
        #expect(operation.progress.totalUnitCount == 1_000_000)
    }

    @Test(arguments: [["chunked": "1"], ["gzip": "1"], ["etag": "a", "ranges": "1"]])
    func howeverTheyAreSent(_ query: [String: String]) async throws {
        let download = HTTPDownload(server.url("/bytes/300000", query), to: folder.file("file")).synchronizing()
        #expect(try await outcome(download).get().byteCount == 300_000)
        #expect(folder.content("file") == TestServer.bytes(300_000))
        #expect(folder.names == ["file"])
    }

    @Test func anEmptyFile() async throws {
        _ = try await outcome(HTTPDownload(server.url("/bytes/0"), to: folder.file("file"))).get()
        #expect(folder.content("file") == Data())
    }

    @Test func anExistingFileIsReplacedOnlyAtTheEnd() async throws {
        try Data("old".utf8).write(to: folder.file("file"))
        let key = freshKey()
        let url = server.url("/bytes/1000", ["key": key, "hold": "500"])
        let operation = AsyncOperation(HTTPDownload(url, to: folder.file("file"))).add(to: AsyncOperationQueue())
        for await progress in operation.progressUpdates where progress.completedUnitCount == 500 { break }
        #expect(folder.content("file") == Data("old".utf8))
        try await server.release(key)
        _ = try? await operation.value
        #expect(operation.result?.httpError?.reason == .bodyTooShort(received: 500, promised: 1000))
        #expect(folder.content("file") == Data("old".utf8))
        _ = try await outcome(HTTPDownload(server.url("/bytes/1000"), to: folder.file("file"))).get()
        #expect(folder.content("file") == TestServer.bytes(1000))
    }

    @Test func aRefusalLeavesNothing() async {
        let error = await failure(HTTPDownload(server.url("/status/404", ["body": "no"]), to: folder.file("file")))
        #expect(error?.reason == .refused(HTTPError.Refusal(status: 404, excerpt: "no")))
        #expect(folder.names.isEmpty)
    }

    @Test func theContentTypeMayBeExpected() async {
        let download = HTTPDownload(server.url("/bytes/10", ["type": "text/html"]), to: folder.file("file"))
            .validation(.contentType("image/*"))
        #expect(await failure(download)?.reason == .unexpectedContentType("text/html", expected: ["image/*"]))
        #expect(folder.names.isEmpty)
    }

    @Test func ofTwoToOneFileTheSecondFails() async throws {
        let key = freshKey()
        let url = server.url("/bytes/1000", ["key": key, "hold": "500"])
        let first = AsyncOperation(HTTPDownload(url, to: folder.file("file"))).add(to: AsyncOperationQueue())
        try await server.waitForRequests(key)
        let second = await failure(HTTPDownload(server.url("/bytes/10"), to: folder.file("file")))
        #expect(second?.reason == .file(.inUse, path: folder.file("file").path))
        first.cancel()
        try await server.release(key)
        _ = try? await first.value
        _ = try await outcome(HTTPDownload(server.url("/bytes/10"), to: folder.file("file"))).get()
        #expect(folder.content("file") == TestServer.bytes(10))
    }

    // MARK: Foreign files beside the target

    @Test func aLinkInPlaceOfThePartIsNotFollowed() async throws {
        let victim = folder.file("victim")
        try Data("precious".utf8).write(to: victim)
        try FileManager.default.createSymbolicLink(at: folder.file(".file.partial"), withDestinationURL: victim)
        await expectRefusal()
        #expect(folder.content("victim") == Data("precious".utf8))
    }

    /// No file is created at the target of the link, either.
    @Test func aLinkToNothingInPlaceOfThePartIsNotFollowed() async throws {
        try FileManager.default.createSymbolicLink(
            at: folder.file(".file.partial"), withDestinationURL: folder.file("victim"))
        await expectRefusal()
        #expect(folder.names == [".file.partial"])
    }

    @Test func aSecondNameOfAnotherFileIsNotWrittenTo() async throws {
        try Data("precious".utf8).write(to: folder.file("victim"))
        try FileManager.default.linkItem(at: folder.file("victim"), to: folder.file(".file.partial"))
        await expectRefusal()
        #expect(folder.content("victim") == Data("precious".utf8))
    }

    @Test func aPipeInPlaceOfThePartStopsNobody() async throws {
        #expect(mkfifo(folder.file(".file.partial").path, 0o600) == 0)
        await expectRefusal()
    }

    @Test("A folder in place of the partial file is not touched")
    func folderInPlaceOfThePartialFile() async throws {
        try FileManager.default.createDirectory(at: folder.file(".file.partial"), withIntermediateDirectories: true)
        await expectRefusal()
        #expect(folder.names == [".file.partial"])
    }

    @Test(
        "A folder in place of the note is not touched, whether the response can be continued or not",
        arguments: [[:], ["etag": "tag", "ranges": "1"]])
    func folderInPlaceOfTheNote(_ query: [String: String]) async throws {
        try FileManager.default.createDirectory(at: folder.file(".file.origin"), withIntermediateDirectories: true)
        let error = await failure(HTTPDownload(server.url("/bytes/1000", query), to: folder.file("file")))
        #expect(error?.reason == .file(.notPlain, path: folder.file(".file.origin").path))
        #expect(folder.names == [".file.origin"])
    }

    private func expectRefusal() async {
        let error = await failure(HTTPDownload(server.url("/bytes/1000"), to: folder.file("file")))
        let path = folder.file(".file.partial").path
        #expect(error?.reason == .file(.notPlain, path: path))
        #expect(error.map { "\($0)" }?.contains("\(path): is a link") == true)
        #expect(folder.content("file") == nil)
    }

    // MARK: Bad targets

    @Test func aFolderIsNoTarget() async throws {
        let error = await failure(HTTPDownload(server.url("/bytes/10"), to: folder.url))
        #expect(error?.reason == .file(.isDirectory, path: folder.url.path))
    }

    /// Otherwise a process with sufficient privileges could replace the null device.
    @Test func aPipeIsNoTarget() async throws {
        let pipe = folder.file("pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        let error = await failure(HTTPDownload(server.url("/bytes/10"), to: pipe))
        #expect(error?.reason == .file(.isDevice, path: pipe.path))
        var status = stat()
        #expect(stat(pipe.path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
    }

    #if os(Linux)
        /// The system follows such a link to the open file itself, whatever its text says. The standard output of a
        /// program may be one.
        @Test("An open file of the process is no target, and neither is a link to it")
        func openFiles() async throws {
            try Data("old".utf8).write(to: folder.file("file"))
            let handle = try FileHandle(forWritingTo: folder.file("file"))
            defer { try? handle.close() }
            let targets = ["/dev/fd/", "/proc/self/fd/"].map { "\($0)\(handle.fileDescriptor)" }
            try FileManager.default.createSymbolicLink(
                atPath: folder.file("link").path, withDestinationPath: targets[0])
            for target in targets + [folder.file("link").path] {
                let error = await failure(HTTPDownload(server.url("/bytes/10"), to: URL(fileURLWithPath: target)))
                #expect(error?.reason == .file(.isDevice, path: target))
            }
            #expect(folder.content("file") == Data("old".utf8) && folder.names == ["file", "link"])
        }

        @Test("The standard output is no target, whatever it is")
        func standardOutput() async {
            await #expect(processExitsWith: .success) {
                let folder = try TestFolder()
                for path in [folder.file("file").path, "/dev/null"] {
                    let other = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
                    precondition(dup2(other, STDOUT_FILENO) == STDOUT_FILENO)
                    let target = URL(fileURLWithPath: "/dev/stdout")
                    let reason = await failure(HTTPDownload(server.url("/bytes/10"), to: target))?.reason
                    precondition(reason == .file(.isDevice, path: target.path), "\(String(describing: reason))")
                }
                precondition(folder.names == ["file"] && folder.content("file")?.count == 0)
            }
        }
    #endif

    @Test func aFolderThatIsNotThereIsAnError() async throws {
        let error = await failure(HTTPDownload(server.url("/bytes/10"), to: folder.file("missing/file")))
        guard case .file(.notFound, path: folder.file("missing").path)? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func aFolderWhereNobodyMayWriteIsAnError() async throws {
        let error = await failure(HTTPDownload(server.url("/bytes/10"), to: URL(fileURLWithPath: "/proc/self/file")))
        guard case .file(let problem, _)? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(problem == .notPermitted || problem == .notFound)
    }

    #if os(Linux)
        @Test("A folder in which no file can be created does not count as missing")
        func systemFolders() async {
            let error = await failure(
                HTTPDownload(server.url("/bytes/10"), to: URL(fileURLWithPath: "/proc/self/comm")))
            #expect(error?.reason == .file(.notPermitted, path: "/proc/self"))
        }
    #endif

    @Test func aNameThatIsTooLongIsAnError() async throws {
        let name = String(repeating: "x", count: 256)
        let error = await failure(HTTPDownload(server.url("/bytes/10"), to: folder.file(name)))
        #expect(error?.reason == .file(.other(errno: ENAMETOOLONG), path: folder.file(name).path))
    }

    /// The write fails in the middle, as it does when the disk becomes full.
    @Test func anUnwritableFileIsAnErrorAndLeavesNothing() async {
        let request = URLRequest(url: server.url("/bytes/2000000"))
        let full = HTTPError(.file(.diskFull, path: "file"), request)
        let stub = StubTransport { _ in
            HTTPAnswer(headers: ["ETag": "\"tag\"", "Content-Length": "2000000"], Data(count: 10)) { throw full }
        }
        let error = await failure(HTTPDownload(request, to: folder.file("file")).transport(stub))
        #expect(error?.reason == full.reason)
        #expect(folder.names.isEmpty)
        #expect("\(full)".contains("the disk is full"))
    }

    @Test(.enabled(if: SmallDisk.isPossible, SmallDisk.whyNot))
    func aDiskThatBecomesFullIsAnErrorAndLeavesNothing() async throws {
        let disk = try SmallDisk()
        let url = server.url("/bytes/5000000", ["etag": "a", "ranges": "1"])
        let error = await failure(HTTPDownload(url, to: disk.url.appendingPathComponent("file")))
        guard case .file(.diskFull, _)? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(disk.names.isEmpty)
    }
}
