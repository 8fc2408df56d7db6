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
