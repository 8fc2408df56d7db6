/// Where what a program writes to its standard error goes.
///
/// The end of it, at most 4 KiB, is part of the error if the program fails, unless it went elsewhere unseen: to a file,
/// nowhere, or to the standard error of this process.
public struct StandardError: Sendable {
    let target: OutputTarget

    /// The end of it into ``SubprocessResult/standardError``, the rest nowhere.
    ///
    /// - Parameter limit: In bytes, 4 KiB unless told otherwise.
    public static func tail(limit: Int = 4 << 10) -> StandardError {
        StandardError(target: .tail(limit: limit))
    }

    /// Into ``SubprocessResult/standardError``, byte for byte; see ``StandardOutput/collected(limit:)``.
    public static func collected(limit: Int = StandardOutput.defaultLimit) -> StandardError {
        StandardError(target: .collected(limit: limit))
    }

    /// To a closure, line by line; see ``StandardOutput/lines(longest:_:)``.
    public static func lines(
        longest: Int = StandardOutput.defaultLongestLine,
        _ handle: @escaping @Sendable (_ line: String) async throws -> Void
    ) -> StandardError {
        StandardError(target: .lines(longest: longest, handle))
    }

    /// To a file; see ``StandardOutput/file(_:)``.
    public static func file(_ path: String) -> StandardError { StandardError(target: .file(path)) }

    /// To the end of a file; see ``StandardOutput/appending(to:)``.
    public static func appending(to path: String) -> StandardError { StandardError(target: .appendedFile(path)) }

    /// Where the standard output goes, in the order in which the program writes.
    public static let merged = StandardError(target: .merged)

    /// Nowhere.
    public static let discarded = StandardError(target: .discarded)

    /// To the standard error of this process.
    public static let inherited = StandardError(target: .inherited)
}
