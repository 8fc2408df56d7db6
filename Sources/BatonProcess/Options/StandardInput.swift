#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What a program reads from its standard input.
public struct StandardInput: Sendable {
    enum Source: Sendable {
        case none
        case data(Data)
        case file(String)
        case pipe(ProgramPipe)
    }

    let source: Source

    /// Nothing: it is at the end at once.
    public static let none = StandardInput(source: .none)

    /// These bytes, as fast as the program takes them. It need not read them all, or any.
    public static func data(_ data: Data) -> StandardInput { StandardInput(source: .data(data)) }

    /// This text, in UTF-8.
    public static func text(_ text: String) -> StandardInput { .data(Data(text.utf8)) }

    /// What is in this file, which the program reads itself.
    ///
    /// A relative path starts from the directory of this process, not from that of the program. A named pipe that
    /// nobody has opened for writing is empty: nothing waits for a writer.
    public static func file(_ path: String) -> StandardInput { StandardInput(source: .file(path)) }
}
