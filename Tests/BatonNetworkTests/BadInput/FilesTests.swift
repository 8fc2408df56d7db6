import Baton
import Foundation
import Testing

@testable import BatonNetwork

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Files that are not regular files, that have long names, or whose permissions matter.
@Suite(.timeLimit(.minutes(10))) struct FilesTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func problem(_ procedure: some Procedure) async -> HTTPError.FileProblem? {
        if case .file(let problem, _)? = await failure(procedure)?.reason { return problem }
        return nil
    }

    private func rights(_ name: String) -> Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: folder.file(name).path)
        return (attributes?[.posixPermissions] as? NSNumber)?.intValue
    }

    /// Sixteen uploads at once would block every thread of the pool if they waited for the pipe.
    @Test func aPipeIsNotWaitedFor() async throws {
        #expect(mkfifo(folder.file("pipe").path, 0o600) == 0)
        let upload = HTTPUpload(file: folder.file("pipe"), to: server.url("/upload"))
        await withTaskGroup(of: HTTPError.FileProblem?.self) { group in
            for _ in 0..<16 { group.addTask { await problem(upload) } }
            for await found in group { #expect(found == .isDevice) }
        }
        let zeros = URL(fileURLWithPath: "/dev/zero")
        #expect(await problem(HTTPUpload(file: zeros, to: server.url("/upload"))) == .isDevice)
        #expect(await problem(HTTPUpload(file: folder.url, to: server.url("/upload"))) == .isDirectory)
    }

    /// The message must not advise anybody to remove the null device.
    @Test func adviceIsForWhatIsThere() {
        #expect(!"\(HTTPError.FileProblem.isDevice)".contains("Remove"))
    }

    /// A POST may be retried only if it has not been sent.
    @Test func aProcessWithoutDescriptorsMayTryAgain() {
        var request = URLRequest(url: server.url("/"))
        request.httpMethod = "POST"
        for number in [EMFILE, ENFILE] {
            for isSent in [false, true] {
                let error = HTTPError(FileError(number, "x"), request, isSent: isSent)
                #expect(error.reason == .tooManyOpenFiles && error.isTransient)
                #expect(HTTPRetry.idempotent.allows(.failed(error)) == !isSent)
            }
        }
        #expect(HTTPError(FileError(EIO, "x"), request, isSent: false).reason == .file(.other(errno: EIO), path: "x"))
    }

    @Test func aLinkToAFileIsSent() async throws {
        try Data("content".utf8).write(to: folder.file("file"))
        try FileManager.default.createSymbolicLink(at: folder.file("link"), withDestinationURL: folder.file("file"))
        let answer = try await outcome(HTTPUpload(file: folder.file("link"), to: server.url("/upload"))).get()
        #expect(String(decoding: answer.data, as: UTF8.self).contains("\"count\": 7"))
    }

    @Test func anHTTPURLInPlaceOfAFileIsAnError() async throws {
        let page = try #require(URL(string: "https://example.org/tmp/x?secret"))
        let download = await failure(HTTPDownload(server.url("/bytes/10"), to: page))
        let upload = await failure(HTTPUpload(file: page, to: server.url("/upload")))
        for error in [download, upload] {
            guard case .invalidRequest(let text)? = error?.reason else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(text.contains("https://example.org/tmp/x") && !text.contains("secret"))
        }
    }

    @Test(arguments: [246, 247, 248, 254, 255]) func aNameMayBeAsLongAsTheSystemTakes(_ count: Int) async throws {
        for name in [String(repeating: "x", count: count), String(repeating: "ü", count: count / 2)] {
            _ = try await outcome(HTTPDownload(server.url("/bytes/10"), to: folder.file(name))).get()
            #expect(folder.names == [name])
            try FileManager.default.removeItem(at: folder.file(name))
        }
    }

    /// Each download has its own partial file, although the names begin with the same characters.
    @Test func longNamesAreToldApart() async throws {
        let names = ["a", "b"].map { String(repeating: "x", count: 254) + $0 }
        for name in names {
            let url = server.url("/bytes/1000", ["short": "500", "etag": name, "ranges": "1"])
            #expect(await failure(HTTPDownload(url, to: folder.file(name))) != nil)
        }
        #expect(folder.names.count == 4)
    }

    @Test(arguments: [0o600, 0o640, 0o755]) func aFileKeepsItsRights(_ mode: Int) async throws {
        try Data("old".utf8).write(to: folder.file("file"))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.file("file").path)
        _ = try await outcome(HTTPDownload(server.url("/bytes/10"), to: folder.file("file"))).get()
        #expect(folder.content("file")?.count == 10)
        #expect(rights("file") == mode)
    }

    /// Other users must not be able to read the partial file of a secret file while the download runs.
    @Test func aPartHasNoMoreRightsThanTheFile() async throws {
        try Data("old".utf8).write(to: folder.file("file"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.file("file").path)
        let url = server.url("/bytes/1000", ["short": "500", "etag": "tag", "ranges": "1"])
        #expect(await failure(HTTPDownload(url, to: folder.file("file"))) != nil)
        #expect(rights(".file.partial") == 0o600)
    }

    @Test func theTargetOfALinkIsReplaced() async throws {
        let other = try TestFolder()
        try Data("old".utf8).write(to: other.file("file"))
        try FileManager.default.createSymbolicLink(at: folder.file("link"), withDestinationURL: other.file("file"))
        try FileManager.default.createSymbolicLink(at: folder.file("new"), withDestinationURL: other.file("missing"))
        for (link, name) in [("link", "file"), ("new", "missing")] {
            _ = try await outcome(HTTPDownload(server.url("/bytes/10"), to: folder.file(link))).get()
            #expect(other.content(name)?.count == 10)
            #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: folder.file(link).path)) != nil)
        }
        #expect(other.names == ["file", "missing"] && folder.names == ["link", "new"])
    }
}
