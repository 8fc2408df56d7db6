internal import Baton
internal import Foundation

/// Runs the program `dot` of Graphviz. Everything here blocks its thread; see ``Trace/svg(dot:)``.
final class GraphvizRun: Sendable {
    let program: String
    /// Taken once by whoever starts or stops it.
    private let child = Locked(Child())

    private struct Child: @unchecked Sendable {
        /// Reached under the lock, and by the one thread that runs it; ended on any.
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

    /// Files, not pipes: none of the two sides ever waits for the other.
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
        try PictureFile.write(Array(dot.utf8), to: input.path)
        try PictureFile.write([], to: messages.path)
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

    /// It ends soon; on any thread, at any time.
    func cancel() {
        let process = child.withLock { child in
            child.isCancelled = true
            return child.process
        }
        if let process { Self.end(process) }
    }

    /// Not by a signal that it may have inherited as blocked: threads that Dispatch makes block them. It leaves nothing
    /// that is not in the folder.
    private static func end(_ process: Process) {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
}
