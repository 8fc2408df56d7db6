import Baton
import BatonProcess
import Foundation

/// The files and the shell of a build. Tests replace them.
package struct Workshop: Sendable {
    /// Runs the command of a target.
    package var run: @Sendable (Target, OperationContext) async throws -> Void
    /// Returns when a file was changed, or nil if it does not exist.
    package var changed: @Sendable (_ path: String) -> Date?
    /// Removes the file that a failed command may have left.
    package var remove: @Sendable (_ path: String) -> Void

    package init(
        run: @escaping @Sendable (Target, OperationContext) async throws -> Void,
        changed: @escaping @Sendable (_ path: String) -> Date? = { _ in nil },
        remove: @escaping @Sendable (_ path: String) -> Void = { _ in }
    ) {
        self.run = run
        self.changed = changed
        self.remove = remove
    }

    /// The files of the system and the shell `sh`.
    package static let real = Workshop(
        run: { target, context in
            guard let command = target.command else { return }
            FileHandle.standardOutput.write(Data("\(command)\n".utf8))  // unbuffered, to precede the output
            _ = try await Subprocess("sh", arguments: ["-c", command], output: .inherited, errors: .inherited)
                .execute(in: context)
        },
        changed: { path in
            try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
        },
        remove: { path in unlink(path) })
}
