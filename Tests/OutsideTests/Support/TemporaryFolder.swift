import BatonProcess
import Foundation

/// A folder for the files of a test. It is removed when the object is released.
final class TemporaryFolder: Sendable {
    private let root: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("baton-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        root = url.resolvingSymlinksInPath().path
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    var path: String { root }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).sorted() }

    func path(_ name: String) -> String { "\(root)/\(name)" }

    func read(_ name: String) -> String? { try? String(contentsOfFile: path(name), encoding: .utf8) }

    func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: target)
    }

    func target(of name: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: path(name))
    }

    /// Makes an executable file. Another process writes it, because a child that is started elsewhere while this
    /// process has the file open for writing inherits the descriptor briefly, and the file cannot be run then.
    func makeProgram(_ name: String, _ content: String, rights: String = "755") async throws {
        _ = try await Subprocess(
            "/bin/sh", arguments: ["-c", "cat > \"$1\" && chmod \(rights) \"$1\"", "sh", path(name)],
            input: .text(content)
        ).result()
    }
}
