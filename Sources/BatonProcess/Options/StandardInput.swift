#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The source of what a program reads from its standard input.
public struct StandardInput: Sendable {
    enum Source: Sendable {
        case none
        case data(Data)
        case file(String)
        case pipe(ProgramPipe)
    }

    let source: Source

    /// An empty input: the program sees its end at the first read.
    public static let none = StandardInput(source: .none)

    /// Passes the given bytes as fast as the program reads them.
    ///
    /// It is not an error if the program does not read all of them.
    ///
    /// - Parameter data: The bytes to pass.
    public static func data(_ data: Data) -> StandardInput { StandardInput(source: .data(data)) }

    /// Passes the given text, encoded in UTF-8.
    ///
    /// - Parameter text: The text to pass.
    public static func text(_ text: String) -> StandardInput { .data(Data(text.utf8)) }

    /// Passes a file, which the program reads itself.
    ///
    /// If `path` is a named pipe that no process has opened for writing, the input is empty: the start does not wait
    /// for a writer.
    ///
    /// - Parameter path: The path of the file. A relative path starts from the directory of this process, not from that
    ///   of the program.
    public static func file(_ path: String) -> StandardInput { StandardInput(source: .file(path)) }
}
