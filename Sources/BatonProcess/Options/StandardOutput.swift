#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The destination of a program's standard output.
public struct StandardOutput: Sendable {
    let target: OutputTarget

    /// The default limit of ``collected(limit:)``: 16 MiB.
    public static let defaultLimit = 16 << 20

    /// The default length of the longest line: 1 MiB.
    public static let defaultLongestLine = 1 << 20

    /// Collects all bytes in ``SubprocessResult/standardOutput``.
    ///
    /// If the program writes more than `limit` bytes, it is ended, and the operation fails with
    /// ``SubprocessError/outputTooLong(program:limit:)``.
    ///
    /// - Parameter limit: The number of bytes that the program may write. The default is 16 MiB.
    public static func collected(limit: Int = defaultLimit) -> StandardOutput {
        StandardOutput(target: .collected(limit: limit))
    }

    /// Passes each line to a closure while the program runs.
    ///
    /// ```swift
    /// let build = Subprocess("make", output: .lines { line in print(line) })
    /// ```
    ///
    /// The closure is called for one line at a time, on a child task of the body. Nothing is read while it runs, so a
    /// program that writes faster waits at its pipe, and memory stays bounded.
    ///
    /// A line is passed without the newline, or the carriage return and newline, that ends it. Text after the last
    /// newline is a line of its own, unless it is empty. Bytes that are not valid UTF-8 become U+FFFD.
    ///
    /// If the closure throws, the program is ended, and the operation fails with that error. When the operation is
    /// cancelled, the closure's task is cancelled as well, and no further line is passed.
    ///
    /// - Parameters:
    ///   - longest: The length of the longest line, in bytes, without the characters that end it. If a line is longer,
    ///     the lines before it are passed, the program is ended, and the operation fails with
    ///     ``SubprocessError/lineTooLong(program:limit:)``.
    ///   - handle: The closure that is called with each line.
    public static func lines(
        longest: Int = defaultLongestLine, _ handle: @escaping @Sendable (_ line: String) async throws -> Void
    ) -> StandardOutput {
        StandardOutput(target: .lines(longest: longest, handle))
    }

    /// Passes the bytes to a closure, in pieces of up to 64 KiB, while the program runs.
    ///
    /// The closure is called in the same way as that of ``lines(longest:_:)``.
    ///
    /// - Parameter handle: The closure that is called with each piece, one piece at a time, on a child task of the
    ///   body.
    public static func bytes(_ handle: @escaping @Sendable (_ piece: Data) async throws -> Void) -> StandardOutput {
        StandardOutput(target: .bytes(handle))
    }

    /// Writes to a file, which replaces the one at `path` when the program has succeeded.
    ///
    /// The program writes to a draft next to the file. When the program has succeeded, the draft takes the file's
    /// place, with the file's permissions, and with its owner and group as far as this process may assign them. After a
    /// failure or a cancellation the file is as it was. While the program runs, the draft gives nobody but its owner
    /// more permissions than the file does. If `path` names something other than a regular file, such as a device, the
    /// program writes to it directly.
    ///
    /// If standard error goes to the same file, under whatever name, the file contains both outputs in the order in
    /// which the program writes, as with ``StandardError/merged``. This holds even if one of the two outputs is
    /// appended.
    ///
    /// - Parameter path: The path of the file. A relative path starts from the directory of this process.
    public static func file(_ path: String) -> StandardOutput { StandardOutput(target: .file(path)) }

    /// Appends to a file, which is created if it does not exist.
    ///
    /// The output of a program that fails stays in the file. If the other output replaces the same file, this output
    /// becomes part of the new file; see ``file(_:)``.
    ///
    /// - Parameter path: The path of the file. A relative path starts from the directory of this process.
    public static func appending(to path: String) -> StandardOutput { StandardOutput(target: .appendedFile(path)) }

    /// Discards standard output.
    public static let discarded = StandardOutput(target: .discarded)

    /// Sends standard output to that of this process.
    ///
    /// Unless the output of this process is a terminal, `print` buffers its text, so this text may appear after that of
    /// the program. Call `fflush(nil)` before the program starts.
    public static let inherited = StandardOutput(target: .inherited)
}

// MARK: - Standard error

/// The destination of what a program writes to its standard error.
///
/// If the program fails, the last 4 KiB of its standard error are part of the error, unless they went to a file, were
/// discarded, or went to the standard error of this process.
public struct StandardError: Sendable {
    let target: OutputTarget

    /// Keeps the last bytes in ``SubprocessResult/standardError`` and discards the rest.
    ///
    /// - Parameter limit: The number of bytes to keep. The default is 4 KiB.
    public static func tail(limit: Int = 4 << 10) -> StandardError {
        StandardError(target: .tail(limit: limit))
    }

    /// Collects all bytes in ``SubprocessResult/standardError``; see ``StandardOutput/collected(limit:)``.
    ///
    /// - Parameter limit: The number of bytes that the program may write. The default is
    ///   ``StandardOutput/defaultLimit``.
    public static func collected(limit: Int = StandardOutput.defaultLimit) -> StandardError {
        StandardError(target: .collected(limit: limit))
    }

    /// Passes each line to a closure while the program runs; see ``StandardOutput/lines(longest:_:)``.
    ///
    /// - Parameters:
    ///   - longest: The length of the longest line, in bytes. The default is ``StandardOutput/defaultLongestLine``.
    ///   - handle: The closure that is called with each line, one line at a time, on a child task of the body.
    public static func lines(
        longest: Int = StandardOutput.defaultLongestLine,
        _ handle: @escaping @Sendable (_ line: String) async throws -> Void
    ) -> StandardError {
        StandardError(target: .lines(longest: longest, handle))
    }

    /// Writes to a file, which replaces the one at `path` when the program has succeeded; see
    /// ``StandardOutput/file(_:)``.
    ///
    /// - Parameter path: The path of the file. A relative path starts from the directory of this process.
    public static func file(_ path: String) -> StandardError { StandardError(target: .file(path)) }

    /// Appends to a file; see ``StandardOutput/appending(to:)``.
    ///
    /// - Parameter path: The path of the file. A relative path starts from the directory of this process.
    public static func appending(to path: String) -> StandardError { StandardError(target: .appendedFile(path)) }

    /// Sends standard error to the destination of standard output, in the order in which the program writes.
    public static let merged = StandardError(target: .merged)

    /// Discards standard error.
    public static let discarded = StandardError(target: .discarded)

    /// Sends standard error to that of this process.
    public static let inherited = StandardError(target: .inherited)
}

// MARK: - Targets

/// The destination of one of a program's two outputs. ``StandardOutput`` and ``StandardError`` share it.
enum OutputTarget: Sendable {
    case collected(limit: Int)
    case tail(limit: Int)
    case lines(longest: Int, @Sendable (String) async throws -> Void)
    case bytes(@Sendable (Data) async throws -> Void)
    /// A file that appears under its name when the program has succeeded.
    case file(String)
    case appendedFile(String)
    case discarded
    case inherited
    case pipe(ProgramPipe)
    /// The destination of standard output. Only standard error can have this target.
    case merged
}
