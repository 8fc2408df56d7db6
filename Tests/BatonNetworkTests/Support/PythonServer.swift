import Foundation

/// A program of `Tests/Support` that listens on a port of 127.0.0.1 and prints the port in its first line.
///
/// It ends when its standard input is closed, so it never outlives this process.
final class PythonServer: Sendable {
    let port: String
    /// The standard input and output of the program.
    private let connection: FileHandle

    /// Starts a program, and returns when it listens. The thread of the caller is not blocked.
    init(_ program: String, _ arguments: [String]) async {
        (connection, port) = await onOwnThread { Self.start(program, arguments) }
    }

    /// Starts a program, and blocks the thread until it listens. For the server that all tests share, and nothing else.
    init(blocking program: String) { (connection, port) = Self.start(program, []) }

    private static func start(_ program: String, _ arguments: [String]) -> (FileHandle, port: String) {
        do {
            let connection = try Launcher.shared.start(program, arguments)
            let port = connection.readLine()
            precondition(Int(port) != nil, "\(program) has not started")
            return (connection, port)
        } catch {
            preconditionFailure("\(program) has not started: \(error)")
        }
    }

    /// Returns when the program has printed `line` or has ended.
    func wait(for line: String) async {
        await onOwnThread { [connection] in
            while true {
                let next = connection.readLine()
                if next == line || next.isEmpty { return }
            }
        }
    }

    /// Ends the program, without waiting for its end.
    func stop() { shutdown(connection.fileDescriptor, Int32(SHUT_WR)) }

    /// Ends the program, and returns the lines that it has printed and that nobody has read.
    func stopAndReadLines() async -> [String] {
        stop()
        let rest = await onOwnThread { [connection] in (try? connection.readToEnd()) ?? Data() }
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
