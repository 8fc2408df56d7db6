import Foundation
import Testing

@testable import Baton
@testable import BatonTrace

/// Tests with the real Graphviz, where it is installed.
@Suite(.timeLimit(.minutes(10))) struct GraphvizTests {
    static let isInstalled = (try? GraphvizProcess(program: nil)) != nil
    /// The reason why a test is skipped.
    static let need: Comment = "There is no Graphviz in PATH. ‘scripts/bootstrap test’ installs it."

    @Test(.enabled(if: isInstalled, need)) func graphvizReadsEveryName() async throws {
        var sketch = Sketch()
        let names = hostileNames + [String(repeating: "long\"", count: 20_000)]
        for (place, name) in names.enumerated() {
            sketch.add(name, 0, after: place == 0 ? [] : [UInt64(place)], ready: place, start: place, end: place + 1)
        }
        let svg = try await sketch.trace.svg()
        let parser = Picture()
        #expect(parser.parse(svg))
        #expect(parser.nodeCount == names.count)
        #expect(svg.contains("שלום עולם") && svg.contains("😀"))
        #expect(!svg.contains("<script"))
    }

    @Test(.enabled(if: isInstalled, need)) func anEmptyTraceIsAPicture() async throws {
        #expect(Picture().parse(try await Trace(of: []).svg()))
    }

    @Test(.enabled(if: isInstalled, need)) func aCancelledTaskGetsNoPicture() async throws {
        let trace = Trace(of: [])
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await trace.svg()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aCancelEndsTheProgramThatRuns() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "baton-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (program, mark) = (folder.appending(path: "dot").path, folder.appending(path: "started").path)
        try "#!/bin/sh\necho > '\(mark)'\nexec sleep 1000\n".write(toFile: program, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        let task = Task { try await Trace(of: []).svg(dot: program) }
        while !FileManager.default.fileExists(atPath: mark) { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func withoutTheProgramTheErrorSaysWhatToDo() async throws {
        let error = await #expect(throws: TraceError.self) { try await Trace(of: []).svg(dot: "/nowhere/dot") }
        #expect(error == .graphvizMissing(searched: ["/nowhere/dot"]))
        #expect("\(error!)".contains("apt-get install graphviz") && "\(error!)".contains("/nowhere/dot"))
    }

    @Test func standardErrorOfTheProgramIsInTheError() async throws {
        let program = try #require(
            ["/bin/false", "/usr/bin/false"].first { FileManager.default.isExecutableFile(atPath: $0) })
        let error = await #expect(throws: TraceError.self) { try await Trace(of: []).svg(dot: program) }
        #expect(error == .graphvizFailed(status: 1, message: ""))
    }
}

/// Parses an SVG picture.
private final class Picture {
    private(set) var nodeCount = 0

    /// Returns true if the text is a well-formed SVG picture, and counts its nodes.
    func parse(_ text: String) -> Bool {
        nodeCount = text.components(separatedBy: "class=\"node\"").count - 1
        guard text.contains("<svg"), text.contains("</svg>") else { return false }
        return !text.unicodeScalars.contains { $0.value < 0x20 && ![9, 10, 13].contains($0.value) }
    }
}
