internal import Baton
internal import Foundation

/// Runs the program `dot` of Graphviz. Every method blocks its thread; see ``Trace/svg(dot:)``.
final class GraphvizProcess: Sendable {
    let program: String
    /// The state that the thread that runs the program shares with threads that cancel it.
    private let child = Locked(Child())

    private struct Child: @unchecked Sendable {
        /// The running process. It is accessed under the lock, and by the one thread that runs it. Any thread may kill
        /// it.
        var process: Process?
        var isCancelled = false
    }

    init(program: String?) throws(TraceError) {
        let places =
            program.map { [$0] }
            ?? (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map {
                "\($0)/dot"
            }
        guard let found = places.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            throw .graphvizMissing(searched: places)
        }
        self.program = found
    }

    /// Draws the graph. The input and the output are files and not pipes, so that neither process waits for the other.
    func svg(of dot: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "baton-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw TraceError.notWritten(path: folder.path, reason: "\(error)")
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        let input = folder.appending(path: "graph.dot")
        let output = folder.appending(path: "graph.svg")
        let messages = folder.appending(path: "messages")
        try AtomicFile.write(Array(dot.utf8), to: input.path)
        try AtomicFile.write([], to: messages.path)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["-Tsvg", "-o", output.path, input.path]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        let log = try FileHandle(forWritingTo: messages)
        defer { try? log.close() }
        process.standardError = log
        try start(process)
        process.waitUntilExit()
        let isCancelled = child.withLock { child in
            child.process = nil
            return child.isCancelled
        }
        if isCancelled { throw CancellationError() }
        guard process.terminationStatus == 0, let svg = try? String(contentsOf: output, encoding: .utf8) else {
            let message = (try? String(contentsOf: messages, encoding: .utf8)) ?? ""
            throw TraceError.graphvizFailed(
                status: process.terminationStatus,
                message: Trace.text(of: message.trimmingCharacters(in: .whitespacesAndNewlines)))
        }
        return svg
    }

    private func start(_ process: Process) throws {
        do {
            try process.run()
        } catch {
            throw TraceError.graphvizFailed(status: -1, message: "\(error)")
        }
        let isCancelled = child.withLock { child in
            child.process = process
            return child.isCancelled
        }
        if isCancelled { Self.end(process) }
    }

    /// Kills the program, if it runs, and makes ``svg(of:)`` throw `CancellationError`. May be called on any thread at
    /// any time.
    func cancel() {
        let process = child.withLock { child in
            child.isCancelled = true
            return child.process
        }
        if let process { Self.end(process) }
    }

    /// Kills the process with SIGKILL: it may have inherited other signals as blocked, because threads of Dispatch
    /// block them. The program writes only to the temporary folder, so nothing is left behind.
    private static func end(_ process: Process) {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
}
