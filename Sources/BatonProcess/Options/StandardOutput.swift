#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Where a program's standard output goes.
public struct StandardOutput: Sendable {
    let target: OutputTarget

    /// What ``collected(limit:)`` takes unless told otherwise: 16 MiB.
    public static let defaultLimit = 16 << 20

    /// What is the longest line unless told otherwise: 1 MiB.
    public static let defaultLongestLine = 1 << 20

    /// Into ``SubprocessResult/standardOutput``, byte for byte.
    ///
    /// - Parameter limit: In bytes. A program that writes more is ended, and the error is
    ///   ``SubprocessError/outputTooLong(program:limit:)``.
    public static func collected(limit: Int = defaultLimit) -> StandardOutput {
        StandardOutput(target: .collected(limit: limit))
    }

    /// To a closure, line by line, while the program runs.
    ///
    /// It is called for one line at a time, on a child task of the body. While it takes its time nothing is read, so a
    /// program that is faster waits at its pipe, and memory stays bounded. A line comes without its newline, or its
    /// carriage return and newline; what comes after the last newline is a line, if it is not empty. Bytes that are no
    /// UTF-8 become U+FFFD.
    ///
    /// What it throws ends the program, and is the error. When the operation is cancelled, so is the task it runs on,
    /// and no further line comes.
    ///
    /// - Parameters:
    ///   - longest: In bytes, without the newline or the carriage return and newline. A longer line ends the program
    ///     when the lines before it have been handed over, and the error is
    ///     ``SubprocessError/lineTooLong(program:limit:)``.
    ///   - handle: Called with each line, one at a time.
    public static func lines(
        longest: Int = defaultLongestLine, _ handle: @escaping @Sendable (_ line: String) async throws -> Void
    ) -> StandardOutput {
        StandardOutput(target: .lines(longest: longest, handle))
    }

    /// To a closure, byte for byte, in pieces of up to 64 KiB while the program runs.
    ///
    /// It is called as the closure of ``lines(longest:_:)`` is.
    public static func bytes(_ handle: @escaping @Sendable (_ piece: Data) async throws -> Void) -> StandardOutput {
        StandardOutput(target: .bytes(handle))
    }

    /// To a file, which the program writes itself.
    ///
    /// It is written beside the one of this name, and takes its place when the program has succeeded, with its rights,
    /// and with its owner and group as far as this process may give a file to them: after a failure or a cancel that is
    /// as it was. Meanwhile it gives nobody but its owner more rights than that one. What is there and is no file, such
    /// as a device, is written to directly. A relative path starts from the directory of this process.
    ///
    /// If standard error goes to the same file, under whatever name, both are in it in the order in which the program
    /// writes, as with ``StandardError/merged``; also if one of the two is to be added to its end.
    public static func file(_ path: String) -> StandardOutput { StandardOutput(target: .file(path)) }

    /// To the end of a file, which is made if it is not there. What a failed program wrote stays.
    ///
    /// If the other output replaces that file, this one is part of the new one; see ``file(_:)``.
    public static func appending(to path: String) -> StandardOutput { StandardOutput(target: .appendedFile(path)) }

    /// Nowhere.
    public static let discarded = StandardOutput(target: .discarded)

    /// To the standard output of this process.
    ///
    /// What `print` has written before may come after what the program writes, because it is kept in a buffer unless it
    /// goes to a terminal: flush it with `fflush(nil)` before.
    public static let inherited = StandardOutput(target: .inherited)
}
