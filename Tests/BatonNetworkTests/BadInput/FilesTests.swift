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

    #if os(Linux)
        @Test("A pipe, a socket or a device is neither sent nor replaced, and neither is what a link to it leads to")
        func specialFiles() async throws {
            try #require(mkfifo(folder.file("pipe").path, 0o600) == 0)
            try #require(makeSocket(folder.file("socket").path))
            let files = [folder.file("pipe"), folder.file("socket"), URL(fileURLWithPath: "/dev/null")]
            for file in files {
                let link = folder.file("link to \(file.lastPathComponent)")
                try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
                var before = stat()
                try #require(stat(file.path, &before) == 0)
                for file in [file, link] {
                    #expect(await problem(HTTPUpload(file: file, to: server.url("/upload"))) == .isDevice, "\(file)")
                    #expect(await problem(HTTPDownload(server.url("/bytes/10"), to: file)) == .isDevice, "\(file)")
                }
                var after = stat()
                #expect(stat(file.path, &after) == 0 && after.st_ino == before.st_ino)
            }
        }

        private func makeSocket(_ path: String) -> Bool {
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let fits = withUnsafeMutableBytes(of: &address.sun_path) { bytes in
                if path.utf8.count >= bytes.count { return false }
                bytes.copyBytes(from: path.utf8)
                return true
            }
            return fits
                && withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                        bind(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                    }
                }
        }
    #endif

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

    /// Makes a folder `releases/7` and a link `current` to it. `releases/7/data` is a link to `../shared`, so
    /// `current/data` is `releases/shared` for the system. Read as text, the links lead to `shared`.
    private func makeReleases(_ content: String?) throws -> URL {
        let files = FileManager.default
        try files.createDirectory(at: folder.file("releases/7"), withIntermediateDirectories: true)
        try files.createSymbolicLink(atPath: folder.file("current").path, withDestinationPath: "releases/7")
        try files.createSymbolicLink(atPath: folder.file("releases/7/data").path, withDestinationPath: "../shared")
        try Data("precious".utf8).write(to: folder.file("shared"))
        if let content { try Data(content.utf8).write(to: folder.file("releases/shared")) }
        return folder.file("current/data")
    }

    @Test("A download follows a link in a linked folder as the system does", arguments: ["old", nil])
    func linksInLinkedFolders(_ content: String?) async throws {
        let target = try makeReleases(content)
        let file = try await outcome(HTTPDownload(server.url("/bytes/10"), to: target)).get()
        #expect(file.file == target)
        #expect(folder.content("releases/shared") == TestServer.bytes(10))
        #expect(folder.content("current/data") == TestServer.bytes(10))
        #expect(folder.content("shared") == Data("precious".utf8))
        #expect(folder.names == ["current", "releases", "shared"])
    }

    /// A partial file has its place beside the file that is replaced, so that it can be renamed.
    @Test("The partial file of a link is beside the file that the link leads to")
    func partialFilesOfLinks() async throws {
        let target = try makeReleases("old")
        let url = server.url("/bytes/1000", ["short": "500", "etag": "tag", "ranges": "1"])
        #expect(await failure(HTTPDownload(url, to: target)) != nil)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("releases").path)
        #expect(names.sorted() == [".shared.origin", ".shared.partial", "7", "shared"])
    }

    @Test("An upload follows a link in a linked folder as the system does", arguments: Transports.all)
    func uploadsOfLinksInLinkedFolders(_ transport: any HTTPTransport) async throws {
        let upload = HTTPUpload(file: try makeReleases("ten bytes."), to: server.url("/upload")).transport(transport)
        let answer = try await outcome(upload).get()
        #expect(String(decoding: answer.data, as: UTF8.self).contains("\"count\": 10"))
    }

    @Test("A target in a loop of links is an error, and the links stay", arguments: ["a", "self"])
    func loopsOfLinks(_ name: String) async throws {
        for (link, target) in [("a", "b"), ("b", "a"), ("self", "self")] {
            try FileManager.default.createSymbolicLink(
                atPath: folder.file(link).path, withDestinationPath: target)
        }
        let error = await failure(HTTPDownload(server.url("/bytes/10"), to: folder.file(name)))
        #expect(error?.reason == .file(.other(errno: ELOOP), path: folder.file(name).path))
        for (link, target) in [("a", "b"), ("b", "a"), ("self", "self")] {
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: folder.file(link).path) == target)
        }
        #expect(folder.names == ["a", "b", "self"])
    }

    @Test("A download follows as many links as the system does, and then fails")
    func chainsOfLinks() async throws {
        for number in 1...45 {
            try FileManager.default.createSymbolicLink(
                atPath: folder.file("\(number)").path, withDestinationPath: number == 1 ? "end" : "\(number - 1)")
        }
        // macOS follows 32 links, and Linux 40.
        _ = try await outcome(HTTPDownload(server.url("/bytes/10"), to: folder.file("30"))).get()
        #expect(folder.content("end") == TestServer.bytes(10))
        #expect(await problem(HTTPDownload(server.url("/bytes/10"), to: folder.file("45"))) == .other(errno: ELOOP))
    }

    @Test("A link to a missing folder is an error")
    func linksToMissingFolders() async throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("link").path, withDestinationPath: "missing/")
        #expect(await problem(HTTPDownload(server.url("/bytes/10"), to: folder.file("link"))) == .isDirectory)
        #expect(folder.names == ["link"])
    }
}
