import Foundation
import Testing

@testable import Baton
@testable import BatonTrace

/// The page in a real browser without a window, where one is installed.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BrowserTests {
    static let browser = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// The document after its scripts have run, and what the console says.
    private func load(_ trace: Trace, _ hash: String = "") async throws -> (document: String, console: String) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "baton-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let page = folder.appending(path: "page.html")
        try await trace.write(.timeline, to: page.path)
        let program = try #require(Self.browser)
        return try await OwnThread.run {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: program)
            process.arguments = [
                "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,800", "--virtual-time-budget=4000",
                "--enable-logging=stderr", "--user-data-dir=\(folder.path)/profile", "--dump-dom",
                page.absoluteString + hash,
            ]
            let files = ["out", "log"].map { folder.appending(path: $0) }
            for file in files { try Data().write(to: file) }
            process.standardOutput = try FileHandle(forWritingTo: files[0])
            process.standardError = try FileHandle(forWritingTo: files[1])
            try process.run()
            process.waitUntilExit()
            let texts = try files.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
            return (texts[0], texts[1].split(separator: "\n").filter { $0.contains("CONSOLE") }.joined(separator: "\n"))
        }
    }

    @Test(.enabled(if: browser != nil)) func everyOperationIsFoundAndTheConsoleIsSilent() async throws {
        var sketch = Sketch()
        for (place, name) in hostileNames.enumerated() {
            let source = place == 0 ? [] : [UInt64(place)]
            sketch.add(name, 0, after: source, ready: place, start: place, end: place + 1, outcome: .failure)
            sketch.trace.operations[place].error = name
        }
        sketch.add("never ends", 0, after: [1], outcome: nil)
        let (document, console) = try await load(sketch.trace)
        #expect(document.contains("data-operations=\"\(hostileNames.count + 1)\""))
        #expect(!document.contains("data-error=") && console.isEmpty, "\(console)")
        for name in ["שלום עולם", "back\\slash\\"] { #expect(document.contains("title=\"\(name)\"")) }
    }

    @Test(.enabled(if: browser != nil)) func aLinkCanSearch() async throws {
        var sketch = Sketch()
        for place in 0..<500 { sketch.add("page \(place)", 0, ready: 0, start: place, end: place + 1) }
        let (document, console) = try await load(sketch.trace, "#find=page%2049&rows=lane&theme=dark&path")
        #expect(document.contains("data-operations=\"500\"") && document.contains("data-found=\"11\""))
        #expect(document.contains("data-theme=\"dark\""))
        #expect(!document.contains("data-error=") && console.isEmpty, "\(console)")
    }

    @Test(.enabled(if: browser != nil)) func withoutOperationsThePageOpens() async throws {
        let (document, console) = try await load(Trace(of: []))
        #expect(document.contains("data-operations=\"0\"") && document.contains("No operations."))
        #expect(!document.contains("data-error=") && console.isEmpty, "\(console)")
    }
}
