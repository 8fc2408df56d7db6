internal import Baton
internal import Foundation

extension Trace {
    /// A format in which a trace can be written.
    @nonexhaustive
    public enum Picture: Sendable, Hashable, CaseIterable {
        /// An HTML page; see ``Trace/timeline()``.
        case timeline
        /// JSON for trace viewers; see ``Trace/chromeTrace()``.
        case chromeTrace
        /// The graph as text for Graphviz; see ``Trace/dot()``.
        case dot
        /// The graph as text for Mermaid; see ``Trace/mermaid()``.
        case mermaid
        /// The graph as an SVG picture, for which Graphviz has to be installed; see ``Trace/svg(dot:)``.
        case svg
    }

    /// Writes the trace to a file, on a thread of its own.
    ///
    /// An existing file is replaced atomically: a failed write leaves it unchanged. If the path names a device, a pipe
    /// or another file that is not regular, the data is written to it directly. Cancelling the task does not interrupt
    /// the write: a write to a named pipe waits until another program reads from it.
    ///
    /// - Parameters:
    ///   - picture: The format of the file.
    ///   - path: The path of the file.
    /// - Throws: ``TraceError/notWritten(path:reason:)`` if the file cannot be written, and the errors of
    ///   ``svg(dot:)``.
    public func write(_ picture: Picture, to path: String) async throws {
        if path.isEmpty {
            throw TraceError.notWritten(path: path, reason: "the path is empty. Give the path of a file.")
        }
        // The SVG is made by Graphviz, a separate program, which is awaited here. The other formats are made on the
        // thread that writes the file.
        let makeBytes: @Sendable () -> [UInt8]
        switch picture {
        case .timeline: makeBytes = { timelineBytes() }
        case .chromeTrace: makeBytes = { chromeTraceBytes() }
        case .dot: makeBytes = { Array(dot().utf8) }
        case .mermaid: makeBytes = { Array(mermaid().utf8) }
        case .svg:
            let svg = try await svg()
            makeBytes = { Array(svg.utf8) }
        }
        try await BlockingThread.run { try AtomicFile.write(makeBytes(), to: path) }
    }
}

// MARK: - Files

/// Replaces a file atomically: a failed write leaves an existing file unchanged. If the path names a device, a pipe or
/// another file that is not regular, the data is written to it directly.
enum AtomicFile {
    static func write(_ bytes: [UInt8], to path: String) throws(TraceError) {
        do {
            try Data(bytes).write(
                to: URL(fileURLWithPath: try resolvingLinks(of: path)), options: isNonRegularFile(path) ? [] : .atomic)
        } catch {
            throw .notWritten(
                path: path,
                reason: folder(at: path) ?? missingFolder(of: path)
                    ?? Trace.text(of: (error as NSError).localizedDescription))
        }
    }

    /// Returns the reason if the path names a folder, for which the text of the system is a number.
    private static func folder(at path: String) -> String? {
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        if !exists || !isFolder.boolValue { return nil }
        return "this is a folder. Give the path of a file in it."
    }

    /// Returns the reason if the folder of the file does not exist, which the text of the system does not say.
    private static func missingFolder(of path: String) -> String? {
        let target = (try? resolvingLinks(of: path)) ?? path
        let folder = (target as NSString).deletingLastPathComponent
        if folder.isEmpty || FileManager.default.fileExists(atPath: folder) { return nil }
        return "there is no folder \(folder.quoted). Make it first."
    }

    private static func isNonRegularFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    }

    /// Returns the path that symbolic links lead to, so that the target is replaced and not the link. The target need
    /// not exist. A loop of links is an error, so that no link of it is replaced.
    private static func resolvingLinks(of path: String) throws -> String {
        var place = path
        // The system follows at most 40 links.
        for _ in 0...40 {
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: place) else { return place }
            place =
                target.utf8.first == UInt8(ascii: "/")
                ? target
                : (place as NSString).deletingLastPathComponent.isEmpty
                    ? target : "\((place as NSString).deletingLastPathComponent)/\(target)"
        }
        throw POSIXError(.ELOOP)
    }
}

// MARK: - Threads

/// Runs blocking work, such as file access and other programs, on a thread of its own. The global executor has only as
/// many threads as the machine has cores.
enum BlockingThread {
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withTaskExecutorPreference(ThreadExecutor(name: "baton-trace", threads: 1)) {
            try await runOnPreferredExecutor(body)
        }
    }

    /// This function must be `@concurrent`: a `nonisolated(nonsending)` function would stay on the caller's actor and
    /// ignore the executor preference.
    @concurrent
    private static func runOnPreferredExecutor<Value: Sendable>(
        _ body: @Sendable () throws -> Value
    ) async throws -> Value { try body() }
}
