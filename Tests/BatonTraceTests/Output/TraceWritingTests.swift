import Foundation
import Testing

@testable import Baton
@testable import BatonTrace

@Suite(.timeLimit(.minutes(10))) struct TraceWritingTests {
    private var trace: Trace {
        var sketch = Sketch()
        sketch.add("a", 0, ready: 0, start: 0, end: 5)
        return sketch.trace
    }

    @Test(arguments: Trace.Picture.allCases.filter { $0 != .svg || GraphvizTests.isInstalled })
    func everyPictureCanBeWritten(_ picture: Trace.Picture) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "baton-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("old".utf8).write(to: file)
        try await trace.write(picture, to: file.path)
        let text = try String(contentsOf: file, encoding: .utf8)
        let beginning: [Trace.Picture: String] = [
            .timeline: "<!DOCTYPE html>", .chromeTrace: "{\"displayTimeUnit\"", .dot: "digraph", .mermaid: "flowchart",
            .svg: "<?xml",
        ]
        #expect(text.hasPrefix(beginning[picture] ?? "?"))
    }

    @Test("A trace that cannot be written is an error", arguments: Trace.Picture.allCases.filter { $0 != .svg })
    func whatCannotBeWrittenIsAnError(
        _ picture: Trace.Picture
    ) async throws {
        let path = "/nowhere/at/all/\(picture)"
        let error = await #expect(throws: TraceError.self) { try await trace.write(picture, to: path) }
        guard case .notWritten(path, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!reason.isEmpty)
        #expect("\(error!)".contains("‘\(path)’"))
    }

    @Test("A trace cannot be written to an empty path", arguments: Trace.Picture.allCases)
    func emptyPath(_ picture: Trace.Picture) async {
        let error = await #expect(throws: TraceError.self) { try await trace.write(picture, to: "") }
        #expect("\(error!)" == "The picture could not be written: the path is empty. Give the path of a file.")
    }

    @Test("The error of a write into a folder that does not exist names the folder")
    func missingFolder() async {
        let folder = FileManager.default.temporaryDirectory.appending(path: "baton-\(UUID().uuidString)").path
        let error = await #expect(throws: TraceError.self) { try await trace.write(.dot, to: "\(folder)/x.dot") }
        #expect(
            "\(error!)" == "The picture could not be written to ‘\(folder)/x.dot’: there is no folder ‘\(folder)’. "
                + "Make it first.")
    }

    @Test func aFolderIsNoFile() async {
        let path = FileManager.default.temporaryDirectory.path
        let error = await #expect(throws: TraceError.self) { try await trace.write(.dot, to: path) }
        let reason = "this is a folder. Give the path of a file in it."
        #expect("\(error!)" == "The picture could not be written to ‘\(path)’: \(reason)")
    }

    @Test("A trace is not written to a loop of links, and the links stay")
    func loopsOfLinks() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "baton-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let links = [("a", "b"), ("b", "a")].map { (folder.appending(path: $0).path, $1) }
        for (link, target) in links {
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        }
        await #expect(throws: TraceError.self) { try await trace.write(.dot, to: links[0].0) }
        for (link, target) in links {
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == target)
        }
    }

    @Test func aNonRegularFileIsWrittenToAndStays() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "baton-\(UUID().uuidString)").path
        #expect(mkfifo(path, 0o600) == 0)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let descriptor = open(path, O_RDWR | O_NONBLOCK)
        try #require(descriptor >= 0)
        let pipe = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try await trace.write(.mermaid, to: path)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
        #expect(try pipe.read(upToCount: 9) == Data("flowchart".utf8))
    }
}
