#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

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
