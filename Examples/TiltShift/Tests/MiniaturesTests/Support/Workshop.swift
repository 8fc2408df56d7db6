import Baton
import BatonProcess
import Foundation
import Testing

/// A folder for one test, in which the program is run with a command line.
final class Workshop {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("tiltshift-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    // MARK: Files

    func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

    func names(in name: String = "miniatures") -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: file(name).path)) ?? []).sorted()
    }

    @discardableResult
    func write(_ data: Data, to name: String) throws -> URL {
        let file = file(name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
        return file
    }

    func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(at: file(name), withIntermediateDirectories: true)
    }

    // MARK: The program

    struct Run {
        let status: Int32?
        let output: String
        let errors: String

        var outputLines: [String] { output.split(separator: "\n").map(String.init) }
        var errorLines: [String] { errors.split(separator: "\n").map(String.init) }
    }

    /// The path of the program, which is built into the same folder as the tests.
    static let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("tiltshift").path

    func run(_ arguments: String..., environment: [String: String?] = [:]) async throws -> Run {
        try await run(arguments, environment: environment)
    }

    func run(_ arguments: [String], environment: [String: String?] = [:]) async throws -> Run {
        let program = Subprocess(
            Self.program, arguments: arguments, environment: .updating(environment), directory: folder.path,
            errors: .collected(), accepted: .all)
        let result = try await program.execute(in: OperationContext())
        return Run(
            status: result.status, output: result.text, errors: String(decoding: result.standardError, as: UTF8.self))
    }
}
