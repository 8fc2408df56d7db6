import Foundation

/// A web server that serves the files of a folder, with the faults that server.py documents. It ends when the object is
/// released.
final class PictureServer {
    let address: String
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(serving folder: URL) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("server.py")
        process.arguments = ["python3", script.path, folder.path]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        address = "http://127.0.0.1:\(Self.line(of: output))"
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Returns when a client waits for the rest of `/hold/…`.
    func waitUntilHolding() { _ = Self.line(of: output) }

    private static func line(of pipe: Pipe) -> String {
        var line = Data()
        while let byte = try? pipe.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) {
            line += byte
        }
        return String(decoding: line, as: UTF8.self)
    }
}
