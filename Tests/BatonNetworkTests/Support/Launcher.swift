import Foundation

/// The process of `Tests/Support/launcher.py`, which starts the servers of the tests.
///
/// It ends when its standard input is closed, so it never outlives this process.
final class Launcher: Sendable {
    /// The launcher of this process. The first access starts it and blocks until it runs.
    static let shared = Launcher()

    private let port: UInt16
    private let process = Process()
    private let input = Pipe()

    private init() {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-u", PythonServer.support("launcher.py").path]
        process.standardInput = input
        process.standardOutput = output
        do { try process.run() } catch { preconditionFailure("the tests need python3: \(error)") }
        guard let port = UInt16(output.fileHandleForReading.readLine()) else {
            preconditionFailure("launcher.py has not started")
        }
        self.port = port
    }

    /// Starts a program of `Tests/Support`. Blocks for a moment.
    ///
    /// - Returns: The standard input and output of the program.
    func start(_ program: String, _ arguments: [String]) throws -> FileHandle {
        let connection = FileHandle(fileDescriptor: try connect(), closeOnDealloc: true)
        try connection.write(contentsOf: JSONEncoder().encode([program] + arguments) + Data("\n".utf8))
        return connection
    }

    private struct NoConnection: Error {
        let code: Int32
    }

    private func connect() throws -> Int32 {
        // Child processes do not inherit the socket, because the program ends when the last copy is closed.
        #if os(Linux)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if status != 0 {
            let code = errno
            close(descriptor)
            throw NoConnection(code: code)
        }
        return descriptor
    }
}

extension FileHandle {
    /// Reads up to the end of a line, and returns the line without its end. Blocks until the line has arrived.
    func readLine() -> String {
        var line = Data()
        while let byte = try? read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) { line += byte }
        return String(decoding: line, as: UTF8.self)
    }
}
