internal import Foundation

/// The exit status of the program.
enum Status: Int32 {
    case success = 0
    case failure = 1
    case badUsage = 2
    case interrupted = 130
}

/// The output of the program.
enum Console {
    /// True if standard error is a terminal.
    static var isTerminal: Bool { isatty(2) == 1 }

    /// Prints results on standard output.
    static func print(_ text: String) { write(text, to: .standardOutput) }

    /// Prints all other messages on standard error.
    static func complain(_ text: String) { write("tiltshift: \(text)", to: .standardError) }

    /// Ignores errors, because the stream may be closed.
    private static func write(_ text: String, to file: FileHandle) {
        try? file.write(contentsOf: Data("\(text)\n".utf8))
    }
}
