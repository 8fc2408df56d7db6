#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Where one of a program's two outputs goes: what ``StandardOutput`` and ``StandardError`` have in common.
enum OutputTarget: Sendable {
    case collected(limit: Int)
    case tail(limit: Int)
    case lines(longest: Int, @Sendable (String) async throws -> Void)
    case bytes(@Sendable (Data) async throws -> Void)
    /// Under its name when the program has succeeded.
    case file(String)
    case appendedFile(String)
    case discarded
    case inherited
    case pipe(ProgramPipe)
    /// Of standard error: where standard output goes.
    case merged
}
