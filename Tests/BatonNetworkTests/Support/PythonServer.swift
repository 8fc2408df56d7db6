import Foundation

/// A program of `Tests/Support` that listens on a port of 127.0.0.1 and prints the port in its first line.
///
/// It ends when its standard input is closed, so it never outlives this process.
final class PythonServer: Sendable {
    let port: String
    private let input = Pipe()
    private let output = Pipe()
    private let process = Process()

    init(_ program: String, _ arguments: [String]) {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-u", Self.support(program).path] + arguments
        process.standardInput = input
        process.standardOutput = output
        do { try process.run() } catch { preconditionFailure("the tests need python3: \(error)") }
        port = Self.line(of: output.fileHandleForReading)
    }

    /// Returns when the program has printed `line` or has ended.
    func wait(for line: String) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [output] in
                while true {
                    let next = Self.line(of: output.fileHandleForReading)
                    if next == line || next.isEmpty { break }
                }
                continuation.resume()
            }
        }
    }

    private static func line(of handle: FileHandle) -> String {
        var line = Data()
        while let byte = try? handle.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) { line += byte }
        return String(decoding: line, as: UTF8.self)
    }

    /// Closes the program's standard input, and returns when the program has ended.
    func stop() {
        try? input.fileHandleForWriting.close()
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Ends the program, and returns the lines that it has printed.
    func stopAndReadLines() -> [String] {
        try? input.fileHandleForWriting.close()
        let rest = (try? output.fileHandleForReading.readToEnd()) ?? Data()
        process.waitUntilExit()
        return String(decoding: rest, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The URL of a file in `Tests/Support`.
    static func support(_ name: String) -> URL {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { folder.deleteLastPathComponent() }
        return folder.appendingPathComponent("Support/" + name)
    }

    /// The URL of a test certificate, made by `Tests/Support/certificates/make`.
    static func certificate(_ name: String) -> URL { support("certificates/\(name).pem") }
}
